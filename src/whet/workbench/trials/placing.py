"""Running a trial in its own place: a checkout of a revision, an environment of a release."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from typing import TypeAlias

from whet.core.executor import Executor
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.execution.futures import TrialFuture
from whet.host.kernel.daemon_thread import DaemonThread
from whet.host.process.tool import end_tools_of

_LOOK_SECONDS = 0.05  # a thread may call one tool after another

Prepare: TypeAlias = Callable[[Trial], AbstractContextManager[Trial]]
"""Makes the place of a trial and gives the trial that runs there; may raise a `WhetError`."""


@value_class(kw_only=True)
class PlacingExecutor:
    """An executor that makes a place for each trial, which may take seconds, and runs it there.

    Attributes:
        inner: runs the trial once its place is there.
        prepare: makes the place.
        rooms: how many places may be in use at once, by several executors together; None: any.
    """

    inner: Executor
    prepare: Prepare
    rooms: threading.Semaphore | None = None
    _underway: "dict[threading.Thread, _Placement]" = field(
        default_factory=dict[threading.Thread, "_Placement"]
    )

    def submit(self, trial: Trial, /) -> TrialFuture:
        """Start to make the place, then the trial."""
        placement = _Placement()
        future = TrialFuture(placement.give_up)
        # Not a pool: a search has few trials under way, and a daemon thread lets whet end.
        thread = DaemonThread(target=self._run, args=(trial, placement, future))
        self._underway[thread] = placement
        thread.start()
        return future

    def perform(self, trial: Trial) -> Outcome:
        """Run ``trial`` while a place is made, as part of making it; for `prepare` alone.

        Raises:
            WhetError: if it can't be run.
        """
        placement = self._underway[threading.current_thread()]
        return placement.start(self.inner, trial).result()

    def close(self) -> None:
        """Give up what is under way, and return once nobody makes a place any more.

        What git or an installer made after whet has removed its places would stay.
        """
        for thread, placement in tuple(self._underway.items()):
            placement.give_up()
            while thread.is_alive():
                end_tools_of(thread)
                thread.join(_LOOK_SECONDS)

    def _run(self, trial: Trial, placement: "_Placement", future: TrialFuture) -> None:
        try:
            with self.rooms or nullcontext(), self.prepare(trial) as placed:
                if not future.begin():
                    future.set_running_or_notify_cancel()
                    return
                running = placement.start(self.inner, placed)
                # Waits for the end: the place is given back only when nothing runs in it.
                running.exception()
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            future.fail(error)
        else:
            future.follow(running)
        finally:
            self._underway.pop(threading.current_thread(), None)


class _Placement:
    """What may be given up while its place is made or while it runs there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: Future[Outcome] | None = None
        self._is_given_up = False

    def give_up(self) -> None:
        """End the trial wherever it is, its process tree included."""
        with self._lock:
            self._is_given_up = True
            running = self._running
        if running is not None:
            running.cancel()

    def start(self, executor: Executor, trial: Trial) -> Future[Outcome]:
        """Run the placed trial."""
        running = executor.submit(trial)
        with self._lock:
            self._running = running
            is_given_up = self._is_given_up
        if is_given_up:
            running.cancel()
        return running
