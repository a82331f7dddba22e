"""A search some of whose candidates are answered without being asked comes to the same end."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.search.answering import answering
from whet.search.batch import LazyBatch
from whet.search.proposal import Search, run_search
from whet.search.subsets.delta import Kept, minimize

verdicts = st.sampled_from(list(Verdict))


def listening(batches: Sequence[int]) -> Search[int, list[list[Verdict]]]:
    """Propose batches of these sizes; return what was told of each."""
    told: list[list[Verdict]] = []
    first = 0
    for size in batches:
        told.append(list((yield LazyBatch(range(first, first + size)))))
        first += size
    return told


@given(
    batches=st.lists(st.integers(1, 5), max_size=6),
    truth=st.lists(verdicts, min_size=30, max_size=30),
    known=st.sets(st.integers(0, 29)),
)
def test_the_search_is_told_what_it_would_have_been_told(
    batches: list[int], truth: list[Verdict], known: set[int]
) -> None:
    asked: list[int] = []

    def test(candidate: int) -> Verdict:
        asked.append(candidate)
        return truth[candidate]

    told = run_search(
        answering(listening(batches), lambda each: truth[each] if each in known else None), test
    )

    assert told == run_search(listening(batches), lambda each: truth[each])
    assert not known.intersection(asked)


@given(size=st.integers(1, 12), needed=st.sets(st.integers(0, 11), max_size=3), data=st.data())
def test_delta_debugging_ends_at_the_same_smallest_part(
    size: int, needed: set[int], data: st.DataObject
) -> None:
    def test(kept: Kept) -> Verdict:
        return Verdict.BAD if needed <= set(kept.elements()) else Verdict.GOOD

    known = data.draw(st.sets(st.frozensets(st.integers(0, size - 1)), max_size=20))

    def recall(kept: Kept) -> Verdict | None:
        return test(kept) if frozenset(kept.elements()) in known else None

    found = run_search(answering(minimize(size), recall), test)

    assert found == run_search(minimize(size), test)
