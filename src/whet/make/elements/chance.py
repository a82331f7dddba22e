"""Random numbers that are the same on every machine, for the same seed.

The generator of the standard library promises its uniform numbers; its normal ones depend on the
machine's mathematics library. Here they need nothing but what IEEE 754 rounds in one way:
the four operations and the root.
"""

import math
from collections.abc import Iterator
from random import Random

_LN2 = 0.6931471805599453
_TERMS = range(27, 0, -2)


def uniform(seed: int, low: float, high: float) -> Iterator[float]:
    """Yield numbers from ``low`` to below ``high``, without an end."""
    draw = Random(seed).random
    while True:
        yield low + (high - low) * draw()


def whole(seed: int, low: int, high: int) -> Iterator[int]:
    """Yield whole numbers from ``low`` to ``high``, both included, without an end."""
    draw = Random(seed).random
    span = high - low + 1
    while True:  # two draws, so that even 64 bits are all reached
        yield (
            low + int(draw() * 2**53) * span // 2**53
            if span <= 2**32
            else low + (int(draw() * 2**53) << 53 | int(draw() * 2**53)) * span // 2**106
        )


def normal(seed: int, mean: float = 0.0, deviation: float = 1.0) -> Iterator[float]:
    """Yield normally distributed numbers, without an end (Marsaglia's polar method)."""
    draw = Random(seed).random
    while True:
        x, y = 2 * draw() - 1, 2 * draw() - 1
        size = x * x + y * y
        if 0 < size < 1:
            scale = deviation * math.sqrt(-2 * _ln(size) / size)
            yield mean + x * scale
            yield mean + y * scale


def _ln(number: float) -> float:
    """Return the natural logarithm, by a series of which each step is rounded in one way."""
    fraction, exponent = math.frexp(number)
    step = (fraction - 1) / (fraction + 1)
    square, total = step * step, 0.0
    for term in _TERMS:
        total = total * square + 1 / term
    return exponent * _LN2 + 2 * step * total
