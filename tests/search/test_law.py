"""The law of a cost: the shape that made the values is found, and the ranges hold the truth."""

import math
import random
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.search.growth.law import LEAST_VALUES, Law, Shape, fit_law

START = 0.03
DOUBLED = [2**power for power in range(13)]
SHAPES: Mapping[Shape, Callable[[float], float]] = {
    Shape.CONSTANT: lambda _: 0.0,
    Shape.LOGARITHM: math.log,
    Shape.LINEAR: lambda n: n,
    Shape.LINEAR_LOGARITHM: lambda n: n * math.log(n),
    Shape.QUADRATIC: lambda n: n * n,
    Shape.CUBIC: lambda n: n**3,
}
EXPONENTS = {Shape.CONSTANT: 0, Shape.LOGARITHM: 0, Shape.LINEAR: 1, Shape.LINEAR_LOGARITHM: 1,
             Shape.QUADRATIC: 2, Shape.CUBIC: 3}  # fmt: skip


def cost(shape: Callable[[float], float], number: float) -> float:
    return START + 3 * shape(number) / (shape(DOUBLED[-1]) or 1)


def law_of(shape: Callable[[float], float], noise: float = 0.0, seed: int = 0) -> Law:
    chance = random.Random(seed)
    costs = {n: cost(shape, n) * (1 + chance.gauss(0, noise)) for n in DOUBLED}
    law = fit_law(costs)
    assert law is not None
    return law


@pytest.mark.parametrize("shape", SHAPES)
def test_the_shape_that_made_the_values_is_found(shape: Shape) -> None:
    law = law_of(SHAPES[shape])
    assert law.shape is shape
    assert law.exponent.best == pytest.approx(EXPONENTS[shape], abs=0.02)
    assert law.constant == pytest.approx(START, rel=0.02)


@given(st.floats(0.4, 3.5), st.integers(0, 10_000))
def test_the_exponent_is_right_within_a_tenth_where_values_vary_by_two_percent(
    exponent: float, seed: int
) -> None:
    law = law_of(lambda n: n**exponent, noise=0.02, seed=seed)
    is_logarithmic = law.shape in {Shape.LOGARITHM, Shape.LINEAR_LOGARITHM}
    assert is_logarithmic or law.exponent.best == pytest.approx(exponent, abs=0.1)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_ranges_hold_the_truth_in_nine_of_ten_cases(shape: Shape) -> None:
    held = 0
    for seed in range(100):
        law = law_of(SHAPES[shape], noise=0.05, seed=seed)
        expected = law.predict(DOUBLED[-1] * 16)
        held += expected.low <= cost(SHAPES[shape], DOUBLED[-1] * 16) <= expected.high
    assert held >= 90


@given(st.floats(1e-6, 1e6), st.sampled_from(list(SHAPES)))
def test_the_unit_of_the_cost_changes_nothing(unit: float, shape: Shape) -> None:
    chance = random.Random(1)
    costs = {n: cost(SHAPES[shape], n) * (1 + chance.gauss(0, 0.03)) for n in DOUBLED}
    law, scaled = fit_law(costs), fit_law({n: value * unit for n, value in costs.items()})
    assert law is not None
    assert scaled is not None
    assert scaled.shape is law.shape
    assert scaled.predict(10**5).best == pytest.approx(law.predict(10**5).best * unit)


def test_what_doubles_with_each_step_is_exponential() -> None:
    law = fit_law({n: START + 1e-4 * 2.0**n for n in range(1, 17)})
    assert law is not None
    assert law.shape is Shape.EXPONENTIAL
    assert law.rate == pytest.approx(2, rel=0.05)
    assert law.predict(20).low <= 1e-4 * 2.0**20 + START <= law.predict(20).high


def test_an_exponent_of_no_textbook_is_a_power() -> None:
    law = law_of(lambda n: n**1.5, noise=0.01)
    assert law.shape is Shape.POWER
    assert law.exponent.low <= 1.5 <= law.exponent.high


def test_shapes_that_few_values_cannot_tell_apart_are_named() -> None:
    numbers = [10, 20, 30, 40, 50]
    chance = random.Random(3)
    law = fit_law({n: (START + n * 1e-3) * (1 + chance.gauss(0, 0.05)) for n in numbers})
    assert law is not None
    assert Shape.LINEAR in {law.shape, *law.others}
    assert law.others


@given(st.dictionaries(st.integers(0, 1 << 30), st.floats(1e-6, 1e9), max_size=12))
def test_any_values_give_a_law_whose_range_holds_its_best(costs: dict[int, float]) -> None:
    law = fit_law(costs)
    assert (law is None) == (len(costs) < LEAST_VALUES)
    if law is not None:
        assert law.exponent.low <= law.exponent.best <= law.exponent.high
        ahead = law.predict(2 * law.largest + 1)
        assert 0 <= ahead.low <= ahead.best <= ahead.high
