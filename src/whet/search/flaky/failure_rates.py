"""What runs say about two rates: how often a bad version fails, and how often a good one does.

Both may be known or not. Unknown ones are numbers on a grid with a weight each (the prior), and
what is wanted of them is summed over the grid: the chance of the runs that were seen, and of a
failure in the next one. A good version fails more rarely than a bad one, so of the pairs of
rates only those count that obey it. Many failures never come on the good side at all, and many
come each time on the bad side: both ends of the grid have a weight of their own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from operator import mul
from typing import NamedTuple

_SURELY = 1e-6
"""Nothing is certain: whet takes a rate of 0 for this, and one of 1 for as little below 1."""

_NEVER_FAILS_WHEN_GOOD = 0.1
"""The weight of "a good version never fails" before the first run."""

_ALWAYS_FAILS_WHEN_BAD = 0.1
"""The weight of "a bad version always fails" before the first run."""

_GRID = (
    0.005, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.135, 0.17, 0.21, 0.25, 0.3, 0.35, 0.4, 0.45,
    0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.94, 0.97, 0.99,
)  # fmt: skip


class Runs(NamedTuple):
    """How many runs failed and passed."""

    failed: int = 0
    passed: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.failed + self.passed

    def plus(self, *, failed: bool) -> "Runs":
        """Return them with one more."""
        if failed:
            return Runs(self.failed + 1, self.passed)
        return Runs(self.failed, self.passed + 1)


@dataclass(slots=True)
class FailureRates:
    """The two rates, as weights over pairs of numbers.

    Attributes:
        when_bad: rates of a bad version with their weights, ascending.
        when_good: the same of a good one.
    """

    when_bad: Sequence[tuple[float, float]]
    when_good: Sequence[tuple[float, float]]

    _lower: list[int] = field(init=False)
    _bad: dict[Runs, tuple[float, list[float]]] = field(init=False)
    _good: dict[Runs, tuple[float, list[float]]] = field(init=False)
    _chances: dict[tuple[Runs, Runs], float] = field(init=False)

    def __post_init__(self) -> None:
        good = [rate for rate, _ in self.when_good]
        # How many of the good side's rates lie below each of the bad side's.
        self._lower = [sum(low < rate for low in good) for rate, _ in self.when_bad]
        self._bad, self._good, self._chances = {}, {}, {}
        if not any(self._lower):
            raise ValueError("a bad version must fail more often than a good one")

    @classmethod
    def of(cls, when_bad: float | None = None, when_good: float | None = None) -> "FailureRates":
        """Return known rates, or what is thought of unknown ones before the first run.

        Raises:
            ValueError: if a bad version would not fail more often than a good one.
        """
        return cls(
            _always() if when_bad is None else [(_clipped(when_bad), 1.0)],
            _never() if when_good is None else [(_clipped(when_good), 1.0)],
        )

    @classmethod
    def likely_steady(
        cls, share: float, *, else_at: float | None = None, is_fix: bool = False
    ) -> "FailureRates":
        """Return what is thought of a failure that came each time so far.

        What passes is known to do so each time; what fails does so each time with the
        probability ``share``, else at another rate.

        Args:
            share: from 0 to 1.
            else_at: the other rate; None: nothing is known of it.
            is_fix: it is the good versions that fail: "bad" is what passes.
        """
        rest = 1 - share
        sometimes = _spread(rest) if else_at is None else [(_clipped(else_at), rest)]
        failing = [*sometimes, (1 - _SURELY, share)]
        if not is_fix:
            return cls(failing, [(_SURELY, 1.0)])
        return cls([(1 - _SURELY, 1.0)], [(1 - rate, weight) for rate, weight in failing[::-1]])

    def log_chance(self, bad: Runs, good: Runs) -> float:
        """Return the logarithm of the chance of such runs on bad and on good versions."""
        known = self._chances.get((bad, good))
        if known is None:
            bad_scale, by_bad = self._likelihoods(bad, self.when_bad, self._bad)
            good_scale, by_good = self._cumulated(good)
            total = sum(map(mul, by_bad, map(by_good.__getitem__, self._lower)))
            known = bad_scale + good_scale + math.log(total) if total else -math.inf
            self._chances[bad, good] = known
        return known

    def next_fails(self, bad: Runs, good: Runs) -> tuple[float, float]:
        """Return the chances that the next run fails on a bad and on a good version."""
        now = self.log_chance(bad, good)
        if now == -math.inf:
            return 1.0, 0.0
        return (
            math.exp(self.log_chance(bad.plus(failed=True), good) - now),
            math.exp(self.log_chance(bad, good.plus(failed=True)) - now),
        )

    def _cumulated(self, good: Runs) -> tuple[float, list[float]]:
        """Return the sums of the good side's likelihoods up to each rate."""
        known = self._good.get(good)
        if known is None:
            scale, each = self._likelihoods(good, self.when_good, {})
            known = self._good[good] = scale, list(accumulate(each, initial=0.0))
        return known

    @staticmethod
    def _likelihoods(
        runs: Runs,
        rates: Sequence[tuple[float, float]],
        known: dict[Runs, tuple[float, list[float]]],
    ) -> tuple[float, list[float]]:
        """Return the weight times the chance of ``runs`` for each rate, and their common scale."""
        if runs not in known:
            logs = [
                math.log(weight) + runs.failed * math.log(rate) + runs.passed * math.log1p(-rate)
                for rate, weight in rates
            ]
            scale = max(logs)
            known[runs] = scale, [math.exp(each - scale) for each in logs]
        return known[runs]


def _clipped(rate: float) -> float:
    return min(max(rate, _SURELY), 1 - _SURELY)


def _spread(weight: float) -> list[tuple[float, float]]:
    """Return the grid with a weight that is even over the rates, together ``weight``."""
    borders = [0.0, *((low + high) / 2 for low, high in pairwise(_GRID)), 1.0]
    widths = [high - low for low, high in pairwise(borders)]
    return [(rate, weight * width) for rate, width in zip(_GRID, widths, strict=True)]


def _always() -> list[tuple[float, float]]:
    surely = (1 - _SURELY, _ALWAYS_FAILS_WHEN_BAD)
    return [*_spread(1 - _ALWAYS_FAILS_WHEN_BAD), surely]


def _never() -> list[tuple[float, float]]:
    """Return rates of the good side: the rarer, the likelier (each octave weighs the same)."""
    rarely = [(rate, weight / rate) for rate, weight in _spread(1.0)]
    total = sum(weight for _, weight in rarely)
    share = 1 - _NEVER_FAILS_WHEN_GOOD
    return [
        (_SURELY, _NEVER_FAILS_WHEN_GOOD),
        *((rate, share * weight / total) for rate, weight in rarely),
    ]
