"""How often one thing is tried until it is likely enough whether it fails.

A failure that comes only sometimes has a rate. Two questions are asked of it: does it come at
all (one failure answers that; many passes in a row answer it the other way), and does it come at
least at some rate. The second is Wald's sequential probability ratio test (1945) between two rates,
the floor and a rate well above it: it ends as soon as the runs so far speak clearly for one.
"""

import math

from whet.core.value_class import value_class

_ACCEPTS_TOO_RARE = 0.01
"""The chance to accept a failure that is as rare as the floor."""

_REJECTS_FREQUENT = 0.05
"""The chance to reject a failure that is frequent enough; that costs size, not truth."""

_SURELY = 0.9
_MOST_RUNS = 100

_ACCEPT = math.log((1 - _REJECTS_FREQUENT) / _ACCEPTS_TOO_RARE)
_REJECT = math.log(_REJECTS_FREQUENT / (1 - _ACCEPTS_TOO_RARE))


@value_class(kw_only=True)
class Repeats:
    """When it is known whether something fails.

    Attributes:
        most: with no floor: number of runs without a failure that show that it doesn't fail.
        floor: what fails more rarely than this counts as not failing; 0: one failure is enough.
    """

    most: int = 1
    floor: float = 0.0

    def fails(self, failures: int, others: int) -> bool | None:
        """Return whether it fails, after these runs; None: it must run once more."""
        if self.floor <= 0:
            if failures:
                return True
            return False if others >= self.most else None
        hoped = min(_SURELY, 2 * self.floor)
        if self.floor >= hoped:
            hoped = (1 + self.floor) / 2
        evidence = failures * math.log(hoped / self.floor)
        evidence += others * math.log((1 - hoped) / (1 - self.floor))
        if evidence >= _ACCEPT:
            return True
        return False if evidence <= _REJECT or failures + others >= _MOST_RUNS else None
