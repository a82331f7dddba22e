"""Floating point types of one or two bytes that the standard library can't pack."""

import math
from bisect import bisect_left


class Minifloat:
    """A type by the layout of its bits: a sign, an exponent, a fraction."""

    def __init__(self, exponent_bits: int, fraction_bits: int, *, ends: str = "ieee") -> None:
        """Compute all its numbers.

        Args:
            exponent_bits: how many bits the exponent has.
            fraction_bits: how many bits the fraction has.
            ends: what is at the end of the numbers: ``ieee`` has infinity, and more bits that are
                no number; ``fn`` only the largest bits of all, which are no number; ``fnuz`` neither,
                and the bits of a negative zero are no number.
        """
        self._sign = 1 << (exponent_bits + fraction_bits)
        self._ends = ends
        bias = (1 << (exponent_bits - 1)) - (ends != "fnuz")
        infinity = ((1 << exponent_bits) - 1) << fraction_bits
        count = {"ieee": infinity, "fn": self._sign - 1, "fnuz": self._sign}[ends]
        self._infinity = infinity if ends == "ieee" else None
        none = {"ieee": infinity | 1 << (fraction_bits - 1), "fn": self._sign - 1}
        self._not_a_number = none.get(ends, self._sign)
        unit = 1 << fraction_bits
        self.numbers = [
            math.ldexp(
                bits % unit + unit * (bits >= unit), max(bits // unit, 1) - bias - fraction_bits
            )
            for bits in range(count)
        ]
        """All that are finite and not negative, by their bits."""
        self.first_normal = unit
        """The bits of the smallest that isn't subnormal."""

    def decoded(self, bits: int) -> float:
        """Return the number that bits stand for."""
        size = bits & (self._sign - 1)
        if self._ends == "fnuz" and bits == self._sign:
            return math.nan
        if size >= len(self.numbers):
            number = math.inf if size == self._infinity else math.nan
        else:
            number = self.numbers[size]
        return -number if bits & self._sign else number

    def encoded(self, number: float) -> int:
        """Return the bits of the nearest number that there is; of two, those that end in 0.

        Raises:
            OverflowError: if it is too large.
        """
        if math.isnan(number):
            return self._not_a_number
        bits = self._rounded(abs(number))
        if bits >= len(self.numbers) and (self._infinity is None or not math.isinf(number)):
            raise OverflowError(number)
        is_negative = math.copysign(1, number) < 0 and (bits > 0 or self._ends != "fnuz")
        return bits | self._sign if is_negative else bits

    def _rounded(self, size: float) -> int:
        """Return the bits of a number that isn't negative; behind the last one: as many as there are."""
        above = bisect_left(self.numbers, size)
        last = self.numbers[-1]
        beyond = last + (last - self.numbers[-2])
        upper = self.numbers[above] if above < len(self.numbers) else beyond
        if above == 0 or upper == size:
            return above
        if size >= beyond:
            return len(self.numbers)
        lower = self.numbers[above - 1]
        down, up = size - lower, upper - size
        if down == up:
            return above - 1 if (above - 1) % 2 == 0 else above
        return above - 1 if down < up else above
