"""An executor that records each trial before it starts and after it has ended."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace

from whet.core.executor import Executor
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.execution.futures import TrialFuture


@value_class
class RecordingExecutor:
    """Records each trial around another executor.

    The future's ``number`` is the trial's number at once. The outcome is written down before
    anyone sees it; a trial given up is written down as interrupted. One that could not be
    started has a row without an end, as one that whet was killed in: there is no outcome.

    Attributes:
        inner: runs the trials.
        begin: writes a row and returns the trial's number; called by the submitting thread.
        finish: writes the outcome; called by any thread. If it raises, so does the future.
    """

    inner: Executor
    begin: Callable[[Trial], int]
    finish: Callable[[int, Trial, Outcome], None]

    def submit(self, trial: Trial, /) -> TrialFuture:
        """Write ``trial`` down and start it."""
        number = self.begin(trial)
        running = self.inner.submit(trial)
        recorded = TrialFuture(running.cancel)
        recorded.number = number
        running.add_done_callback(lambda ended: self._record(number, trial, ended, recorded))
        return recorded

    def _record(
        self, number: int, trial: Trial, future: Future[Outcome], recorded: TrialFuture
    ) -> None:
        try:
            if future.cancelled():
                self.finish(number, trial, replace(Outcome(), exit_code=None, interrupted=True))
            elif future.exception() is None:
                self.finish(number, trial, future.result())
        except Exception as error:  # noqa: BLE001 - any other way it would be lost: callbacks have no caller
            recorded.fail(error)
        else:
            recorded.follow(future)
