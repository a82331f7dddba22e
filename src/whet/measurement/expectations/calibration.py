"""How good a person's guesses are: how far off on one side, and how often within their range.

The middle of the ratios is their median, not their mean: one guess that was a thousand times off
says little about the others. Its interval takes the ratios by their rank, so that it holds whatever
their distribution (Thompson 1936).
"""

import math
from collections.abc import Iterable, Sequence
from statistics import median

from whet.core.expectation import ExpectationKind
from whet.core.value_class import value_class
from whet.search.flaky.rates import Interval, wilson

CONFIDENCE = 0.95
_ADVISED_SHARE = 0.8


@value_class(kw_only=True)
class Guess:
    """A statement about a trial that has ended.

    Attributes:
        kind: what it is about.
        text: as its author wrote it.
        was_met: whether it came true.
        ratio: how many times the guess the number is; None: there were only bounds, or no number.
        place: the trial, in words.
    """

    kind: ExpectationKind
    text: str
    was_met: bool
    ratio: float | None = None
    place: str = ""


@value_class(kw_only=True)
class Bias:
    """By which factor guesses are off on one side.

    Attributes:
        middle: the median of the ratios; above 1: there was more than expected.
        count: how many guesses it comes from.
        interval: holds the true median at `CONFIDENCE`; None: there are too few guesses to say.
        advised: the factor each way, around a guess times `middle`, that would have held 8 of 10;
            None: there are too few guesses to say.
    """

    middle: float
    count: int
    interval: Interval | None
    advised: float | None

    @property
    def is_sure(self) -> bool:
        """Whether the guesses are off on one side, and not by chance."""
        return self.interval is not None and not self.interval.low <= 1 <= self.interval.high


@value_class(kw_only=True)
class Calibration:
    """How good the guesses of one kind are.

    Attributes:
        kind: what they are about.
        stated: how many there are.
        met: how many of them came true.
        share: holds the true share of those at `CONFIDENCE`.
        bias: how far off they are on one side; None: none of them names a value.
        furthest: the guess that is off by the largest factor; None: none of them names a value.
    """

    kind: ExpectationKind
    stated: int
    met: int
    share: Interval
    bias: Bias | None
    furthest: Guess | None


def calibrations(guesses: Iterable[Guess]) -> tuple[Calibration, ...]:
    """Return how good guesses are, for each kind that there is."""
    of_kind: dict[ExpectationKind, list[Guess]] = {}
    for each in guesses:
        of_kind.setdefault(each.kind, []).append(each)
    return tuple(_calibration(kind, of_kind[kind]) for kind in ExpectationKind if kind in of_kind)


def _calibration(kind: ExpectationKind, guesses: Sequence[Guess]) -> Calibration:
    met = sum(each.was_met for each in guesses)
    rated = [(each.ratio, each) for each in guesses if each.ratio is not None]
    furthest = max(rated, key=lambda pair: abs(math.log(pair[0])), default=None)
    return Calibration(
        kind=kind,
        stated=len(guesses),
        met=met,
        share=wilson(met, len(guesses), CONFIDENCE),
        bias=bias_of([ratio for ratio, _ in rated]) if rated else None,
        furthest=None if furthest is None else furthest[1],
    )


def bias_of(ratios: Sequence[float]) -> Bias:
    """Return by which factor guesses are off, from observed / expected of each."""
    logs = sorted(map(math.log, ratios))
    middle = median(logs)
    rank = _rank(len(logs))
    if rank is None:
        return Bias(middle=math.exp(middle), count=len(logs), interval=None, advised=None)
    away = sorted(abs(each - middle) for each in logs)
    advised = away[math.ceil(_ADVISED_SHARE * len(away)) - 1]
    return Bias(
        middle=math.exp(middle),
        count=len(logs),
        interval=Interval(math.exp(logs[rank]), math.exp(logs[-1 - rank])),
        advised=math.exp(advised),
    )


def _rank(count: int) -> int | None:
    """Return how many values from either end the interval of the median begins; None: too few."""
    chance, rank = 0.0, None
    for place in range(count // 2):
        chance += 2 * math.comb(count, place) / 2**count
        if chance > 1 - CONFIDENCE:
            break
        rank = place
    return rank
