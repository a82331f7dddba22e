"""When a search must end, and why it ended."""

from enum import Enum

from whet.core.value_class import value_class


@value_class(kw_only=True)
class Budget:
    """When a search must end.

    Attributes:
        wall_seconds: time after which no new trial starts; None: no limit.
        trials: no more trials than this; None: no limit.
    """

    wall_seconds: float | None = None
    trials: int | None = None

    def less(self, wall_seconds: float, trials: int) -> "Budget":
        """Return what is left after this much is spent."""
        return Budget(
            wall_seconds=None if self.wall_seconds is None else self.wall_seconds - wall_seconds,
            trials=None if self.trials is None else self.trials - trials,
        )


class OutOfTimeError(Exception):
    """No time is left for a trial, or the end of the time cut it short."""


class StopReason(Enum):
    """Why a search ended. Shown to the user and stored in the notebook."""

    MINIMAL = "no candidate smaller than this fails the same way"
    OTHER_CAUSE = "smaller files fail for another cause"
    RARER = "no candidate smaller than this fails often enough"
    TRIVIAL = "trivial: it fails with no content and with other content"
    FRUITLESS = "unknown format: 200 trials in a row gained less than 1 %"
    FOUND = "found the first bad version"
    AMBIGUOUS = "only skipped versions are left to test"
    MEASURED = "made all runs"
    DONE = "took all its steps"
    NO_GOOD_VERSION = "no good version was found"
    THRESHOLD = "found the smallest amount that is enough"
    SMALLEST = "found the smallest number that fails"
    NO_FAILURE = "no number that was tried fails"
    OUT_OF_TIME = "the time budget is used up"
    OUT_OF_TRIALS = "the trial budget is used up"
    INTERRUPTED = "stopped by Ctrl-C"

    @property
    def is_answer(self) -> bool:
        """Whether a search for one version has found it: exit code 0, not 75."""
        return self.is_complete and self not in {StopReason.AMBIGUOUS, StopReason.NO_GOOD_VERSION}

    @property
    def is_complete(self) -> bool:
        """Whether the search ran to its own end, so that more time would not help."""
        return self in {
            StopReason.MINIMAL,
            StopReason.OTHER_CAUSE,
            StopReason.RARER,
            StopReason.TRIVIAL,
            StopReason.FRUITLESS,
            StopReason.FOUND,
            StopReason.AMBIGUOUS,
            StopReason.MEASURED,
            StopReason.DONE,
            StopReason.NO_GOOD_VERSION,
            StopReason.THRESHOLD,
            StopReason.SMALLEST,
            StopReason.NO_FAILURE,
        }
