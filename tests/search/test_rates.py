"""The interval of a failure rate, and how long something is repeated."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.search.flaky.rates import (
    Enough,
    chance_of_no_difference,
    passes_to_be_sure,
    repeating,
    wilson,
)
from whet.search.proposal import run_search

counts = st.integers(1, 400).flatmap(lambda runs: st.tuples(st.integers(0, runs), st.just(runs)))


def chance_of(failed: int, runs: int, rate: float) -> float:
    return math.comb(runs, failed) * rate**failed * (1 - rate) ** (runs - failed)


@given(counts, st.floats(0.5, 0.999))
def test_the_interval_holds_the_rate_that_was_seen(counts: tuple[int, int], sure: float) -> None:
    failed, runs = counts

    interval = wilson(failed, runs, sure)

    assert 0 <= interval.low <= failed / runs <= interval.high <= 1


@given(counts)
def test_the_ends_of_the_interval_are_where_the_score_test_turns(counts: tuple[int, int]) -> None:
    failed, runs = counts
    interval = wilson(failed, runs, 0.95)

    for end in {interval.low, interval.high} - {0.0, 1.0}:
        score = (failed / runs - end) / math.sqrt(end * (1 - end) / runs)
        assert abs(score) == pytest.approx(1.959964, rel=1e-5)


@pytest.mark.parametrize("runs", [10, 30, 100])
def test_on_average_over_the_rates_the_interval_holds_as_often_as_is_said(runs: int) -> None:
    intervals = [wilson(failed, runs, 0.95) for failed in range(runs + 1)]
    rates = [(number + 0.5) / 500 for number in range(500)]

    holds = [
        sum(
            chance_of(failed, runs, rate)
            for failed, interval in enumerate(intervals)
            if interval.low <= rate <= interval.high
        )
        for rate in rates
    ]

    assert sum(holds) / len(holds) == pytest.approx(0.95, abs=0.01)


@given(st.floats(0.001, 0.999), st.floats(0.5, 0.999))
def test_so_many_passes_are_enough_and_one_less_is_not(rate: float, sure: float) -> None:
    runs = passes_to_be_sure(rate, sure)

    assert runs is not None
    assert (1 - rate) ** runs <= (1 - sure) * (1 + 1e-9)
    assert (1 - rate) ** (runs - 1) > (1 - sure) * (1 - 1e-9)


def test_the_chance_of_no_difference_is_that_of_the_lady_tasting_tea() -> None:
    # Fisher, The Design of Experiments (1935), chapter 2: 1 and 17 of 70 deals.
    assert chance_of_no_difference((4, 4), (0, 4)) == pytest.approx(1 / 70)
    assert chance_of_no_difference((3, 4), (1, 4)) == pytest.approx(17 / 70)


@given(counts, counts)
def test_one_of_two_groups_always_looks_as_if_it_failed_more_often(
    one: tuple[int, int], other: tuple[int, int]
) -> None:
    there = chance_of_no_difference(one, other)
    back = chance_of_no_difference(other, one)

    # Together they count what was seen itself twice.
    assert 1 - 1e-9 <= there + back <= 2 + 1e-9


def test_what_never_or_always_fails_needs_no_sum() -> None:
    assert passes_to_be_sure(0.0, 0.95) is None
    assert passes_to_be_sure(1.0, 0.95) == 1


@given(st.lists(st.sampled_from(Verdict), min_size=60, max_size=60), st.integers(1, 5))
def test_it_is_run_so_often_and_no_more(verdicts: list[Verdict], at_once: int) -> None:
    enough = Enough(most=17)

    seen = run_search(
        repeating(lambda done: enough.more(done, at_once)), lambda number: verdicts[number]
    )

    assert seen == tuple(verdicts[:17])


@given(st.lists(st.sampled_from(Verdict), min_size=60, max_size=60), st.integers(1, 60))
def test_until_a_failure_it_ends_with_the_first_one_or_with_the_last_run(
    verdicts: list[Verdict], most: int
) -> None:
    enough = Enough(most=most, at_failure=True)

    seen = run_search(repeating(lambda done: enough.more(done, 1)), lambda n: verdicts[n])

    assert seen == tuple(verdicts[: len(seen)])
    assert Verdict.BAD not in seen[:-1]
    assert seen[-1] is Verdict.BAD or len(seen) == most


def test_until_sure_ends_as_soon_as_the_rate_is_known_so_well() -> None:
    enough = Enough(most=None, sure=0.9, within=0.1)

    seen = run_search(
        repeating(lambda done: enough.more(done, 1)),
        lambda number: Verdict.BAD if number % 2 else Verdict.GOOD,
    )

    runs = len(seen)
    assert wilson(seen.count(Verdict.BAD), runs, 0.9).half_width <= 0.1
    assert wilson(seen[:-1].count(Verdict.BAD), runs - 1, 0.9).half_width > 0.1
