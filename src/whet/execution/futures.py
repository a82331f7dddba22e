"""Futures whose `cancel` also stops a running trial."""

from collections.abc import Callable
from concurrent.futures import Future

from whet.core.outcome import Outcome


class TrialFuture(Future[Outcome]):
    """The outcome of a trial to come.

    `concurrent.futures` can't cancel a running call. So this one counts as pending for its
    base class until the outcome is there: `cancel` then works at any moment before.

    Attributes:
        number: the trial's number in the notebook; None if it isn't recorded.
        was_cached: the outcome comes from an earlier run.
    """

    number: int | None = None
    was_cached: bool = False

    def __init__(self, end: Callable[[], object] | None = None) -> None:
        """Make a future.

        Args:
            end: called once when it is cancelled, to end what runs for it; must not block.
        """
        super().__init__()
        self._end = end
        self._is_running = False

    def cancel(self) -> bool:
        """Give the trial up, running or not; say whether it is cancelled now."""
        was_cancelled = self.cancelled()
        is_cancelled = super().cancel()
        if is_cancelled and not was_cancelled and self._end is not None:
            self._end()
        return is_cancelled

    def running(self) -> bool:
        """Whether the trial runs now."""
        return self._is_running and not self.done()

    def begin(self) -> bool:
        """Note that the trial starts; False if it is no longer wanted."""
        self._is_running = not self.cancelled()
        return self._is_running

    def settle(self, outcome: Outcome) -> None:
        """Give the outcome to the waiting caller, unless it was cancelled."""
        if self.set_running_or_notify_cancel():
            self.set_result(outcome)

    def fail(self, error: BaseException) -> None:
        """Give an error to the waiting caller, unless it was cancelled."""
        if self.set_running_or_notify_cancel():
            self.set_exception(error)

    def follow(self, other: Future[Outcome]) -> None:
        """End as ``other`` has ended."""
        if other.cancelled():
            super().cancel()
            self.set_running_or_notify_cancel()
        elif (error := other.exception()) is not None:
            self.fail(error)
        else:
            self.settle(other.result())
