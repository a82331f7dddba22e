"""Kills one process when memory runs out, and never the command: a shell should survive.

It kills the largest process other than the command, as the kernel would, and kills another one only
after the memory of the first is free. It doesn't set `oom_score_adj`: all processes that a protected
shell starts would inherit the protection, and then the kernel could choose none of them.
"""

import os

from whet.host.process.process_tree import has_ended, name_of, resident_bytes

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    import signal
    from collections.abc import Sequence
else:
    import _signal as signal  # `signal` is this and enums, which add 10 ms

FELLED = "one process"
"""The note for a process that was killed as memory ran out."""
HELD = "one held process"
"""The note for a process that waits to be killed as memory ran out, so that whet can inspect it."""


class OutOfMemoryKiller:
    """Chooses who has to go, one at a time."""

    def __init__(self) -> None:
        self.command = 0
        self._chosen = 0
        self._seen: dict[int, tuple[int, str]] = {}

    @property
    def is_under_way(self) -> bool:
        """Whether the one that was chosen last still holds memory."""
        return self._chosen != 0 and not has_ended(self._chosen)

    def choose(self, pids: "Sequence[int]") -> tuple[int, str]:
        """Return the largest process other than the command, and its name; 0: there is none."""
        others = [pid for pid in pids if pid != self.command]
        largest = max(others, key=resident_bytes, default=0)
        if not largest or not resident_bytes(largest):
            return 0, ""
        self._chosen = largest
        return largest, name_of(largest)

    def end(self, pids: "Sequence[int]") -> tuple[int, str]:
        """Kill the largest process other than the command; return which it was. 0: there is none."""
        pid, name = self.choose(pids)
        if pid:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                return 0, ""  # gone on its own, or of another user
        return pid, name

    def remember(self, pids: "Sequence[int]") -> None:
        """Record the processes, in case another process kills one of them."""
        self._seen = {pid: (resident_bytes(pid), name_of(pid)) for pid in pids}

    def missed(self) -> tuple[int, str]:
        """Return the largest of those who were there at the last look and aren't any more."""
        largest = [(size, pid, name) for pid, (size, name) in self._seen.items() if size]
        largest = [each for each in largest if not resident_bytes(each[1])]
        _, pid, name = max(largest, default=(0, 0, ""))
        return pid, name
