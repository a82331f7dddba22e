"""What a spawner looks at while a program runs under a limit.

A watch has a descriptor that becomes readable when the kernel has something to say (-1: none),
and is asked at each look at the processes of the trial. What it finds is a `Noted`.
"""

import os

from whet.host.control_groups import read_fields, read_number, read_words, write_words
from whet.host.process_tree import name_of, resident_bytes

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Protocol, TypeAlias

    from whet.host.ceilings.ceiling import Order

    # the limit, how much there was, the process that it is about: number and name
    Noted: TypeAlias = tuple[str, float, int, str]

    class Watch(Protocol):
        """Looks at one limit of one running trial."""

        descriptor: int

        def look(self, pids: "Sequence[int]") -> "Noted | None":
            """Return what was met: the trial is to be killed. None: nothing so far."""
            ...

        def pause_seconds(self) -> float:
            """Return how soon it wants to look again."""
            ...

        def close(self) -> "Noted | None":
            """Let go of what it holds; return what was met and did not end the trial."""
            ...


_LONG_SECONDS = 1.0


def watch(orders: "Sequence[Order]") -> "list[Watch]":
    """Return what looks at the limits that ``orders`` name."""
    return [_WATCHES[str(name)](*details) for name, *details in orders]


class _MemoryV1:
    """Is told by the kernel that memory is out; the program is held until it is killed."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._control = os.open(f"{folder}/memory.oom_control", os.O_RDONLY | os.O_CLOEXEC)
        self.descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        write_words(f"{folder}/cgroup.event_control", f"{self.descriptor} {self._control}")
        write_words(f"{folder}/memory.oom_control", 1)  # hold, do not kill
        self._kills = self._count("oom_kill")

    def look(self, pids: "Sequence[int]") -> "Noted | None":
        """Return the most that was held and by whom, if memory is out."""
        if not self._count("under_oom"):
            return None
        return self._noted(max(pids, key=resident_bytes, default=0))

    def pause_seconds(self) -> float:
        """Return a long time: the kernel tells."""
        return _LONG_SECONDS

    def close(self) -> "Noted | None":
        """Let go of the descriptors; tell of a kill that was the kernel's own."""
        os.close(self.descriptor)
        os.close(self._control)
        return self._noted(0) if self._count("oom_kill") > self._kills else None

    def _noted(self, pid: int) -> "Noted":
        peak = read_number(f"{self._folder}/memory.max_usage_in_bytes") or 0
        return ("memory", float(peak), pid, name_of(pid) if pid else "")

    def _count(self, name: str) -> int:
        return read_fields(f"{self._folder}/memory.oom_control").get(name, 0)


class _Processes:
    """Counts how often the kernel refused a fork."""

    descriptor = -1

    def __init__(self, folder: str) -> None:
        self._events = f"{folder}/pids.events"
        self._before = self._count()

    def look(self, pids: "Sequence[int]") -> None:
        """Return nothing: a refused fork ends no program by itself."""

    def pause_seconds(self) -> float:
        """Return a long time."""
        return _LONG_SECONDS

    def close(self) -> "Noted | None":
        """Tell whether a fork was refused."""
        refused = self._count() - self._before
        return ("processes", float(refused), 0, "") if refused else None

    def _count(self) -> int:
        return read_fields(self._events).get("max", 0)


class _Members:
    """Puts a process that has left its group back into it; only root and its like can leave."""

    descriptor = -1

    def __init__(self, folder: str) -> None:
        self._procs = f"{folder}/cgroup.procs"
        self._name = os.path.basename(folder)

    def look(self, pids: "Sequence[int]") -> None:
        """Put back who has left."""
        inside = set(map(int, read_words(self._procs).split()))
        for pid in pids:
            if pid not in inside and self._has_left(pid):
                try:
                    write_words(self._procs, pid)
                except OSError:
                    continue  # gone meanwhile

    def pause_seconds(self) -> float:
        """Return a long time: each look at the memory is a look at this."""
        return _LONG_SECONDS

    def close(self) -> None:
        """Hold nothing."""

    def _has_left(self, pid: int) -> bool:
        groups = read_words(f"/proc/{pid}/cgroup")
        # A whet inside this trial makes groups of its own below this one.
        return bool(groups) and self._name not in groups


_WATCHES: "dict[str, Callable[..., Watch]]" = {
    "memory v1": _MemoryV1,
    "processes": _Processes,
    "members": _Members,
}
