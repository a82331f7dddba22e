"""Who runs trials: the one interface by which everything in whet starts a process."""

from concurrent.futures import Future
from typing import Protocol

from whet.core.outcome import Outcome
from whet.core.trial import Trial


class Executor(Protocol):
    """Runs trials.

    ``submit`` returns at once. The future's ``result()`` is the outcome, whatever the
    program did; its ``exception()`` is a ``WhetError`` if the program could not be started
    at all. ``cancel()`` on the future also ends a running trial, its whole process tree
    with it, and returns True; the future is then cancelled.

    Executors compose by wrapping: recording and caching each hold another executor.
    """

    def submit(self, trial: Trial, /) -> Future[Outcome]:
        """Start ``trial`` as soon as there is room for it."""
        ...
