"""What a number of runs says about how often something fails.

The interval is Wilson's (1927), the score interval: it keeps its promise for few runs and for
rates near 0 and 1, where the textbook's own doesn't (Brown, Cai and DasGupta 2001).
"""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.proposal import Search
from whet.search.round import Round


@value_class
class Interval:
    """Between which rates the true one lies."""

    low: float
    high: float

    @property
    def half_width(self) -> float:
        """How far its ends lie from its middle."""
        return (self.high - self.low) / 2


def wilson(failed: int, runs: int, confidence: float) -> Interval:
    """Return the interval that holds the true rate with this confidence."""
    if runs == 0:
        return Interval(0.0, 1.0)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rate, weight = failed / runs, z * z / runs
    middle = (rate + weight / 2) / (1 + weight)
    reach = z * math.sqrt(rate * (1 - rate) / runs + weight / (4 * runs)) / (1 + weight)
    return Interval(
        0.0 if failed == 0 else max(middle - reach, 0.0),
        1.0 if failed == runs else min(middle + reach, 1.0),
    )


def passes_to_be_sure(rate: float, confidence: float) -> int | None:
    """Return how many passes in a row show a fix of a failure with this ``rate``.

    Without a fix, that many passes have a probability of at most 1 - ``confidence``.
    None: no number of runs is enough, as it never fails.
    """
    if rate <= 0:
        return None
    if rate >= 1:
        return 1
    return math.ceil(math.log(1 - confidence) / math.log1p(-rate))


def chance_of_no_difference(more: tuple[int, int], fewer: tuple[int, int]) -> float:
    """Return how likely two rates that are equal would look so different, or more so.

    Fisher's exact test (1922), one-sided: how many of the failures fall to the first of two
    groups of runs, if chance alone deals them out.

    Args:
        more: failures and runs of the group that should fail more often.
        fewer: failures and runs of the other one.
    """
    (failed, runs), (others, other_runs) = more, fewer
    failures = failed + others
    deals = math.comb(runs + other_runs, failures)
    return sum(
        math.comb(runs, each) * math.comb(other_runs, failures - each) / deals
        for each in range(failed, min(runs, failures) + 1)
    )


@value_class(kw_only=True)
class Enough:
    """When something was run often enough.

    Attributes:
        most: largest number of runs; None: no limit.
        at_failure: the first failure ends it.
        sure: the rate is known with this confidence to within ``within``; None: that isn't asked.
        within: half the width of that interval.
    """

    most: int | None
    at_failure: bool = False
    sure: float | None = None
    within: float = 0.1

    def more(self, verdicts: Sequence[Verdict], at_once: int) -> int:
        """Return how many runs to start next; 0: it is enough."""
        failed, judged = verdicts.count(Verdict.BAD), len(verdicts) - verdicts.count(Verdict.SKIP)
        if self.at_failure and failed:
            return 0
        if self.sure is not None and wilson(failed, judged, self.sure).half_width <= self.within:
            return 0
        left = None if self.most is None else self.most - len(verdicts)
        if left is not None and not self.at_failure and self.sure is None:
            return left
        return at_once if left is None else min(at_once, left)


def repeating(more: Callable[[Sequence[Verdict]], int]) -> Search[int, tuple[Verdict, ...]]:
    """Propose runs by their number until ``more`` of what they did says that none is wanted."""
    verdicts: list[Verdict] = []
    while (count := more(verdicts)) > 0:
        batch = Round(range(len(verdicts), len(verdicts) + count))
        verdicts.extend((yield batch))
    return tuple(verdicts)
