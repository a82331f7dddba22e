"""A test that may look after every pair, and stop when it is sure: betting on the signs of differences.

If the true difference is ``effect``, each observed one lies above or below it with equal chance, by the
coin that decided which arm ran first. A gambler who bets on the signs at fair odds then wins nothing in
the long run: the chance that their stake of 1 ever becomes 1/c is at most c (Ville 1939), however often
one looks and whenever one stops. What the gambler owns is the evidence against ``effect``; all effects
against which there is less than 1/c form an interval that misses the true one with a chance of at most c, at any time.

The stake on a sign grows with the size of the difference, as a share of what is usual so far: sizes are
known before the sign and may be used. They are cut at twice the usual, so that a run during which the
machine did something else can't outweigh the others. Per sign, exp(λu)/cosh(λu) is a fair bet
(de la Peña 1999; Howard, Ramdas, McAuliffe and Sekhon 2021).
"""

import math
from bisect import insort
from collections.abc import Sequence

from whet.core.value_class import value_class

STAKES = (0.3, 0.8, 2.0)
"""How much is staked on a sign, by equal parts of the money: little for small effects in much noise."""

_MOST_USUAL = 2.0
_DOUBLINGS = 60
_HALVINGS = 24


@value_class
class Effect:
    """A difference between two arms.

    Attributes:
        best: the likeliest value.
        low: the lower end of the interval.
        high: the upper end; infinite while too few pairs were run to bound it.
    """

    best: float
    low: float
    high: float


def log_evidence(differences: Sequence[float], effect: float) -> float:
    """Return the logarithm of the evidence that the true difference isn't ``effect``."""
    own = [0.0] * (2 * len(STAKES))
    sizes: list[float] = []
    for difference in differences:
        distance = difference - effect
        size = abs(distance)
        insort(sizes, size)
        usual = _median(sizes)
        if not size:
            continue  # it lies on neither side
        share = min(_MOST_USUAL, size / usual) if usual else _MOST_USUAL
        for place, stake in enumerate(STAKES):
            bet = stake * share
            fair = _log_cosh(bet)
            gain = bet if distance > 0 else -bet
            own[2 * place] += gain - fair
            own[2 * place + 1] += -gain - fair
    most = max(own)
    return most + math.log(sum(math.exp(each - most) for each in own) / len(own))


def is_ruled_out(differences: Sequence[float], effect: float, chance: float) -> bool:
    """Whether the true difference isn't ``effect``; that is wrong with at most this chance."""
    return log_evidence(differences, effect) >= -math.log(chance)


def effect_of(differences: Sequence[float], chance: float) -> Effect:
    """Return the difference, with an interval that misses the true one with at most this chance."""
    best = middle(differences)
    distances = sorted(abs(each - best) for each in differences)
    spread = distances[-1] if distances else 0.0
    step = (_median(distances) if distances else 0.0) or spread or abs(best) * 1e-9 or 1e-12
    return Effect(
        best, best - _reach(differences, best, -step, chance), best + _reach(differences, best, step, chance)
    )  # fmt: skip


def middle(differences: Sequence[float]) -> float:
    """Return the middle of the differences: the median of the means of all two (Hodges, Lehmann 1963)."""
    count = len(differences)
    means = sorted(
        (differences[one] + differences[other]) / 2
        for one in range(count)
        for other in range(one, count)
    )
    return _median(means) if means else 0.0


def _reach(differences: Sequence[float], best: float, step: float, chance: float) -> float:
    """Return how far from ``best`` a difference must be to be ruled out, in the direction of ``step``."""
    inside, outside = 0.0, step
    for _ in range(_DOUBLINGS):
        if is_ruled_out(differences, best + outside, chance):
            break
        inside, outside = outside, 2 * outside
    else:
        return math.inf
    for _ in range(_HALVINGS):
        half = (inside + outside) / 2
        if is_ruled_out(differences, best + half, chance):
            outside = half
        else:
            inside = half
    return abs(outside)


def _log_cosh(value: float) -> float:
    return value + math.log1p(math.exp(-2 * value)) - math.log(2)


def _median(ordered: Sequence[float]) -> float:
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
