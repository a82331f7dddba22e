"""Which of many numbers stands out from the others, so that a sentence can say how."""

import math
from collections.abc import Sequence

from whet.core.value_class import value_class

_LEAST_OTHERS = 5
_TIMES = 4.0
"""A number that stands out is farther from the others than they are from each other, and so many times as large or small."""


@value_class
class Odd:
    """A number that stands out.

    Attributes:
        place: which of the numbers it is.
        least, most: between which numbers all others lie.
    """

    place: int
    least: float
    most: float


def odd_in(numbers: Sequence[float]) -> Odd | None:
    """Return the only number that stands out: by its size, or by its sign; None: none does, or several do."""
    order = sorted(range(len(numbers)), key=lambda place: numbers[place])
    if len(order) <= _LEAST_OTHERS:
        return None
    found: list[Odd] = []
    for place, others in ((order[-1], order[:-1]), (order[0], order[1:])):
        odd = Odd(place, numbers[others[0]], numbers[others[-1]])
        if _is_away(numbers[place], odd.least, odd.most):
            found.append(odd)
    return found[0] if len(found) == 1 else None


def _is_away(number: float, least: float, most: float) -> bool:
    width, away = most - least, max(number - most, least - number)
    if away <= 0:
        return False
    if least >= 0 > number or most <= 0 < number:  # the only one of its sign
        return True
    sizes = [abs(least), abs(most)]
    is_times = abs(number) >= _TIMES * max(sizes) or abs(number) * _TIMES <= min(sizes)
    if is_times and away > width:
        return True
    if least > 0 and number > 0:  # far smaller or larger, among numbers that differ by factors
        # Differences, as a quotient of tiny numbers can be zero.
        low, high, own = map(math.log, (least, most, number))
        spread, far = high - low, max(own - high, low - own)
        return is_times and far > max(spread, math.log(_TIMES))
    return False
