"""How much a number grows with each repetition, with its interval.

Two things make such a number vary: it flickers around a line, or it stands still and jumps, as resident
memory does. The interval is the wider of two: that of a straight line through all points, and that
of the growth in parts of the series, which jumps make wide.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

from whet.core.value_class import value_class

_WARM_UP_SHARE = 0.25
_LEAST_POINTS = 5
"""Fewer say nothing about an interval."""

_MOST_PARTS = 4
_QUANTILES = (
    (1, 12.71), (2, 4.30), (3, 3.18), (4, 2.78), (5, 2.57), (6, 2.45), (8, 2.31), (10, 2.23),
    (15, 2.13), (20, 2.09), (30, 2.04), (60, 2.00),
)  # fmt: skip
"""Of Student's t for 95 %, by the degrees of freedom."""

_LATE_SHARE = 0.25
"""A growth that ends is no leak: the last part grows at least by this share of the average part."""


@value_class(kw_only=True)
class Slope:
    """What a number gains with each repetition.

    Attributes:
        best: the estimate.
        low: lower end of the 95 % interval.
        high: upper end of it.
        gained: what the number has gained after the warm-up.
        early: what it had gained by then.
        repetitions: how many there were after the warm-up.
        goes_on: no part of the series shrinks, and the last one still grows.
    """

    best: float
    low: float
    high: float
    gained: float
    early: float
    repetitions: int
    goes_on: bool


def slope_of(numbers: Sequence[int], values: Sequence[float]) -> Slope | None:
    """Return the slope of a series; None: it has too few points.

    Args:
        numbers: how many repetitions there had been, rising.
        values: what was measured then.
    """
    if not numbers:
        return None
    begin = numbers[0] + (numbers[-1] - numbers[0]) * _WARM_UP_SHARE
    at = next(place for place, number in enumerate(numbers) if number >= begin)
    xs, ys = numbers[at:], values[at:]
    if len(xs) < _LEAST_POINTS:
        return None
    best, error = _line(xs, ys)
    around = _quantile(len(xs) - 2) * error
    parts = _parts(xs, ys)
    widths = [(after - before) for before, after, _ in parts]
    rates = [gain / width for (_, _, gain), width in zip(parts, widths, strict=True)]
    middle = sum(rates) / len(rates)
    spread = math.sqrt(sum((rate - middle) ** 2 for rate in rates) / (len(rates) - 1))
    beside = _quantile(len(rates) - 1) * spread / math.sqrt(len(rates))
    return Slope(
        best=best,
        low=min(best - around, middle - beside),
        high=max(best + around, middle + beside),
        gained=ys[-1] - ys[0],
        early=ys[0] - values[0],
        repetitions=xs[-1] - xs[0],
        goes_on=min(rates) >= 0 and rates[-1] > max(middle, 0) * _LATE_SHARE,
    )


def _line(xs: Sequence[int], ys: Sequence[float]) -> tuple[float, float]:
    """Return the slope of the straight line through points, and its standard error."""
    count = len(xs)
    middle_x, middle_y = sum(xs) / count, sum(ys) / count
    spread = sum((x - middle_x) ** 2 for x in xs)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True)) / spread
    rest = sum((y - middle_y - slope * (x - middle_x)) ** 2 for x, y in zip(xs, ys, strict=True))
    return slope, math.sqrt(max(rest, 0.0) / (count - 2) / spread)


def _parts(xs: Sequence[int], ys: Sequence[float]) -> list[tuple[int, int, float]]:
    """Return parts of about as many repetitions each, with what was gained in them."""
    count = min(_MOST_PARTS, (len(xs) - 1) // 2)
    edges = [0]
    for part in range(1, count):
        wanted = xs[0] + (xs[-1] - xs[0]) * part / count
        at = min(range(len(xs)), key=lambda place: abs(xs[place] - wanted))
        if at > edges[-1]:
            edges.append(at)
    if edges[-1] < len(xs) - 1:
        edges.append(len(xs) - 1)
    return [(xs[one], xs[other], ys[other] - ys[one]) for one, other in pairwise(edges)]


def _quantile(freedom: int) -> float:
    return next((t for known, t in reversed(_QUANTILES) if known <= freedom), _QUANTILES[0][1])
