"""Running a trial in a place of its own: a checkout of a revision, an environment of a release."""

import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TypeAlias

from whet.core.executor import Executor
from whet.core.outcome import Outcome
from whet.core.trial import Trial

Prepare: TypeAlias = Callable[[Trial], AbstractContextManager[Trial]]
"""Makes the place of a trial and gives the trial that runs there; may raise a `WhetError`."""


class _PlacedFuture(Future[Outcome]):
    """A trial whose place is being made, or that runs there."""

    def __init__(self) -> None:
        super().__init__()
        self._running: Future[Outcome] | None = None
        self._guard = threading.Lock()
        self._is_given_up = False

    def cancel(self) -> bool:
        """End the trial wherever it is, its process tree included."""
        with self._guard:
            self._is_given_up = True
            if self._running is not None:
                self._running.cancel()
        return super().cancel()

    def run(self, executor: Executor, trial: Trial) -> Outcome:
        """Run the placed trial unless it was given up meanwhile."""
        with self._guard:
            if self._is_given_up:
                raise CancelledError
            self._running = executor.submit(trial)
        return self._running.result()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacingExecutor:
    """An executor that makes a place for each trial, which may take seconds, and runs it there.

    Attributes:
        inner: runs the trial once its place is there.
        prepare: makes the place.
    """

    inner: Executor
    prepare: Prepare

    def submit(self, trial: Trial, /) -> Future[Outcome]:
        """Start to make the place, then the trial."""
        future = _PlacedFuture()
        # Not a pool: a search has few trials under way, and a daemon thread lets whet end.
        threading.Thread(target=self._run, args=(trial, future), daemon=True).start()
        return future

    def _run(self, trial: Trial, future: _PlacedFuture) -> None:
        try:
            with self.prepare(trial) as placed:
                outcome = future.run(self.inner, placed)
        except CancelledError:
            future.cancel()
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            if not future.cancelled():
                future.set_exception(error)
        else:
            if not future.cancelled():
                future.set_result(outcome)
