"""Stopping a running trial from any thread and from signal handlers."""

import os
import threading
from collections import deque
from contextlib import suppress
from typing import Final, Literal, TypeAlias

CANCEL: Final = "cancel"
"""Kill the trial; its outcome no longer matters."""

Request: TypeAlias = Literal["cancel"] | int
"""`CANCEL`, or the number of a signal that whet received."""


class Control:
    """Requests to one trial. Those made before it starts wait for it."""

    def __init__(self) -> None:
        self._requests: deque[Request] = deque()
        # Reentrant: a signal handler may run while this very thread holds it.
        self._lock = threading.RLock()
        self._wake = -1

    def ask(self, request: Request) -> None:
        """Make a request; never blocks."""
        self._requests.append(request)
        with self._lock:
            if self._wake >= 0:
                with suppress(BlockingIOError):  # full: it will wake anyway
                    os.write(self._wake, b"!")

    def take(self) -> list[Request]:
        """Return the requests made since the last call."""
        requests: list[Request] = []
        while self._requests:
            requests.append(self._requests.popleft())
        return requests

    def attach(self) -> int:
        """Return a descriptor that becomes readable with each request; until `detach`."""
        readable, wake = os.pipe()
        os.set_blocking(readable, False)
        os.set_blocking(wake, False)
        with self._lock:
            self._wake = wake
        if self._requests:
            os.write(wake, b"!")
        return readable

    def detach(self, readable: int) -> None:
        """Close the descriptor that `attach` returned."""
        with self._lock:
            os.close(self._wake)
            self._wake = -1
        os.close(readable)
