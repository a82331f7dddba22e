"""What decides between two cases: the laws of both searches, and what they cost."""

import random
from collections.abc import Callable, Sequence
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.reduction.between import Step
from whet.reduction.two_sides import few_to_add, few_to_take_back
from whet.search.proposal import Search, run_search
from whet.search.subsets.hierarchy import Numbers, Path

Judge = Callable[[Numbers], Verdict]
"""Of the differences that are taken: BAD is that it fails."""


def turned(verdict: Verdict) -> Verdict:
    return {Verdict.GOOD: Verdict.BAD, Verdict.BAD: Verdict.GOOD}.get(verdict, verdict)


def without(size: int, gone: Sequence[int]) -> Numbers:
    return tuple(number for number in range(size) if number not in set(gone))


def both_sides(paths: Sequence[Path], judge: Judge) -> tuple[Numbers, Numbers]:
    """Return what is added to the good case, and what is taken back from the bad one."""
    added = run_search(few_to_add(paths), judge)
    gone = run_search(
        few_to_take_back(paths, added), lambda numbers: turned(judge(without(len(paths), numbers)))
    )
    return added, gone


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Path], Judge]:
    """Two cases whose ends do what they should, and which do whatever they like between them."""
    size = draw(st.integers(1, 24))
    steps = st.tuples(st.integers(0, 2), st.integers(0, 2))
    paths = sorted(draw(st.lists(steps, min_size=size, max_size=size)))
    salt, share = draw(st.integers(0, 1000)), draw(st.sampled_from([3, 4, 9]))

    def judge(numbers: Numbers) -> Verdict:
        if len(numbers) in {0, size}:
            return Verdict.BAD if numbers else Verdict.GOOD
        kinds = [Verdict.BAD, Verdict.SKIP, Verdict.GOOD]
        return kinds[min(hash((salt, numbers)) % share, 2)]

    return [(*path, at) for at, path in enumerate(paths)], judge


@given(cases())
def test_both_sets_decide_and_no_difference_of_them_can_be_left_out(
    case: tuple[list[Path], Judge],
) -> None:
    paths, judge = case
    size = len(paths)

    added, gone = both_sides(paths, judge)

    assert judge(added) is Verdict.BAD
    assert judge(without(size, gone)) is Verdict.GOOD
    for one in added:
        assert judge(tuple(each for each in added if each != one)) is not Verdict.BAD
    for one in gone:
        rest = [each for each in gone if each != one]
        assert judge(without(size, rest)) is not Verdict.GOOD


@given(cases(), st.integers(2, 9))
def test_reading_ahead_changes_nothing(case: tuple[list[Path], Judge], jobs: int) -> None:
    paths, judge = case

    assert ahead(few_to_add(paths), judge, jobs) == run_search(few_to_add(paths), judge)


def ahead(search: Search[Numbers, Numbers], judge: Judge, jobs: int) -> Numbers:
    """Run as a driver with many jobs: it asks ahead, and tells up to the first BAD."""
    try:
        batch = next(search)
        while True:
            told: list[Verdict] = []
            candidates = iter(batch)
            while Verdict.BAD not in told and (wave := list(islice(candidates, jobs))):
                told += [judge(each) for each in wave]
            end = told.index(Verdict.BAD) + 1 if Verdict.BAD in told else len(told)
            batch = search.send(told[:end])
    except StopIteration as ended:
        found: Numbers = ended.value
        return found


class Counted:
    """Fails with all of a few differences; counts what was not asked before."""

    def __init__(self, culprits: set[int]) -> None:
        self.culprits = culprits
        self.asked: set[Numbers] = set()

    def __call__(self, numbers: Numbers) -> Verdict:
        self.asked.add(numbers)
        return Verdict.BAD if self.culprits <= set(numbers) else Verdict.GOOD


def nested(number: int) -> tuple[Step, ...]:
    return (number // 100, number // 10 % 10, number % 10)


@pytest.mark.parametrize("path", [lambda number: (number,), nested], ids=["flat", "nested"])
def test_three_of_a_thousand_settings_are_found_from_both_sides_in_40_runs(
    path: Callable[[int], tuple[Step, ...]],
) -> None:
    paths = [path(number) for number in range(1000)]
    draws = random.Random(7)
    most = 0
    for _ in range(100):
        oracle = Counted(set(draws.sample(range(1000), 3)))

        added, gone = both_sides(paths, oracle)

        assert set(added) == oracle.culprits
        assert len(gone) == 1
        most = max(most, len(oracle.asked))
    assert most <= 40, "ask for the reason before raising this"


def test_where_two_sets_each_bring_the_failure_one_of_each_is_taken_back() -> None:
    def judge(numbers: Numbers) -> Verdict:
        taken = set(numbers)
        return Verdict.BAD if {1, 5} <= taken or {7, 9} <= taken else Verdict.GOOD

    added, gone = both_sides([(at,) for at in range(12)], judge)

    assert set(added) in ({1, 5}, {7, 9})
    assert len(gone) == 2
    assert len({1, 5} & set(gone)) == len({7, 9} & set(gone)) == 1


def test_settings_that_only_go_together_are_taken_as_a_subtree() -> None:
    """With half of `optim` the program fails in another way; flat halves of it say nothing."""
    paths = [("data", n) for n in range(13)] + [("optim", n) for n in range(8)]
    paths += [("zoo", n) for n in range(10)]
    optim = {number for number, path in enumerate(paths) if path[0] == "optim"}

    def judge(numbers: Numbers) -> Verdict:
        taken = optim & set(numbers)
        if taken and taken != optim:
            return Verdict.SKIP
        return Verdict.BAD if taken else Verdict.GOOD

    asked: list[Numbers] = []

    def asking(numbers: Numbers) -> Verdict:
        asked.append(numbers)
        return judge(numbers)

    added = run_search(few_to_add(paths), asking)

    assert set(added) == optim
    assert len(set(asked)) <= 48, "ask for the reason before raising this"
