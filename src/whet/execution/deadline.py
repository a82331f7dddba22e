"""An executor that starts no trial after a deadline, and stops a trial that runs past it."""

import time
from concurrent.futures import Future
from dataclasses import replace

from whet.core.budget import OutOfTimeError
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.execution.caching import CachingExecutor
from whet.execution.futures import TrialFuture
from whet.execution.recording import RecordingExecutor

_LEAST_SECONDS = 0.05


@value_class
class DeadlineExecutor:
    """Runs trials around another executor, up to a moment.

    A trial that is killed there has shown nothing: its future raises `OutOfTimeError`.

    Attributes:
        inner: runs the trials.
        deadline: the moment, in seconds of `time.monotonic`.
    """

    inner: RecordingExecutor | CachingExecutor
    deadline: float

    def submit(self, trial: Trial, /) -> TrialFuture:
        """Start ``trial`` with no more time than there is.

        Raises:
            OutOfTimeError: if there is none.
        """
        left = self.deadline - time.monotonic()
        if left < _LEAST_SECONDS:
            raise OutOfTimeError
        asked = trial.limits.wall_seconds
        if asked is not None and asked <= left:
            return self.inner.submit(trial)
        limited = replace(trial, limits=replace(trial.limits, wall_seconds=left))
        running = self.inner.submit(limited)
        ended = TrialFuture(running.cancel)
        ended.number, ended.was_cached = running.number, running.was_cached
        running.add_done_callback(lambda done: _follow(ended, done))
        return ended


def _follow(ended: TrialFuture, done: Future[Outcome]) -> None:
    is_cut = not done.cancelled() and done.exception() is None and done.result().timed_out
    if is_cut and done.result().hung_seconds is None:
        ended.fail(OutOfTimeError())
    else:
        ended.follow(done)
