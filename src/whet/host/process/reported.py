"""A thread of whet's own that serves the one process of a trial that reports to it."""

import socket
from collections.abc import Callable
from contextlib import suppress

from whet.host.kernel.daemon_thread import DaemonThread
from whet.host.process.room_reports import new_listener


class ReportServer:
    """Waits for a process that is about to become the program, and serves it."""

    def __init__(
        self, name: str, serve: Callable[[socket.socket], None], *, patience_seconds: float
    ) -> None:
        """Listen; the thread starts with `begin`.

        Args:
            name: of the thread.
            serve: is given the connection, which it closes.
            patience_seconds: how long `finish` waits for it.
        """
        self._serve = serve
        self._patience_seconds = patience_seconds
        self._listener = new_listener()
        self._thread = DaemonThread(target=self._wait, name=name)

    @property
    def address(self) -> bytes:
        """The name under which the process finds it."""
        name: bytes = self._listener.getsockname()[1:]
        return name

    def begin(self) -> None:
        """Start to wait."""
        self._thread.start()

    def finish(self) -> None:
        """Return when it has been served, or when patience ends; all processes must have ended."""
        with suppress(OSError):
            self._listener.shutdown(
                socket.SHUT_RDWR
            )  # wakes the thread if no process ever connected
        if self._thread.ident is not None:
            self._thread.join(timeout=self._patience_seconds)
        self._listener.close()

    def _wait(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # it never came so far
        self._serve(connection)
