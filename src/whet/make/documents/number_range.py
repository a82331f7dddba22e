"""The numbers that a JSON Schema allows at one place, worked out exactly: bounds can be of any size."""

import math
from collections.abc import Callable
from fractions import Fraction

from whet.core.text.record import JsonObject

_MOST = 10**400
"""Bounds beyond it are refused: Python writes no number of more than 4,300 digits."""


class NumberRange:
    """A lowest and a highest number, and a step between them; each may be missing."""

    def __init__(self, schema: JsonObject) -> None:
        """Read it.

        Raises:
            ValueError: if it allows no number; says why.
        """
        self.is_whole = schema.get("type") != "number"
        self.has_step = self.is_whole or "multipleOf" in schema
        self._step = _limit(schema, "multipleOf") or (Fraction(1) if self.is_whole else None)
        if (
            self.is_whole and self._step is not None
        ):  # whole numbers among multiples of 3/4: those of 3
            self._step = Fraction(self._step.numerator)
        self.low, self.high = self._bounds(schema)
        if self._step:
            low, high, step = self.low, self.high, self._step
            self.low = None if low is None else math.ceil(low / step) * step
            self.high = None if high is None else math.floor(high / step) * step
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(
                f"no number lies between its bounds, {plain(self.low)} and {plain(self.high)}"
            )

    def _bounds(self, schema: JsonObject) -> tuple[Fraction | None, Fraction | None]:
        low, is_low_out = _bound(schema, "minimum", "exclusiveMinimum", max)
        high, is_high_out = _bound(schema, "maximum", "exclusiveMaximum", min)
        gap = self._step
        if gap is None:  # more than the nearest number of 53 bits is away
            largest = max(abs(low or Fraction(0)), abs(high or Fraction(0)))
            gap = max(Fraction(1, 2), largest / 2**50)
            if low is not None and high is not None and low < high:
                gap = min(gap, (high - low) / 2)
        low = low + gap if low is not None and is_low_out else low
        high = high - gap if high is not None and is_high_out else high
        return low, high

    def near(self, wanted: float) -> int | float:
        """Return a number that is allowed: the wanted one if it is; a count goes through all there are."""
        if not math.isfinite(wanted):
            if self._step is None:
                return wanted
            wanted = 0
        made = Fraction(wanted)
        if self._step is None:
            made = made if self.low is None else max(made, self.low)
            return self._number(made if self.high is None else min(made, self.high))
        first = self.low
        if first is None:
            first = self._step if self.high is None else min(self._step, self.high)
        place = max(math.floor(made), 1) - 1
        if self.high is not None:
            place %= (self.high - first) // self._step + 1
        return self._number(first + place * self._step)

    def edge(self) -> int | float:
        """Return the lowest number, or the highest one."""
        made = self.low if self.low is not None else self.high
        if made is None and not self.is_whole:
            return -0.0
        if made is None:
            step = self._step or Fraction(1)
            made = math.ceil(-(2**63) / step) * step
        return self._number(made)

    def _number(self, made: Fraction) -> int | float:
        return int(made) if self.is_whole else plain(made)


def plain(number: Fraction) -> int | float:
    """Return a number as JSON has it; a whole one without a point."""
    is_huge = abs(number) >= 2**1000
    return math.ceil(number) if number.denominator == 1 or is_huge else float(number)


def _bound(
    schema: JsonObject, name: str, exclusive: str, tighter: Callable[[Fraction, Fraction], Fraction]
) -> tuple[Fraction | None, bool]:
    """Return a bound, and whether it is outside itself; draft 4 says that with true."""
    inside, outside = _limit(schema, name), _limit(schema, exclusive)
    if outside is None or inside is None:
        bound = outside if inside is None else inside
        return bound, outside is not None or schema.get(exclusive) is True
    bound = tighter(inside, outside)
    return bound, bound == outside


def _limit(schema: JsonObject, name: str) -> Fraction | None:
    value = schema.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < math.inf:
        return None
    if abs(value) > _MOST:
        raise ValueError(f"`{name}` has more than 400 digits")
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))
