"""A panel that is read by a thread of its own, because a disk, a driver or a command may hang."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from whet.core.observations.panel import Reading
from whet.core.text.quantity import shown_seconds
from whet.host.kernel.daemon_thread import DaemonThread
from whet.host.process.tool import end_tools_of

_LATE_SECONDS = 3.0
_CLOSING_SECONDS = 10.0


def _nothing() -> None: ...


class Apart:
    """Reads one panel from time to time, and gives the last reading to whoever asks."""

    def __init__(
        self,
        first: Reading,
        read: Callable[[], Reading],
        interval_seconds: float,
        *,
        close: Callable[[], None] = _nothing,
        release: Callable[[], None] = _nothing,
    ) -> None:
        """Begin to read.

        Args:
            first: what is shown until the first reading is there.
            read: makes a reading; may take long.
            interval_seconds: how long to wait between two of them.
            close: ends one that is being made; called by another thread.
            release: is called by the thread when it ends.
        """
        self._reading = first
        self._read = read
        self._interval_seconds = interval_seconds
        self._close = close
        self._release = release
        self._closed = threading.Event()
        self._has_read = threading.Event()
        self._began = time.monotonic()
        self._is_reading = True
        self._thread = DaemonThread(target=self._run, name="whet-panel")
        self._thread.start()

    def read(self, moment: float) -> Reading:
        """Return the last reading, and say so if the next one is long overdue."""
        reading, late = self._reading, moment - self._began
        if self._is_reading and late > self._interval_seconds + _LATE_SECONDS:
            words = f"no answer for {shown_seconds(round(late))}"
            if reading.reason:
                return replace(reading, reason=f"{reading.reason}: {words}")
            return replace(reading, detail=", ".join(filter(None, [reading.detail, words])))
        return reading

    def settle(self, seconds: float) -> None:
        """Wait for the first reading, but not longer than this."""
        self._has_read.wait(seconds)

    def close(self) -> None:
        """Read no more; a system call that hangs isn't waited for."""
        self._closed.set()
        self._close()
        end_tools_of(self._thread)
        self._thread.join(
            _CLOSING_SECONDS if self._is_reading and self._close is not _nothing else 0
        )

    def _run(self) -> None:
        try:
            while not self._closed.is_set():
                self._began, self._is_reading = time.monotonic(), True
                reading = self._read()
                self._is_reading = False
                self._reading = reading
                self._has_read.set()
                self._closed.wait(self._interval_seconds)
        finally:
            with suppress(OSError):
                self._release()
