"""The watches that a spawner checks while a program runs under a limit.

A watch has a descriptor that becomes readable when the kernel reports something (-1: it has none), and
the spawner checks it each time it samples the processes of the trial. It returns a `Noted`.
"""

import os
import select
import time

from whet.host.kernel.control_groups import read_fields, read_number, read_words, write_words
from whet.host.process.messages import Noted
from whet.host.process.process_tree import name_of, resident_bytes, shares_of
from whet.host.spawner.out_of_memory_killer import FELLED, HELD, OutOfMemoryKiller

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Sequence
    from typing import Protocol

    from whet.host.limits.enforcer import Order

    class Watch(Protocol):
        """Looks at one limit of one running trial."""

        descriptor: int

        def begin(self, command: int, /) -> None:
            """Start, now that the command runs, which is a process of this number."""
            ...

        def look(self, pids: "Sequence[int]", /) -> Noted | None:
            """Return what was met: the trial is to be killed. None: nothing so far.

            Named `FELLED` or `HELD` it is one process alone that dies.
            """
            ...

        def pause_seconds(self) -> float:
            """Return how soon it wants to look again."""
            ...

        def close(self) -> Noted | None:
            """Let go of what it holds; return what was met and did not end the trial."""
            ...
else:
    import _signal as signal  # `signal` is this and enums, which add 10 ms


PROGRAM = "program"
"""The group in a trial's own that its program is in, under version 2."""

_LONG_SECONDS, _SHORT_SECONDS = 1.0, 0.001
_FIRST = -15
_FASTEST_BYTES = 2 << 30  # a second: as fast as a kernel gives out pages
_NEARLY_BYTES = 1 << 20


def watch(orders: "Sequence[Order]") -> "list[Watch]":
    """Return what looks at the limits that ``orders`` name."""
    return [_WATCHES[str(name)](*details) for name, *details in orders]


class _Quiet:
    """A watch to which the kernel says nothing, and which is in no hurry."""

    descriptor = -1

    def begin(self, _command: int, /) -> None:
        """Do nothing more."""

    def look(self, _pids: "Sequence[int]", /) -> Noted | None:
        """Return nothing."""
        return None

    def pause_seconds(self) -> float:
        """Return a long time: each look at the memory is a look at this."""
        return _LONG_SECONDS

    def close(self) -> Noted | None:
        """Hold nothing."""
        return None


class _MemoryV1(_Quiet):
    """Is told by the kernel that memory is out; the program is held until it is killed."""

    def __init__(self, folder: str, spares_command: int = 0) -> None:
        self._folder = folder
        self._control = os.open(f"{folder}/memory.oom_control", os.O_RDONLY | os.O_CLOEXEC)
        self.descriptor = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        write_words(f"{folder}/cgroup.event_control", f"{self.descriptor} {self._control}")
        self._kills = self._count("oom_kill")
        self._felling = OutOfMemoryKiller() if spares_command else None

    def begin(self, command: int, /) -> None:
        """Have the kernel hold who needs more, not kill it.

        Not before the program runs: one that has not even room to start would be held forever.
        """
        if self._felling is not None:
            self._felling.command = command
        write_words(f"{self._folder}/memory.oom_control", 1)

    def look(self, pids: "Sequence[int]", /) -> Noted | None:
        """Return the most that was held and by whom, if memory is out."""
        if self._felling is not None:
            return self._look_for_one(pids, self._felling)
        if not self._count("under_oom"):
            return None
        return self._noted(max(pids, key=resident_bytes, default=0))

    def _look_for_one(
        self, pids: "Sequence[int]", out_of_memory_killer: OutOfMemoryKiller
    ) -> Noted | None:
        """Return the process to kill, if memory is out and none is ending already.

        Who was held continues a moment after there is room again, and counts as held until then.
        """
        if _is_readable(self.descriptor):
            os.read(self.descriptor, 8)  # it is heard: otherwise it is readable forever
        if not self._count("under_oom") or out_of_memory_killer.is_under_way or not self._is_full():
            return None
        pid, name = out_of_memory_killer.choose(pids)
        if not pid:
            return self._noted(max(pids, key=resident_bytes, default=0))
        held = read_number(f"{self._folder}/memory.usage_in_bytes") or 0
        return Noted(HELD, float(held), pid, name)

    def _is_full(self) -> bool:
        return any(
            (read_number(f"{self._folder}/{memory}.usage_in_bytes") or 0) + _NEARLY_BYTES
            > (read_number(f"{self._folder}/{memory}.limit_in_bytes") or 0)
            for memory in ("memory", "memory.memsw")
            if os.path.exists(f"{self._folder}/{memory}.usage_in_bytes")
        )

    def pause_seconds(self) -> float:
        """Return a short time while somebody waits for room: of that the kernel tells only once."""
        is_waiting = self._felling is not None and self._count("under_oom")
        return _SHORT_SECONDS if is_waiting else _LONG_SECONDS

    def close(self) -> Noted | None:
        """Let go of the descriptors; tell of a kill of the kernel's own, or that all was used.

        Who needs memory in the middle of a system call (a file is read into a new array) isn't
        held: the call fails, and what the program makes of that it may not even have room to say.
        """
        os.close(self.descriptor)
        os.close(self._control)
        if self._felling is None and self._count("oom_kill") > self._kills:
            return self._noted(0)
        peak = read_number(f"{self._folder}/memory.max_usage_in_bytes") or 0
        most = read_number(f"{self._folder}/memory.limit_in_bytes") or 0
        return Noted("all memory", float(peak), 0, "") if peak >= most else None

    def _noted(self, pid: int) -> Noted:
        peak = read_number(f"{self._folder}/memory.max_usage_in_bytes") or 0
        return Noted("memory", float(peak), pid, name_of(pid) if pid else "")

    def _count(self, name: str) -> int:
        return read_fields(f"{self._folder}/memory.oom_control").get(name, 0)


def _is_readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))


class _MemoryV2(_Quiet):
    """Sees who is largest while the limit comes near, and that the kernel has killed for it."""

    def __init__(self, folder: str, most: int, spares_command: int = 0) -> None:
        self._folder = folder
        self._most = most
        self._felling = OutOfMemoryKiller() if spares_command else None
        self._kills = self._count()
        self._largest: tuple[int, str] = (0, "")
        self._left_bytes = most

    def begin(self, command: int, /) -> None:
        """Remember who isn't to be killed."""
        if self._felling is not None:
            self._felling.command = command

    def look(self, pids: "Sequence[int]", /) -> Noted | None:
        """Return the most that was held and by whom, if the kernel has killed."""
        if self._felling is not None and self._count() > self._kills:
            note = self.close()
            self._kills = self._count()
            return note
        self._left_bytes = self._most - (read_number(f"{self._folder}/memory.current") or 0)
        if self._felling is not None:
            self._felling.remember(pids)
            return None
        if self._left_bytes < self._most // 2:
            pid = max(pids, key=resident_bytes, default=0)
            self._largest = (pid, name_of(pid)) if name_of(pid) else self._largest
        return self.close() if self._count() > self._kills else None

    def pause_seconds(self) -> float:
        """Return how long the fastest program needs for what is left."""
        return min(max(self._left_bytes / _FASTEST_BYTES, _SHORT_SECONDS), _LONG_SECONDS)

    def close(self) -> Noted | None:
        """Report a kill."""
        if self._count() == self._kills:
            return None
        peak = float(min(read_number(f"{self._folder}/memory.peak") or self._most, self._most))
        if self._felling is None:
            return Noted("memory", peak, *self._largest)
        pid, name = self._felling.missed()
        return Noted("memory" if pid == self._felling.command else FELLED, peak, pid, name)

    def _count(self) -> int:
        # Only this limit's own: `memory.events` counts those of a limit inside it too, such as of a
        # whet in the trial. The whole group is killed at once, which has a count since Linux 5.17.
        events = read_fields(f"{self._folder}/memory.events.local")
        oom = events.get("oom", 0)
        return oom if self._felling is not None else events.get("oom_group_kill", oom)


class _MemorySum(_Quiet):
    """Adds up what the processes hold, more often the nearer the limit comes."""

    def __init__(self, most: int, most_swap: int, spares_command: int = 0) -> None:
        self._felling = OutOfMemoryKiller() if spares_command else None
        self._most = most
        self._most_swap = most_swap
        self._left_bytes = most
        self._cost_seconds = 0.0
        self._priority = 0

    def begin(self, command: int, /) -> None:
        """Look in time on a busy machine too, where this process may put itself first."""
        if self._felling is not None:
            self._felling.command = command
        self._priority = os.getpriority(os.PRIO_PROCESS, 0)
        _set_priority(_FIRST)

    def close(self) -> Noted | None:
        """Be as patient as before."""
        _set_priority(self._priority)
        return None

    def look(self, pids: "Sequence[int]", /) -> Noted | None:
        """Stop the processes and return what they hold, if that is too much."""
        began = time.thread_time()  # on a busy machine a look may take long, and cost little
        size = sum(map(resident_bytes, pids))  # cheap, and never less than what is looked for
        self._left_bytes = self._most - size
        if size >= self._most or _is_swapping():
            size, swapped = _held(pids)
            self._left_bytes = self._most - size
            if size >= self._most or swapped > self._most_swap:
                return self._over(pids, size)
        self._cost_seconds = time.thread_time() - began
        return None

    def _over(self, pids: "Sequence[int]", held: int) -> Noted | None:
        if self._felling is not None:
            if self._felling.is_under_way:
                return None
            pid, name = self._felling.end(pids)  # not stopped first: a shell would take it back
            if pid:
                return Noted(FELLED, float(held), pid, name)
        for pid in pids:
            try:
                os.kill(pid, signal.SIGSTOP)
            except OSError:
                continue  # gone, or of another user: the kill that follows says so
        pid = max(pids, key=resident_bytes, default=0)
        return Noted("memory", float(max(held, _held(pids)[0])), pid, name_of(pid))

    def pause_seconds(self) -> float:
        """Return how long the fastest program needs for what is left; looking takes a tenth at most."""
        soon = max(self._left_bytes / _FASTEST_BYTES, _SHORT_SECONDS, 10 * self._cost_seconds)
        return min(soon, _LONG_SECONDS)


def _set_priority(nice: int) -> None:
    try:
        os.setpriority(os.PRIO_PROCESS, 0, nice)
    except OSError:
        return  # only root may come before others


def _is_swapping() -> bool:
    """Whether anything on this machine is swapped out: only then it is worth asking of each."""
    fields = {
        row[0]: int(row[1]) for row in map(str.split, read_words("/proc/meminfo").splitlines())
    }
    return fields.get("SwapTotal:", 0) > fields.get("SwapFree:", 0)


def _held(pids: "Sequence[int]") -> tuple[int, int]:
    """Return how much memory and how much swap is the processes' own."""
    shares = [shares_of(pid) for pid in pids]
    return sum(size for size, _ in shares), sum(swapped for _, swapped in shares)


class _Processes(_Quiet):
    """Counts how often the kernel refused a fork."""

    def __init__(self, folder: str) -> None:
        # Before Linux 6.11 it is counted where the fork was tried, since then where the limit is.
        self._events = (f"{folder}/pids.events", f"{folder}/{PROGRAM}/pids.events")
        self._before = self._count()

    def close(self) -> Noted | None:
        """Tell whether a fork was refused."""
        refused = self._count() - self._before
        return Noted("processes", float(refused), 0, "") if refused else None

    def _count(self) -> int:
        return sum(read_fields(path).get("max", 0) for path in self._events)


class _Members(_Quiet):
    """Puts a process that has left its group back into it; only root and its like can leave."""

    def __init__(self, folder: str, name: str = "") -> None:
        self._procs = f"{folder}/cgroup.procs"
        self._name = name or os.path.basename(folder)

    def look(self, pids: "Sequence[int]", /) -> Noted | None:
        """Put back who has left."""
        inside = set(map(int, read_words(self._procs).split()))
        for pid in pids:
            if pid not in inside and self._has_left(pid):
                try:
                    write_words(self._procs, pid)
                except OSError:
                    continue  # gone meanwhile
        return None

    def _has_left(self, pid: int) -> bool:
        groups = read_words(f"/proc/{pid}/cgroup")
        # A whet inside this trial makes groups of its own below this one.
        return bool(groups) and self._name not in groups


class _Counted(_Quiet):
    """Counts something in the program and all that it starts; no limit, and nothing is met.

    It is open before the program is forked, which inherits it.
    """

    def __init__(self, name: str) -> None:
        from whet.host.kernel.counters import Counter

        self._name = name
        try:
            self._counter: Counter | None = Counter(name)
        except OSError:  # such as too many open files: the run has no such number
            self._counter = None

    def close(self) -> Noted | None:
        """Return how many there were, if the whole run was counted."""
        count = None if self._counter is None else self._counter.close()
        return None if count is None else Noted(self._name, float(count), 0, "")


_WATCHES: "dict[str, Callable[..., Watch]]" = {
    "memory v1": _MemoryV1,
    "memory v2": _MemoryV2,
    "memory seen": _MemorySum,
    "processes": _Processes,
    "members": _Members,
    "counted": _Counted,
}
