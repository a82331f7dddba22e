"""The statistics of a comparison: right however often one looks, and whatever the machine does."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.measurement.comparison.contest import LEAST_PAIRS, Ruling, Sample, pairs_for
from whet.measurement.comparison.evidence import Effect, effect_of, is_ruled_out, log_evidence
from whet.measurement.comparison.order import Order

FINITE = st.floats(-1e3, 1e3).filter(lambda each: abs(each) > 1e-6)


@given(st.lists(FINITE, min_size=1, max_size=7))
def test_bets_on_fair_coins_win_nothing_on_average(sizes: list[float]) -> None:
    """Over all ways in which the coins may fall, the evidence is 1 on average: Ville's bound holds."""
    count = len(sizes)
    owned = [
        math.exp(
            log_evidence(
                [size if ways >> place & 1 else -size for place, size in enumerate(sizes)], 0.0
            )
        )
        for ways in range(1 << count)
    ]
    assert sum(owned) / len(owned) == pytest.approx(1)


@given(st.lists(FINITE, min_size=1, max_size=30), st.floats(1e-3, 1e3))
def test_the_unit_of_the_differences_does_not_matter(differences: list[float], unit: float) -> None:
    scaled = [unit * each for each in differences]
    assert log_evidence(scaled, 0.0) == pytest.approx(log_evidence(differences, 0.0))


@given(st.lists(FINITE, min_size=1, max_size=30))
def test_swapping_the_arms_swaps_the_answer(differences: list[float]) -> None:
    there = effect_of(differences, 0.05)
    back = effect_of([-each for each in differences], 0.05)
    assert back.best == pytest.approx(-there.best)
    assert back.low == pytest.approx(-there.high)
    assert back.high == pytest.approx(-there.low)


@given(st.lists(FINITE, min_size=LEAST_PAIRS, max_size=40))
def test_an_interval_agrees_with_the_test(differences: list[float]) -> None:
    effect = effect_of(differences, 0.05)
    if is_ruled_out(differences, 0.0, 0.05):
        assert not effect.low < 0 < effect.high
    assert effect.low <= effect.best <= effect.high


def drifting(seed: int, count: int) -> list[tuple[float, float]]:
    """Return times of pairs on a bad machine: heavy tails, a drift, bursts that last."""
    rng = random.Random(seed)
    burst = 0.0
    pairs: list[tuple[float, float]] = []
    for at in range(count):
        values: list[float] = []
        for _ in range(2):
            burst = 0.95 * burst + rng.gauss(0, 0.02)
            spike = abs(rng.gauss(0, 0.02) / math.sqrt(rng.gammavariate(0.75, 1)))
            values.append(math.exp(0.01 * at + burst + min(spike, 50)))
        pairs.append((values[0], values[1]))
    return pairs


def ruling_of(seed: int, effect: float, *, most: int = 40) -> Ruling | None:
    """Compare two arms, looking after each pair; B takes ``effect`` more."""
    order = Order(seed)
    a: list[float] = []
    b: list[float] = []
    for pair, (first, second) in enumerate(drifting(seed, most)):
        values = (first, second) if order.is_a_first(pair) else (second, first)
        a.append(values[0])
        b.append(values[1] * (1 + effect))
        ruling = Sample(name="", a=tuple(a), b=tuple(b)).ruling(0.05, 0.001)
        if ruling is not None:
            return ruling
    return None


def test_two_equal_programs_on_a_bad_machine_are_seldom_called_different() -> None:
    wrong = sum(ruling_of(seed, 0.0) is Ruling.DIFFERENT for seed in range(200))
    assert wrong <= 200 * 0.05


def test_a_clear_difference_is_found_on_a_bad_machine() -> None:
    assert all(ruling_of(seed, 0.3) is Ruling.DIFFERENT for seed in range(20))


def test_seven_pairs_on_one_side_are_sure_and_six_are_not() -> None:
    assert not is_ruled_out([1.0] * (LEAST_PAIRS - 1), 0.0, 0.05)
    assert is_ruled_out([1.0] * LEAST_PAIRS, 0.0, 0.05)


def test_numbers_that_never_vary_are_exactly_alike_or_exactly_different() -> None:
    same = Sample(name="", a=(5.0,) * 7, b=(5.0,) * 7)
    more = Sample(name="", a=(5.0,) * 7, b=(6.0,) * 7)

    assert same.ruling(0.05, 0.01) is Ruling.ALIKE
    assert more.ruling(0.05, 0.01) is Ruling.DIFFERENT
    assert more.effect(0.05).low == pytest.approx(0.2, rel=1e-4)
    assert more.effect(0.05).high == pytest.approx(0.2, rel=1e-4)


def test_numbers_below_zero_are_compared_by_their_difference() -> None:
    sample = Sample(name="loss", a=(-1.0, -2.0) * 4, b=(0.0, -1.0) * 4)

    assert not sample.is_ratio
    assert sample.effect(0.05).best == 1.0


def test_a_threshold_is_met_or_missed_or_open() -> None:
    noise = (0.99, 1.0, 1.01, 1.005, 0.995, 1.002, 0.998, 1.0)
    sample = Sample(name="", a=(1.0,) * 8, b=tuple(1.1 * each for each in noise))

    assert sample.is_above(0.05, 0.05) is True
    assert sample.is_above(0.2, 0.05) is False
    assert sample.is_above(0.1, 0.05) is None


def test_an_order_is_that_of_its_seed_and_has_both_kinds_of_pairs() -> None:
    coins = [Order(7).is_a_first(pair) for pair in range(40)]

    assert coins == [Order(7).is_a_first(pair) for pair in range(40)]
    assert 8 < sum(coins) < 32
    assert coins != [Order(8).is_a_first(pair) for pair in range(40)]


def test_half_the_width_takes_four_times_the_pairs() -> None:
    assert pairs_for(Effect(0.0, -0.02, 0.02), 50, 0.01) == 200
    assert pairs_for(Effect(0.0, -math.inf, math.inf), 5, 0.01) is None
