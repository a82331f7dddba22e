"""An executor that runs no trial twice."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field

from whet.core.executor import Executor
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.execution.futures import TrialFuture


@dataclass(slots=True)
class _Flight:
    """A trial that runs now, and all who wait for it."""

    running: Future[Outcome]
    waiting: list[TrialFuture] = field(default_factory=list[TrialFuture])


class CachingExecutor:
    """Answers a trial that was run before from memory, and runs identical ones once.

    Two trials with the same key that are wanted at the same time share one run; it is given
    up when each of them is cancelled.

    Attributes:
        hits: how many trials were answered without being run.
    """

    def __init__(self, inner: Executor, find: Callable[[Trial], Outcome | None]) -> None:
        """Put a memory around an executor.

        Args:
            inner: runs the trials.
            find: returns the outcome of an earlier run of the same trial, or None.
        """
        self.hits = 0
        self._inner = inner
        self._find = find
        self._flights: dict[str, _Flight] = {}
        # Reentrant: a trial may end, and call back, inside the `submit` that started it.
        self._lock = threading.RLock()

    def submit(self, trial: Trial, /) -> TrialFuture:
        """Answer ``trial``: from memory, from a run under way, or by running it."""
        key = trial.key
        with self._lock:
            flight = self._flights.get(key)
            if flight is None:
                outcome = self._find(trial)
                # One given up says nothing about the trial.
                if outcome is not None and not outcome.interrupted:
                    return self._remembered(outcome)
                flight = self._flights[key] = _Flight(self._inner.submit(trial))
                waiting = self._join(flight, key)
                flight.running.add_done_callback(lambda _: self._land(key, flight))
            else:
                self.hits += 1
                waiting = self._join(flight, key)
                waiting.was_cached = True
        return waiting

    def _remembered(self, outcome: Outcome) -> TrialFuture:
        self.hits += 1
        future = TrialFuture()
        future.was_cached = True
        future.settle(outcome)
        return future

    def _join(self, flight: _Flight, key: str) -> TrialFuture:
        waiting = TrialFuture(lambda: self._leave(key, flight, waiting))
        waiting.number = getattr(flight.running, "number", None)
        flight.waiting.append(waiting)
        return waiting

    def _leave(self, key: str, flight: _Flight, waiting: TrialFuture) -> None:
        with self._lock:
            flight.waiting = [other for other in flight.waiting if other is not waiting]
            is_wanted = bool(flight.waiting)
            if not is_wanted and self._flights.get(key) is flight:
                del self._flights[key]  # the next caller starts it again
        if not is_wanted:
            flight.running.cancel()

    def _land(self, key: str, flight: _Flight) -> None:
        with self._lock:
            if self._flights.get(key) is flight:
                del self._flights[key]
            waiting, flight.waiting = flight.waiting, []
        for one in waiting:
            one.follow(flight.running)
