"""Questions that are asked at once: how many rounds a search of many workers takes."""

import math
from collections.abc import Callable, Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st
from noisy_oracles import before
from test_bisection import Graph, after, graphs

from whet.core.budget import StopReason
from whet.core.verdict import Verdict
from whet.search.history.bisection import Bisection, BisectionResult
from whet.search.history.version_graph import line_of
from whet.search.proposal import run_search
from whet.search.round import Round


def bad_from(culprit: int, skipped: Collection[int] = ()) -> Callable[[int], Verdict]:
    def test(version: int) -> Verdict:
        if version in skipped:
            return Verdict.SKIP
        return Verdict.BAD if version >= culprit else Verdict.GOOD

    return test


def rounds_of(
    bisection: Bisection[int], workers: int, test: Callable[[int], Verdict]
) -> tuple[BisectionResult[int], int]:
    """Run a search whose rounds take a time unit each, and count them."""
    search, rounds = bisection.search(workers), 0
    try:
        batch = next(search)
        while True:
            assert len(batch) <= workers
            rounds += 1
            batch = search.send([test(version) for version in batch])
    except StopIteration as end:
        return end.value, rounds


@pytest.mark.parametrize(("workers", "most"), [(1, 10), (2, 7), (3, 5), (4, 5), (8, 4), (31, 2)])
def test_a_thousand_commits_take_few_rounds_of_many_workers(workers: int, most: int) -> None:
    line = line_of(range(1001))
    del line[0]
    for culprit in (1, 2, 333, 334, 500, 666, 667, 999, 1000):
        result, rounds = rounds_of(Bisection(line, 1000), workers, bad_from(culprit))

        assert result.first_bad == culprit
        assert rounds <= most, "ask for the reason before raising this"


@given(size=st.integers(1, 3000), workers=st.integers(2, 9), data=st.data())
def test_each_round_on_a_line_leaves_an_equal_part(
    size: int, workers: int, data: st.DataObject
) -> None:
    line = line_of(range(size + 1))
    del line[0]
    culprit = data.draw(st.integers(1, size))

    result, rounds = rounds_of(
        Bisection(line, size), workers, lambda v: Verdict.BAD if v >= culprit else Verdict.GOOD
    )

    assert (result.first_bad, result.last_good or 0) == (culprit, culprit - 1)
    left, fewest = size, 0
    while left > 1:
        left, fewest = math.ceil(left / (workers + 1)), fewest + 1
    assert rounds <= fewest


@given(graph=graphs(), workers=st.integers(1, 6), data=st.data())
def test_the_number_of_workers_changes_no_answer(
    graph: Graph, workers: int, data: st.DataObject
) -> None:
    culprit = data.draw(st.sampled_from(sorted(graph)))
    failing = after(graph, culprit)

    result = run_search(
        Bisection(graph, max(graph)).search(workers),
        lambda version: Verdict.BAD if version in failing else Verdict.GOOD,
    )

    assert result.first_bad == culprit
    assert result.stopped is StopReason.FOUND
    assert result.last_good not in failing


@given(graph=graphs(), workers=st.integers(2, 6), data=st.data())
def test_whatever_is_told_in_rounds_the_result_agrees_with_itself(
    graph: Graph, workers: int, data: st.DataObject
) -> None:
    told: dict[int, Verdict] = {}

    def test(version: int) -> Verdict:
        assert version not in told, "no version is tested twice"
        told[version] = data.draw(st.sampled_from(Verdict))
        return told[version]

    bisection = Bisection(graph, max(graph))
    result = run_search(bisection.search(workers), test)

    assert set(result.tested) <= set(told.items())
    newest = result.suspects[-1]
    assert newest == max(graph) or told[newest] is Verdict.BAD
    contradicted = {good for _, good in bisection.contradictions}
    assert not any(
        told.get(each) is Verdict.GOOD for each in result.suspects if each not in contradicted
    )
    left = set(result.suspects) - {newest}
    assert all(told.get(each) is Verdict.SKIP for each in left)


@given(graph=graphs(), workers=st.integers(2, 6), data=st.data())
def test_a_version_that_is_needless_could_have_told_nothing(
    graph: Graph, workers: int, data: st.DataObject
) -> None:
    culprit = data.draw(st.sampled_from(sorted(graph)))
    failing = after(graph, culprit)
    bisection = Bisection(graph, max(graph))
    search = bisection.search(workers)
    try:
        batch = next(search)
        while True:
            assert isinstance(batch, Round)
            known: dict[int, Verdict] = {}
            for version in data.draw(st.permutations(list(batch))):
                if version in batch.needless(known):
                    left = set(bisection.suspects)
                    for each, verdict in known.items():
                        reach = before(graph, each)
                        left &= reach if verdict is Verdict.BAD else left - reach
                    reach = before(graph, version) & left
                    assert not reach or reach == left or _is_incomparable(graph, known, version)
                    continue
                known[version] = Verdict.BAD if version in failing else Verdict.GOOD
            places = {place: known[each] for place, each in enumerate(batch) if each in known}
            batch = search.send(batch.in_order(places))
    except StopIteration:
        pass
    assert bisection.result().first_bad == culprit


def _is_incomparable(graph: Graph, known: dict[int, Verdict], version: int) -> bool:
    bad = [each for each, verdict in known.items() if verdict is Verdict.BAD]
    return any(version not in before(graph, each) for each in bad)


@pytest.mark.parametrize("workers", [2, 4])
def test_a_long_stretch_of_skips_is_jumped(workers: int) -> None:
    line = line_of(range(1001))
    del line[0]
    for culprit in (100, 290, 750, 990):
        test = bad_from(culprit, range(300, 700))
        result, rounds = rounds_of(Bisection(line, 1000), workers, test)

        assert result.first_bad == culprit
        assert rounds <= 10, "ask for the reason before raising this"


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_culprit_among_skips_is_named_as_a_set_and_never_alone(workers: int) -> None:
    line = line_of(range(101))
    del line[0]

    result, _ = rounds_of(
        Bisection(line, 100),
        workers,
        lambda version: (
            Verdict.SKIP if 40 <= version < 60 else Verdict.BAD if version >= 50 else Verdict.GOOD
        ),
    )

    assert result.first_bad is None
    assert result.suspects == tuple(range(40, 61))
    assert result.stopped is StopReason.AMBIGUOUS


def test_a_good_version_after_a_bad_one_is_told_and_the_older_bad_one_counts() -> None:
    line = line_of(range(31))
    del line[0]
    verdicts = {version: Verdict.BAD if 5 <= version < 15 else Verdict.GOOD for version in line}
    bisection = Bisection(line, 30)

    result, _ = rounds_of(bisection, 4, verdicts.__getitem__)

    assert result.first_bad == 5
    assert bisection.contradictions
    assert all(old < new for old, new in bisection.contradictions)
