"""The law of a cost: how time or memory grows with a number, how sure that is, and what it predicts.

Every program has a part that doesn't grow, such as its start. So each law is `constant + factor · shape`:
the shapes of the textbooks first, then a power of any exponent and an exponential. All that the values
don't rule out count for the uncertainty (the profile of the misfit: Bates and Watts 1988, chapter 6).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from statistics import median
from typing import TypeAlias

from whet.core.value_class import value_class
from whet.search.growth.least_squares import Line, fit_line, noise_of, t95

LEAST_VALUES = 4
"""A constant, a factor and an exponent, and one value more to tell how well they fit."""

_MOST_EXPONENT = 8.0
_STEP = 0.01
_COARSE = tuple(0.1 * step for step in range(81))
_RATES = tuple(0.25 * 1.1**step for step in range(60))

_CLEARLY = 2.0
"""How many times the misfit of an exponential a power has to have."""

_VISIBLE, _MUCH = 0.02, 1.3
"""The memory of one program varies by a few percent between runs that do the same."""

_STEEPEST = 700.0  # more is no float

_SURELY = 1.5
"""How many times the usual distance from a constant shows growth: five shapes are tried at once."""


class Shape(Enum):
    """How a cost grows, in the words shown."""

    CONSTANT = "constant"
    LOGARITHM = "log n"
    LINEAR = "n"
    LINEAR_LOGARITHM = "n log n"
    QUADRATIC = "n²"
    CUBIC = "n³"
    POWER = "a power of n"
    EXPONENTIAL = "exponential"


@value_class(kw_only=True)
class Range:
    """A number that isn't known exactly: 95 % of such ranges hold the true one."""

    best: float
    low: float
    high: float


@value_class(kw_only=True)
class _Curve:
    """One law that the values allow."""

    shape: Callable[[float], float]
    line: Line
    parameter: float

    def at(self, number: float) -> float:
        return self.line.at(self.shape(number))

    def range_at(self, number: float, spread: float) -> Range:
        shape = self.shape(number)
        best, error = self.line.at(shape), spread * self.line.error_at(shape)
        return Range(best=best, low=max(0.0, best - error), high=best + error)


@value_class(kw_only=True)
class Law:
    """How a cost grows.

    Attributes:
        shape: the simplest shape that fits as well as any.
        others: further shapes that the values don't rule out, the best first.
        exponent: of n, beside the constant and the logarithm that the shape has.
        rate: of an exponential: by how much each further 1 multiplies it; None: it is none.
        constant: the part that doesn't grow.
        noise: how far the values lie from it, as a share of them.
        largest: the largest number that was measured.
    """

    shape: Shape
    others: tuple[Shape, ...]
    exponent: Range
    rate: float | None
    constant: float
    noise: float
    largest: int
    _best: _Curve
    _allowed: tuple[_Curve, ...] = field(default=())
    _spread: float = 0.0

    def at(self, number: float) -> float:
        """Return what it says of a number."""
        return self._best.at(number)

    def predict(self, number: float) -> Range:
        """Return between which values the cost of a number lies."""
        ranges = [each.range_at(number, self._spread) for each in (self._best, *self._allowed)]
        best = self.at(number)
        # No cost gets less: that of a larger number is at least that of the largest measured one.
        floor = self.at(min(number, self.largest)) * (1 - self._spread)
        return Range(
            best=best,
            low=min(best, max(floor, min(each.low for each in ranges))),
            high=max(each.high for each in ranges),
        )


def fit_law(costs: Mapping[int, float]) -> Law | None:
    """Return the law of a cost; None: there are too few values for one.

    Args:
        costs: the cost of each number, above zero.
    """
    numbers = sorted(costs)
    values = [costs[number] for number in numbers]
    if len(numbers) < LEAST_VALUES or min(values) <= 0 or numbers[0] < 0:
        return None
    return _Fitting(numbers, values).law()


_CurveOf: TypeAlias = Callable[[float], _Curve]


class _Fitting:
    """The fits of one set of values."""

    def __init__(self, numbers: Sequence[int], values: Sequence[float]) -> None:
        self._numbers = numbers
        self._values = values
        self._largest = float(numbers[-1])
        self._freedom = len(numbers) - 3

    def law(self) -> Law:
        power = self._best_of(self._power, _COARSE)
        named = {shape: self._fit(function) for shape, function in self._named().items()}
        least = min(each.line.misfit for each in (power, *named.values()))
        noise = noise_of(least, self._freedom)
        reach = noise * t95(self._freedom)
        level = self._fit(lambda _: 0.0)
        if level.line.misfit <= least + (_SURELY * reach) ** 2 or not self._grows():
            noise = noise_of(level.line.misfit, len(self._numbers) - 1)
            reach = noise * t95(self._freedom)
            slope = _slope(self._numbers, self._values, max(_SURELY * reach, noise))
            # What hides in the noise is taken to be no steeper than this.
            return self._law(Shape.CONSTANT, level, slope, noise, (named[Shape.LINEAR],))
        most = least + reach**2
        fitting = [shape for shape, each in named.items() if each.line.misfit <= most]
        if fitting:
            best, *others = sorted(fitting, key=lambda shape: named[shape].line.misfit)
            exponent, steepest = self._interval(self._family(best), most)
            curves = (*(named[shape] for shape in others), *steepest)
            return self._law(best, named[best], exponent, noise, curves, tuple(others))
        exponent, steepest = self._interval(self._power, most)
        exponential = self._best_of(self._exponential, _RATES)
        if exponential.line.misfit * _CLEARLY < power.line.misfit:
            return self._exponential_law(exponential, exponent)
        return self._law(Shape.POWER, power, exponent, noise, steepest)

    def _grows(self) -> bool:
        """Whether more than the last value lies clearly above the others, or that one by much."""
        usual = median(self._values[: len(self._values) // 2 + 1])
        above = [value for value in self._values[1:] if value > usual * (1 + _VISIBLE)]
        return len(above) > 1 or self._values[-1] > usual * _MUCH

    # ---- the laws ----

    def _law(
        self,
        shape: Shape,
        best: _Curve,
        exponent: Range,
        noise: float,
        allowed: Sequence[_Curve],
        others: tuple[Shape, ...] = (),
    ) -> Law:
        return Law(
            shape=shape,
            others=others,
            exponent=exponent,
            rate=math.exp(best.parameter / self._largest) if shape is Shape.EXPONENTIAL else None,
            constant=best.line.constant,
            noise=noise,
            largest=self._numbers[-1],
            _best=best,
            _allowed=tuple(allowed),
            _spread=noise * t95(self._freedom),
        )

    def _exponential_law(self, best: _Curve, exponent: Range) -> Law:
        noise = noise_of(best.line.misfit, self._freedom)
        most = best.line.misfit + (noise * t95(self._freedom)) ** 2
        near = (self._exponential(best.parameter * 1.01**step) for step in range(-20, 21))
        allowed = tuple(each for each in near if each.line.misfit <= most)
        return self._law(Shape.EXPONENTIAL, best, exponent, noise, allowed)

    # ---- the fits ----

    def _fit(self, shape: Callable[[float], float], parameter: float = 0.0) -> _Curve:
        line = fit_line([shape(number) for number in self._numbers], self._values)
        return _Curve(shape=shape, line=line, parameter=parameter)

    def _power(self, exponent: float) -> _Curve:
        largest = self._largest
        return self._fit(lambda number: float((number / largest) ** exponent), exponent)

    def _power_and_logarithm(self, exponent: float) -> _Curve:
        largest, logarithm = self._largest, self._logarithm
        return self._fit(lambda n: float((n / largest) ** exponent) * logarithm(n), exponent)

    def _exponential(self, rate: float) -> _Curve:
        largest = self._largest
        return self._fit(lambda n: math.exp(min(_STEEPEST, rate * (n / largest - 1))), rate)

    def _logarithm(self, number: float) -> float:
        return math.log(max(number, 1.0)) / math.log(max(self._largest, 2.0))

    def _named(self) -> Mapping[Shape, Callable[[float], float]]:
        largest, logarithm = self._largest, self._logarithm
        return {
            Shape.LOGARITHM: logarithm,
            Shape.LINEAR: lambda number: number / largest,
            Shape.LINEAR_LOGARITHM: lambda number: number / largest * logarithm(number),
            Shape.QUADRATIC: lambda number: (number / largest) ** 2,
            Shape.CUBIC: lambda number: (number / largest) ** 3,
        }

    def _family(self, shape: Shape) -> _CurveOf:
        is_logarithmic = shape in {Shape.LOGARITHM, Shape.LINEAR_LOGARITHM}
        return self._power_and_logarithm if is_logarithmic else self._power

    def _best_of(self, curve_of: _CurveOf, parameters: Iterable[float]) -> _Curve:
        return min(map(curve_of, parameters), key=lambda curve: curve.line.misfit)

    def _interval(self, curve_of: _CurveOf, most: float) -> tuple[Range, tuple[_Curve, ...]]:
        """Return the exponents whose misfit is no more than this, and the curves at both ends."""
        coarse = self._best_of(curve_of, _COARSE).parameter
        fine = (coarse + step * _STEP for step in range(-10, 11))
        best = self._best_of(curve_of, (each for each in fine if 0 <= each <= _MOST_EXPONENT))
        ends: list[_Curve] = []
        for step in (-_STEP, _STEP):
            end = best
            while 0 <= end.parameter + step <= _MOST_EXPONENT:
                beyond = curve_of(end.parameter + step)
                if beyond.line.misfit > most:
                    break
                end = beyond
            ends.append(end)
        low, high = ends
        return Range(best=best.parameter, low=low.parameter, high=high.parameter), (low, best, high)


def _slope(numbers: Sequence[int], values: Sequence[float], reach: float) -> Range:
    """Return the exponent of a power without a constant, as what doesn't grow has it."""
    xs = [math.log(max(number, 1)) for number in numbers]
    ys = [math.log(value) for value in values]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    spread = sum((x - mean_x) ** 2 for x in xs) or 1.0
    slope = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True)) / spread
    error = reach / math.sqrt(spread)
    return Range(best=slope, low=slope - error, high=slope + error)
