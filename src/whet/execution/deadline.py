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
        """Start ``trial`` with at most the time that is left.

        Raises:
            OutOfTimeError: if there is none.
        """
        left = self.deadline - time.monotonic()
        if left < _LEAST_SECONDS:
            raise OutOfTimeError
        own_limit = trial.limits.wall_seconds
        if own_limit is not None and own_limit <= left:
            return self.inner.submit(trial)
        limited = replace(trial, limits=replace(trial.limits, wall_seconds=left))
        running = self.inner.submit(limited)
        future = TrialFuture(running.cancel)
        future.number, future.was_cached = running.number, running.was_cached
        running.add_done_callback(lambda done: _follow(future, done))
        return future


def _follow(future: TrialFuture, inner: Future[Outcome]) -> None:
    is_cut = not inner.cancelled() and inner.exception() is None and inner.result().timed_out
    if is_cut and inner.result().hung_seconds is None:
        future.fail(OutOfTimeError())
    else:
        future.follow(inner)
