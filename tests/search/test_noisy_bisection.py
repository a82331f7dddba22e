"""The noisy search: held against sums made the long way, and by thousands of draws."""

import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from noisy_oracles import before, entropy, graph_of, posterior_the_long_way, sometimes

from whet.core.budget import StopReason
from whet.core.verdict import Verdict
from whet.search.flaky.failure_rates import FailureRates, Runs
from whet.search.flaky.noisy_bisection import NoisyBisection, NoisyResult
from whet.search.flaky.noisy_plan import expected_runs
from whet.search.history.bisection import bisect_graph
from whet.search.history.version_graph import line_of
from whet.search.proposal import run_search
from whet.search.round import Round

seeds = st.integers(0, 2**32)
runs_told = st.lists(
    st.tuples(st.integers(0, 12), st.sampled_from([Verdict.GOOD, Verdict.BAD])), max_size=25
)


@settings(deadline=None)
@given(seeds, runs_told, st.sampled_from([(None, None), (0.5, 0.0), (0.7, 0.2)]))
def test_the_posterior_is_that_of_each_suspect_by_itself_and_sums_to_one(
    seed: int, told: list[tuple[int, Verdict]], known: tuple[float | None, float | None]
) -> None:
    graph = graph_of(12, random.Random(seed))
    rates = FailureRates.of(*known)
    search = NoisyBisection(graph, rates=rates)

    search.tell([version for version, _ in told], [verdict for _, verdict in told])

    posterior = search.posterior()
    assert sum(posterior.values()) == pytest.approx(1)
    assert posterior == pytest.approx(posterior_the_long_way(graph, rates, told), abs=1e-9)


@settings(deadline=None)
@given(seeds, runs_told)
def test_the_version_run_next_lowers_the_expected_entropy_most(
    seed: int, told: list[tuple[int, Verdict]]
) -> None:
    graph = graph_of(12, random.Random(seed))
    rates = FailureRates.of(0.6, 0.1)
    search = NoisyBisection(graph, rates=rates)
    search.tell([version for version, _ in told], [verdict for _, verdict in told])

    def expected_entropy(version: int) -> float:
        now = posterior_the_long_way(graph, rates, told)
        fails = sum(
            chance * (0.6 if suspect in before(graph, version) else 0.1)
            for suspect, chance in now.items()
        )
        left = 0.0
        for verdict, chance in ((Verdict.BAD, fails), (Verdict.GOOD, 1 - fails)):
            after = posterior_the_long_way(graph, rates, [*told, (version, verdict)])
            left += chance * entropy(list(after.values()))
        return left

    (chosen,) = search.following
    assert expected_entropy(chosen) == pytest.approx(min(map(expected_entropy, graph)), abs=1e-9)


ALWAYS = FailureRates.of(1, 0)


@settings(deadline=None)
@given(seeds, st.integers(1, 40), st.data())
def test_where_bad_always_fails_it_is_the_answer_of_a_bisection_on_any_graph(
    seed: int, size: int, data: st.DataObject
) -> None:
    graph = graph_of(size, random.Random(seed))
    culprit = data.draw(st.sampled_from(sorted(graph)))

    def test(version: int) -> Verdict:
        return Verdict.BAD if culprit in before(graph, version) else Verdict.GOOD

    plain = run_search(bisect_graph(graph, max(graph)), test)
    noisy = run_search(NoisyBisection(graph, rates=ALWAYS).search(), test)

    assert noisy.first_bad == plain.first_bad == culprit


@given(st.integers(1, 300), st.data())
def test_where_bad_always_fails_a_line_takes_the_runs_of_a_bisection(
    size: int, data: st.DataObject
) -> None:
    culprit = data.draw(st.integers(1, size))
    asked: list[int] = []

    def test(version: int) -> Verdict:
        asked.append(version)
        return Verdict.BAD if version >= culprit else Verdict.GOOD

    line = line_of(range(size + 1))
    del line[0]  # known to be good
    found = run_search(NoisyBisection(line, rates=ALWAYS).search(), test)

    assert (found.first_bad, found.last_good) == (culprit, culprit - 1)
    assert len(asked) <= (size - 1).bit_length()


def drawn(
    rates: tuple[float, float],
    searches: int,
    *,
    known: FailureRates,
    confidence: float,
    size: int = 100,
    ends: int = 0,
) -> list[tuple[NoisyResult[int], int]]:
    """Search so many times for a culprit that is drawn; return what came, and the culprit."""
    found: list[tuple[NoisyResult[int], int]] = []
    for seed in range(searches):
        chance = random.Random(seed)
        culprit = chance.randint(1, size)
        failed = [sum(chance.random() < rate for _ in range(ends)) for rate in rates]
        search = NoisyBisection(
            line_of(range(1, size + 1)),
            rates=known,
            ends=(Runs(failed[0], ends - failed[0]), Runs(failed[1], ends - failed[1])),
            confidence=confidence,
        )
        test = sometimes(culprit.__le__, rates, chance)
        found.append((run_search(search.search(), test), culprit))
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rates", "known"),
    [
        pytest.param((0.5, 0.0), True, marks=pytest.mark.long),
        ((0.7, 0.1), True),
        ((0.5, 0.0), False),
    ],
)
def test_the_answer_is_right_as_often_as_is_said(
    rates: tuple[float, float], *, known: bool
) -> None:
    searches, confidence = 150, 0.9
    model = FailureRates.of(*rates) if known else FailureRates.of()

    found = drawn(rates, searches, known=model, confidence=confidence, ends=0 if known else 10)

    right = sum(result.first_bad == culprit for result, culprit in found)
    # Less than the 99 % error of a share of 0.9 among 150.
    assert right / searches >= confidence - 2.33 * (0.9 * 0.1 / searches) ** 0.5
    assert all(result.probability >= confidence for result, _ in found)


@pytest.mark.long
@pytest.mark.parametrize("confidence", [0.95, 0.99])
@pytest.mark.parametrize("rates", [(0.5, 0.0), (0.5, 0.05)])
def test_two_thousand_searches_are_right_as_often_as_is_said(
    rates: tuple[float, float], confidence: float
) -> None:
    searches = 2000

    found = drawn(rates, searches, known=FailureRates.of(*rates), confidence=confidence, size=1000)

    right = sum(result.first_bad == culprit for result, culprit in found)
    error = 2.33 * (confidence * (1 - confidence) / searches) ** 0.5
    assert right / searches >= confidence - error


@pytest.mark.slow
def test_a_search_learns_the_rates_from_its_own_runs_and_suspects_the_old_end_too() -> None:
    searches, size = 60, 185
    right = runs = 0
    for seed in range(searches):
        chance = random.Random(seed)
        culprit = chance.randint(1, size)
        search = NoisyBisection(line_of(range(size + 1)), ends=(Runs(1, 1), Runs()))
        found = run_search(search.search(), sometimes(culprit.__le__, (0.5, 0.0), chance))
        right += found.first_bad == culprit
        runs += sum(each.total for each in found.runs.values())

    assert right / searches >= 0.88  # less than the 99 % error of a share of 0.95
    assert runs / searches <= 48


@pytest.mark.slow
def test_the_plan_says_about_as_many_runs_as_a_search_takes() -> None:
    searches, size = 150, 100
    found = drawn((0.5, 0.0), searches, known=FailureRates.of(0.5, 0.0), confidence=0.95)

    taken = sum(sum(runs.total for runs in result.runs.values()) for result, _ in found) / searches

    said = expected_runs(math.log2(size), (0.5, 0.0), 0.95, are_rates_known=True)
    assert said == 21
    assert 0.85 * said <= taken <= 1.15 * said


def test_more_confidence_and_rarer_failures_take_more_runs() -> None:
    usual = expected_runs(10, (0.5, 0.0), 0.95, are_rates_known=True)

    assert usual < expected_runs(10, (0.5, 0.0), 0.99, are_rates_known=True)
    assert usual < expected_runs(10, (0.1, 0.0), 0.95, are_rates_known=True)
    assert usual < expected_runs(10, (0.5, 0.0), 0.95, are_rates_known=False)


# ---- skips ----


def test_a_skipped_version_is_not_run_again_but_its_neighbours_are() -> None:
    asked: list[int] = []
    chance = random.Random(3)
    fails = sometimes(lambda version: version >= 40, (0.5, 0.0), chance)

    def test(version: int) -> Verdict:
        asked.append(version)
        return Verdict.SKIP if version % 3 == 0 else fails(version)

    search = NoisyBisection(line_of(range(1, 101)), rates=FailureRates.of(0.5, 0.0))
    result = run_search(search.search(), test)

    skipped = [version for version in asked if version % 3 == 0]
    assert len(skipped) == len(set(skipped))
    # 39 cannot be judged, so that nothing tells it from 40.
    assert result.first_bad is None
    assert result.stopped is StopReason.AMBIGUOUS
    assert set(result.suspects) == {39, 40}


def test_where_all_may_be_skipped_the_search_ends() -> None:
    search = NoisyBisection(line_of(range(1, 31)))

    result = run_search(search.search(), lambda _: Verdict.SKIP)

    assert result.first_bad is None
    assert len(result.suspects) > 20


# ---- batches ----


@pytest.mark.parametrize("at_once", [2, 4])
def test_runs_that_go_at_once_take_fewer_rounds_than_one_after_the_other(at_once: int) -> None:
    def rounds(at_once: int) -> float:
        count = 0
        for seed in range(25):
            chance = random.Random(seed)
            culprit = chance.randint(1, 300)
            test = sometimes(culprit.__le__, (0.5, 0.0), chance)
            search = NoisyBisection(
                line_of(range(1, 301)), rates=FailureRates.of(0.5, 0.0), at_once=at_once
            )
            while search.likeliest()[1] < 0.95:
                batch = search.following
                assert len(batch) <= at_once
                search.tell(batch, [test(version) for version in batch])
                count += 1
        return count

    assert rounds(at_once) <= rounds(1) / at_once * 1.35


def test_all_verdicts_of_a_batch_are_told() -> None:
    search = NoisyBisection(line_of(range(1, 101)), at_once=4).search()
    batch = next(search)

    assert isinstance(batch, Round)
    assert len(batch) == 4


# ---- time ----


def test_a_version_that_takes_long_is_run_less_often() -> None:
    def share_run_at(seconds: float) -> float:
        run: list[int] = []
        for seed in range(10):
            chance = random.Random(seed)
            fails = sometimes(lambda version: version >= 50, (0.5, 0.0), chance)
            search = NoisyBisection(
                line_of(range(1, 101)),
                rates=FailureRates.of(0.5, 0.0),
                seconds=lambda version: seconds if version % 2 else 1.0,
            )
            while search.likeliest()[1] < 0.8:
                (version,) = search.following
                run.append(version)
                search.tell((version,), (fails(version),))
        return sum(version % 2 for version in run) / len(run)

    assert share_run_at(5.0) < share_run_at(1.0)


@pytest.mark.parametrize("confidence", [0, 1, 1.5])
def test_a_confidence_that_nothing_reaches_is_refused(confidence: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        NoisyBisection(line_of([1, 2]), confidence=confidence)


def _runs(result: NoisyResult[int]) -> Sequence[Runs]:
    return tuple(result.runs.values())


def test_one_suspect_is_the_answer_without_a_run() -> None:
    result = run_search(
        NoisyBisection({7: (3,)}).search(), lambda v: Verdict.BAD if v == 7 else Verdict.GOOD
    )

    assert (result.first_bad, result.last_good) == (7, 3)
    assert _runs(result) == ()
