"""How much a number grows with each repetition, with its interval.

Two things make such a number vary: it flickers around a line, or it stands still and jumps, as resident
memory does. The interval is the wider of two: that of a straight line through all points, and that
of the growth in parts of the series, which jumps make wide.
"""

import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from statistics import median

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

_MOST_BLOCKS = 8
_FALLS = {5: 10, 6: 13, 7: 17, 8: 20}
"""How many more pairs of blocks must fall than rise, by the number of blocks: by chance, less than 1 %
of steady series do (Kendall). A table that is made larger now and then makes one block stand out, no more."""

_SLOWER = 0.7
"""A rate that falls by less than this says little about where the growth ends."""

_MUCH_SLOWER, _FEWER = 0.5, 2
"""If it falls by half, so many pairs fewer are enough."""

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
        slowing: the growth becomes slower and slower, as of a table that fills up; None: it doesn't.
    """

    best: float
    low: float
    high: float
    gained: float
    early: float
    repetitions: int
    goes_on: bool
    slowing: "Slowing | None" = None


@value_class(kw_only=True)
class Slowing:
    """A growth that becomes slower and slower.

    Attributes:
        first: what a repetition adds after the warm-up.
        last: what it adds at the end.
        rest: what is still to come if it falls on in this way: each time by the same share.
    """

    first: float
    last: float
    rest: float


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
    rates = [rate for _, rate in _rates(xs, ys, min(_MOST_PARTS, (len(xs) - 1) // 2))]
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
        slowing=_slowing(xs, ys),
    )


def _line(xs: Sequence[int], ys: Sequence[float]) -> tuple[float, float]:
    """Return the slope of the straight line through points, and its standard error."""
    count = len(xs)
    middle_x, middle_y = sum(xs) / count, sum(ys) / count
    spread = sum((x - middle_x) ** 2 for x in xs)
    slope = sum((x - middle_x) * (y - middle_y) for x, y in zip(xs, ys, strict=True)) / spread
    rest = sum((y - middle_y - slope * (x - middle_x)) ** 2 for x, y in zip(xs, ys, strict=True))
    return slope, math.sqrt(max(rest, 0.0) / (count - 2) / spread)


def _slowing(xs: Sequence[int], ys: Sequence[float]) -> Slowing | None:
    """Return how the growth becomes slower: the rates of blocks of the series fall, surely."""
    blocks = _rates(xs, ys, min(_MOST_BLOCKS, (len(xs) - 1) // 2))
    if len(blocks) not in _FALLS:
        return None
    pairs = list(combinations(blocks, 2))
    falls = sum((before > after) - (before < after) for (_, before), (_, after) in pairs)
    slope = median((after - before) / (late - early) for (early, before), (late, after) in pairs)
    level = median(rate - slope * place for place, rate in blocks)
    begin, end = blocks[0][0], blocks[-1][0]
    first, last = level + slope * begin, max(level + slope * end, 0.0)
    is_sure = falls >= _FALLS[len(blocks)] and last < first * _SLOWER
    is_steep = falls >= _FALLS[len(blocks)] - _FEWER and last < first * _MUCH_SLOWER
    if not (is_sure or is_steep):
        return None
    rest = last * (end - begin) / math.log(first / last) if last else 0.0
    return Slowing(first=first, last=last, rest=rest)


def _rates(xs: Sequence[int], ys: Sequence[float], count: int) -> list[tuple[float, float]]:
    """Return the rate of blocks of about as many repetitions each, with the middle of the block."""
    edges = [0]
    for part in range(1, count):
        wanted = xs[0] + (xs[-1] - xs[0]) * part / count
        at = min(range(len(xs)), key=lambda place: abs(xs[place] - wanted))
        if at > edges[-1]:
            edges.append(at)
    if edges[-1] < len(xs) - 1:
        edges.append(len(xs) - 1)
    return [
        ((xs[one] + xs[other]) / 2, (ys[other] - ys[one]) / (xs[other] - xs[one]))
        for one, other in pairwise(edges)
    ]


def _quantile(freedom: int) -> float:
    return next((t for known, t in reversed(_QUANTILES) if known <= freedom), _QUANTILES[0][1])
