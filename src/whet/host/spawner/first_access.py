"""Asks a program for its stack when it first reads what a search varies; imports next to nothing.

Python doesn't notice which files native code opens. The kernel does (`whet.host.spawner.syscall_decoder`),
during the call itself. The agent then writes the main thread's stack, as it does before a timeout's
kill (`whet.host.inspect.stacks`).
"""

import os

from whet.host.spawner.access_log import AccessLog

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_AGENT_SIGNAL = 62  # as of `whet.host.inspect.stacks`


class FirstAccess:
    """Waits for the first sight of some paths in one run."""

    def __init__(self, seen: AccessLog, status: "Callable[[int, bytes, int], int]") -> None:
        self._seen = seen
        self._status = status
        self._paths: Sequence[str] = ()

    def begin(self, paths: "Sequence[str]") -> None:
        """Begin again, with another run; no paths: nothing is asked."""
        self._paths = paths

    def look(self, pid: int) -> None:
        """Ask the process that made the last call for its stack, if it is the first to see a path."""
        if self._paths and any(map(self._seen.knows, self._paths)):
            self._paths = ()
            bit = 1 << (_AGENT_SIGNAL - 1)
            if self._status(pid, b"SigCgt:", 16) & bit & ~self._status(pid, b"SigBlk:", 16):
                try:
                    os.kill(pid, _AGENT_SIGNAL)
                except OSError:
                    return  # it has ended, or is another user's
