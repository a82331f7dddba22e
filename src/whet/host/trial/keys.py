"""Lines that the user types while no program runs."""

import os
import select
import threading
from collections.abc import Callable
from typing import Self

from whet.host.kernel.daemon_thread import DaemonThread
from whet.host.process.console import Console

END_OF_INPUT = "\x04"
"""The key that `Ctrl-D` counts as."""

_LOOK_MS = 200.0  # whether whet is in the foreground again, of which nothing tells


class TypedLines:
    """Reads the user's terminal; a context manager. Outside of it the keys are the program's."""

    def __init__(self, console: Console | None, tell: Callable[[str], None]) -> None:
        """Make it ready.

        Args:
            console: whet's own; nothing is read if it is None or no terminal.
            tell: is given each line, from another thread.
        """
        self._console = console if console is not None and console.is_interactive else None
        self._tell = tell
        self._over, self._end = -1, -1
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        if self._console is not None:
            self._over, self._end = os.pipe()
            self._thread = DaemonThread(target=self._read, name="whet-keys")
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread is not None:
            os.close(self._end)
            self._thread.join()
            os.close(self._over)
            self._thread = None

    def _read(self) -> None:
        console = self._console
        assert console is not None
        assert console.terminal is not None
        while True:
            poll = select.poll()
            poll.register(self._over, select.POLLIN)
            is_ours = console.terminal.is_ours
            if is_ours:  # in the background reading would stop whet (SIGTTIN)
                poll.register(console.stdin, select.POLLIN)
            ready = {descriptor for descriptor, _ in poll.poll(None if is_ours else _LOOK_MS)}
            if self._over in ready:
                return
            if console.stdin in ready:
                typed = _line(console.stdin)
                self._tell(typed.strip() if typed else END_OF_INPUT)
                if not typed:
                    return


def _line(descriptor: int) -> str:
    try:
        return os.read(descriptor, 1024).decode("utf-8", "replace")
    except OSError:  # the terminal is gone
        return ""
