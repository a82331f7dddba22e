"""How good guesses are: laws of the factor and of its interval."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.expectation import ExpectationKind
from whet.measurement.expectations.calibration import Guess, bias_of, calibrations

RATIOS = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=40)


@given(RATIOS)
def test_the_interval_holds_the_middle_and_needs_six_guesses(ratios: list[float]) -> None:
    bias = bias_of(ratios)

    assert (bias.interval is not None) is (len(ratios) >= 6)
    if bias.interval is not None:
        assert bias.interval.low <= bias.middle * (1 + 1e-9)
        assert bias.middle <= bias.interval.high * (1 + 1e-9)


@given(RATIOS, st.floats(1e-3, 1e3))
def test_all_guesses_off_by_a_factor_more_is_that_factor(
    ratios: list[float], factor: float
) -> None:
    before, after = bias_of(ratios), bias_of([each * factor for each in ratios])

    assert math.isclose(after.middle, before.middle * factor, rel_tol=1e-6)


@given(RATIOS)
def test_too_much_and_too_little_are_mirrored(ratios: list[float]) -> None:
    one, other = bias_of(ratios), bias_of([1 / each for each in ratios])

    assert math.isclose(one.middle, 1 / other.middle, rel_tol=1e-6)
    assert one.is_sure is other.is_sure


@given(RATIOS)
def test_the_advised_factor_would_have_held_eight_of_ten(ratios: list[float]) -> None:
    bias = bias_of(ratios)

    if bias.advised is not None:
        reach = math.log(bias.advised) + 1e-9
        held = [abs(math.log(each / bias.middle)) <= reach for each in ratios]
        assert sum(held) >= 0.8 * len(ratios)


@pytest.mark.parametrize("count", [6, 9, 12, 25])
@pytest.mark.parametrize("is_wild", [False, True])
def test_the_interval_holds_the_true_factor_as_often_as_it_says(
    count: int, *, is_wild: bool
) -> None:
    """Also where one guess in ten is off a hundred times: 2,000 persons whose true factor is 3."""
    choose = random.Random(count)
    held = 0
    for _ in range(2000):
        ratios = [
            3 * math.exp(choose.gauss(0, 5 if is_wild and choose.random() < 0.1 else 0.5))
            for _ in range(count)
        ]
        interval = bias_of(ratios).interval
        assert interval is not None
        held += interval.low <= 3 <= interval.high

    assert held >= 0.94 * 2000


def test_one_wild_guess_says_little_about_the_others() -> None:
    assert bias_of([1.9, 2.0, 2.1, 2.0, 1.8, 2.2, 1e6]).middle == pytest.approx(2.0)


@given(st.lists(st.tuples(st.sampled_from(ExpectationKind), st.booleans()), max_size=30))
def test_each_guess_counts_once_in_its_kind(rows: list[tuple[ExpectationKind, bool]]) -> None:
    guesses = [Guess(kind=kind, text="", was_met=met) for kind, met in rows]

    kinds = {each.kind: (each.met, each.stated) for each in calibrations(guesses)}

    for kind in ExpectationKind:
        mets = [met for of, met in rows if of is kind]
        assert kinds.get(kind, (0, 0)) == (sum(mets), len(mets))
