"""Process groups that the kernel kills when this process ends, in any way.

Only this process holds the two ends of a pipe, and the pipe signals a process group (fcntl(2): `O_ASYNC`,
`F_SETOWN`) with SIGKILL (`F_SETSIG`). When this process dies, the kernel closes one end first, and the
end that is still open sends the signal.
Unlike `PR_SET_PDEATHSIG`, this reaches the program's children too, and no process of whet must be alive.
"""

import fcntl
import os

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterable
else:
    import _signal as signal  # `signal` is this and enums, which add 10 ms

_MOST, _SHARE = 64, 16  # groups, and how often they must go into the limit of open files


class Tethers:
    """The process groups that end with this process."""

    def __init__(self) -> None:
        self._ends: dict[int, tuple[int, int]] = {}

    def hold(self, pids: "Iterable[int]") -> None:
        """Tether the groups of these processes; those that are gone, or of another user, stay out."""
        for pid in pids:
            try:
                group = os.getpgid(pid)
                if group not in self._ends and group not in {0, os.getpgrp()}:
                    self._tether(group)
            except OSError:
                continue

    def release(self) -> None:
        """Let all groups live on without this process."""
        ends = [end for pair in self._ends.values() for end in pair]
        for end in ends:  # all of them first: an end reports when the other one is closed
            _let_report(end, is_wanted=False)
        for end in ends:
            os.close(end)
        self._ends.clear()

    def _tether(self, group: int) -> None:
        if len(self._ends) >= min(_MOST, os.sysconf("SC_OPEN_MAX") // _SHARE):
            return
        ends = os.pipe()
        try:
            for end in ends:
                fcntl.fcntl(end, fcntl.F_SETOWN, -group)
                fcntl.fcntl(end, fcntl.F_SETSIG, signal.SIGKILL)
        except OSError:  # it has just ended, and another one may get its number
            for end in ends:
                os.close(end)
            raise
        self._ends[group] = ends
        for end in ends:
            _let_report(end, is_wanted=True)


def _let_report(end: int, *, is_wanted: bool) -> None:
    flags = fcntl.fcntl(end, fcntl.F_GETFL) & ~os.O_ASYNC
    fcntl.fcntl(end, fcntl.F_SETFL, flags | os.O_ASYNC if is_wanted else flags)
