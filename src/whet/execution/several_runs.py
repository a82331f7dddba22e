"""An executor that answers a trial by several runs, for questions that a single run can't answer."""

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Protocol, TypeAlias

from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.execution.futures import TrialFuture

Answer: TypeAlias = Callable[[Trial, Callable[[Trial], Outcome]], Outcome]
"""Runs trials by its second argument, one after the other, and returns what they say together."""


class Recorded(Protocol):
    """An executor whose futures know their trial's number."""

    def submit(self, trial: Trial, /) -> TrialFuture:
        """Start ``trial``."""
        ...


@value_class
class SeveralRunsExecutor:
    """Answers trials through another executor that records each of the runs.

    The future has the number of the last run of the trial itself.

    Attributes:
        inner: runs the trials.
        answer: decides which runs there are, and what they say; called in a thread of its own.
    """

    inner: Recorded
    answer: Answer

    def submit(self, trial: Trial, /) -> TrialFuture:
        """Start the runs that answer ``trial``."""
        runs = _Runs(self.inner, trial)
        future = TrialFuture(runs.give_up)
        pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="whet-several-runs")
        answering = pool.submit(self.answer, trial, runs.run)
        answering.add_done_callback(lambda ended: _settle(future, runs, ended))
        pool.shutdown(wait=False)
        return future


def _settle(future: TrialFuture, runs: "_Runs", answering: Future[Outcome]) -> None:
    """Give the answer to the waiting caller, with the number of the trial's last run."""
    future.number = runs.number
    if isinstance(answering.exception(), CancelledError):
        future.cancel()
        future.set_running_or_notify_cancel()
    else:
        future.follow(answering)


class _Runs:
    """The runs that answer one trial; they may be given up."""

    def __init__(self, inner: Recorded, trial: Trial) -> None:
        self._inner = inner
        self._key = trial.untimed_key
        self._lock = threading.Lock()
        self._running: Future[Outcome] | None = None
        self._is_given_up = False
        self.number: int | None = None

    def run(self, trial: Trial) -> Outcome:
        """Run a trial and wait for it.

        Raises:
            CancelledError: if the runs were given up.
        """
        with self._lock:
            if self._is_given_up:
                raise CancelledError
            running = self._running = self._inner.submit(trial)
        outcome = running.result()
        if trial.untimed_key == self._key:
            self.number = running.number
        return outcome

    def give_up(self) -> None:
        """End the run that is under way, and start no more."""
        with self._lock:
            self._is_given_up = True
            running = self._running
        if running is not None:
            running.cancel()
