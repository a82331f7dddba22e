"""What runs say of the two rates, held against sums that are made the long way."""

import math
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.search.flaky.failure_rates import FailureRates, Runs

counts = st.builds(Runs, st.integers(0, 40), st.integers(0, 40))
rates = st.floats(0.01, 0.99)


def chance_of(runs: Runs, rate: float) -> float:
    return rate**runs.failed * (1 - rate) ** runs.passed


@given(counts, counts)
def test_unknown_rates_are_summed_over_all_pairs_in_which_bad_fails_more(
    bad: Runs, good: Runs
) -> None:
    unknown = FailureRates.of()

    expected = sum(
        weight * other * chance_of(bad, rate) * chance_of(good, low)
        for (rate, weight), (low, other) in product(unknown.when_bad, unknown.when_good)
        if low < rate
    )

    assert math.exp(unknown.log_chance(bad, good)) == pytest.approx(expected, rel=1e-9)


@given(rates, counts, counts, st.floats(0.0, 1.0))
def test_known_rates_are_believed_whatever_the_runs_say(
    rate: float, bad: Runs, good: Runs, share: float
) -> None:
    known = FailureRates.of(rate, rate * share * 0.9)

    fails_if_bad, fails_if_good = known.next_fails(bad, good)

    assert fails_if_bad == pytest.approx(rate, abs=1e-6)
    assert fails_if_good == pytest.approx(rate * share * 0.9, abs=2e-6)


@given(counts, counts)
def test_a_bad_version_is_always_expected_to_fail_more_often(bad: Runs, good: Runs) -> None:
    fails_if_bad, fails_if_good = FailureRates.of().next_fails(bad, good)

    assert 0 <= fails_if_good < fails_if_bad <= 1


def test_many_runs_outweigh_what_was_thought_before() -> None:
    seen = FailureRates.of().next_fails(Runs(300, 700), Runs(50, 950))

    assert seen == pytest.approx((0.3, 0.05), abs=0.03)


def test_a_thousand_runs_do_not_underflow() -> None:
    assert math.isfinite(FailureRates.of(0.5, 0.0).log_chance(Runs(2000, 2000), Runs(0, 2000)))


def test_a_good_version_that_fails_as_often_as_a_bad_one_is_refused() -> None:
    with pytest.raises(ValueError, match="more often"):
        FailureRates.of(0.2, 0.2)
