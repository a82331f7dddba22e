"""What the pairs of runs so far say: is B different from A, alike, or is it too early to say?"""

import math
from collections.abc import Sequence
from enum import Enum
from statistics import median

from whet.core.value_class import value_class
from whet.measurement.comparison.evidence import Effect, effect_of, is_ruled_out, middle
from whet.measurement.comparison.order import Order

LEAST_PAIRS = 7
"""With fewer coins even the same side each time may be chance."""


class Ruling(Enum):
    """What the runs say about a quantity."""

    DIFFERENT = "different"
    ALIKE = "alike"


@value_class(kw_only=True)
class Sample:
    """What a quantity was in each pair of runs.

    Attributes:
        name: of the quantity.
        a: in the runs of A, in the order of the pairs.
        b: in the runs of B.
    """

    name: str
    a: tuple[float, ...]
    b: tuple[float, ...]

    @property
    def is_ratio(self) -> bool:
        """Whether the arms are compared by their ratio: all values are above zero."""
        return all(each > 0 for each in (*self.a, *self.b))

    @property
    def differences(self) -> tuple[float, ...]:
        """By how much B is above A in each pair: the logarithm of the ratio, or the difference."""
        return self._between(self.a, self.b)

    def control(self, order: Order) -> tuple[float, ...]:
        """Return by how much an arm differs from itself, once for each arm in each block of two pairs."""
        found: list[float] = []
        for arm, values in enumerate((self.a, self.b)):
            for block in range(len(values) // 2):
                first, second = values[2 * block : 2 * block + 2]
                if order.is_swapped(2 * block + arm):
                    first, second = second, first
                found += self._between((first,), (second,))
        return tuple(found)

    def amount(self, share: float) -> float:
        """Return a share of A's usual value on the scale of the differences."""
        if self.is_ratio:
            return math.log1p(share)
        return share * median(map(abs, self.a)) if self.a else 0.0

    def ruling(self, chance: float, smallest: float) -> Ruling | None:
        """Return what the pairs say; None: more are needed.

        Args:
            chance: of a wrong answer.
            smallest: the smallest difference that matters, as a share.
        """
        differences = self.differences
        if len(differences) < LEAST_PAIRS:
            return None
        if is_ruled_out(differences, 0.0, chance):
            return Ruling.DIFFERENT
        if not any(differences):
            return Ruling.ALIKE
        amount = self.amount(smallest)
        if any(not is_ruled_out(differences, end, chance) for end in (-amount, amount)):
            return None
        return Ruling.ALIKE if -amount < middle(differences) < amount else None

    def is_above(self, share: float, chance: float) -> bool | None:
        """Return whether B is above A by more than a share; None: more pairs are needed."""
        differences = self.differences
        amount = self.amount(share)
        if len(differences) < LEAST_PAIRS or not is_ruled_out(differences, amount, chance):
            return None
        return middle(differences) > amount

    def effect(self, chance: float) -> Effect:
        """Return the difference as a share of A (0.03: B is 3 % above), or absolute, with its interval."""
        return self._shown(effect_of(self.differences, chance))

    def own_effect(self, order: Order, chance: float) -> Effect | None:
        """Return the same for the control; None: there is none yet."""
        control = self.control(order)
        return self._shown(effect_of(control, chance)) if control else None

    def _between(self, one: Sequence[float], other: Sequence[float]) -> tuple[float, ...]:
        pairs = zip(one, other, strict=True)
        if self.is_ratio:
            return tuple(math.log(second / first) for first, second in pairs)
        return tuple(second - first for first, second in pairs)

    def _shown(self, effect: Effect) -> Effect:
        if not self.is_ratio:
            return effect
        return Effect(*(_share(each) for each in (effect.best, effect.low, effect.high)))


def pairs_for(effect: Effect, pairs: int, smallest: float) -> int | None:
    """Return how many pairs would show a difference of this share; None: too few ran to say.

    The width of an interval falls with the root of the number of pairs.
    """
    half = (effect.high - effect.low) / 2
    if not math.isfinite(half) or smallest <= 0:
        return None
    return max(pairs, math.ceil(pairs * (half / smallest) ** 2))


def _share(logarithm: float) -> float:
    if logarithm == math.inf:
        return math.inf
    return math.expm1(min(logarithm, 700.0))  # e to 710 is no float
