"""A search that makes the payload smaller and no trial more expensive, in seconds or in a measured number."""

from dataclasses import dataclass

from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.verdict import Verdict

SECONDS = "seconds"

_NOISE = 1.1
"""How much the times of two equal runs differ."""

_LEAST_SECONDS = 0.02


@dataclass(slots=True)
class NoCostlier:
    """BAD means what another oracle says, and that a number doesn't rise.

    Attributes:
        inner: says which failure it is.
        name: the number: `SECONDS`, or one that the program reports.
        most: the number of the best payload so far.
    """

    inner: Oracle
    name: str
    most: float

    @property
    def description(self) -> str:
        """What BAD means."""
        return f"{self.inner.description}, with no more {self.name}"

    def judge(self, outcome: Outcome, /) -> Verdict:
        """Say what ``outcome`` proves: one that fails but costs more proves nothing."""
        verdict = self.inner.judge(outcome)
        if verdict is not Verdict.BAD:
            return verdict
        number = self.number_of(outcome)
        most = self.most
        if self.name == SECONDS:
            most = max(self.most * _NOISE, self.most + _LEAST_SECONDS)
        return Verdict.BAD if number is not None and number <= most else Verdict.SKIP

    def number_of(self, outcome: Outcome) -> float | None:
        """Return the number; None if the program did not report it."""
        if self.name == SECONDS:
            return outcome.wall_seconds
        return outcome.measurements.get(self.name)

    def lower_to(self, outcome: Outcome) -> None:
        """Note that the trial of the best payload costs this much now."""
        number = self.number_of(outcome)
        if number is not None:
            self.most = min(self.most, number)
