"""Elements in a tree: what is left is 1-minimal whatever the oracle says, and subtrees fall whole."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.search.proposal import run_search
from whet.search.subsets.delta import Kept, minimize
from whet.search.subsets.hierarchy import Numbers, Path, few_of, ranks_of

PATHS = st.lists(
    st.lists(st.integers(0, 2), max_size=3), min_size=1, max_size=24
).map(lambda drawn: [(*path, 10 + at) for at, path in enumerate(sorted(drawn))])  # fmt: skip


@st.composite
def judges(draw: st.DrawFn) -> Callable[[Numbers], Verdict]:
    """Nothing at all is good; all else is judged by a hash."""
    salt, share = draw(st.integers(0, 1000)), draw(st.sampled_from([2, 3, 5, 20]))
    kinds = [Verdict.BAD, Verdict.GOOD, Verdict.SKIP]

    def judge(numbers: Numbers) -> Verdict:
        return kinds[min(hash((salt, numbers)) % share, 2)] if numbers else Verdict.GOOD

    return judge


@given(PATHS, judges())
def test_is_1_minimal_whatever_the_oracle_says(
    paths: list[Path], judge: Callable[[Numbers], Verdict]
) -> None:
    everything = tuple(range(len(paths)))

    smallest = run_search(few_of(paths), judge)

    assert smallest == everything or judge(smallest) is Verdict.BAD
    for one in smallest:
        assert judge(tuple(each for each in smallest if each != one)) is not Verdict.BAD


@given(PATHS, judges())
def test_cuts_at_subtrees_leave_1_minimal_what_is_left(
    paths: list[Path], judge: Callable[[Numbers], Verdict]
) -> None:
    def test(kept: Kept) -> Verdict:
        return judge(tuple(kept.elements()))

    kept = run_search(minimize(len(paths), ranks=ranks_of(paths)), test)

    smallest = tuple(kept.elements())
    for one in smallest:
        assert judge(tuple(each for each in smallest if each != one)) is not Verdict.BAD


def test_the_rank_of_an_element_is_how_far_its_way_is_that_of_the_one_before() -> None:
    paths = [("a", "b", 0), ("a", "b", 1), ("a", "c"), ("d",), ("d", "e")]

    assert ranks_of(paths) == (0, 2, 1, 0, 1)


def test_of_forty_subtrees_the_one_that_only_goes_whole_is_left_whole() -> None:
    paths: list[Path] = [(at // 10, at % 10) for at in range(400)]
    wanted = set(range(230, 240))
    asked: set[Numbers] = set()

    def judge(numbers: Numbers) -> Verdict:
        asked.add(numbers)
        halves = {paths[each][0] for each in numbers}
        if any(len([each for each in numbers if paths[each][0] == half]) < 10 for half in halves):
            return Verdict.SKIP
        return Verdict.BAD if wanted <= set(numbers) else Verdict.GOOD

    assert set(run_search(few_of(paths), judge)) == wanted
    assert len(asked) <= 60, "ask for the reason before raising this"
