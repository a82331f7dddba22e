"""Tells a busy silent process from a blocked one."""

import os
import platform
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from whet.host.process.process_facts import facts_of
from whet.host.process.process_tree import descendants_of

LOOK_SECONDS = 1.0
"""The time between two samples of the CPU time."""

UNSURE_SECONDS = 10.0
"""How long a program can wait if it may continue on its own: with a timeout, or for a network."""

_BUSY_SHARE = 0.03
_ENDED = "Z"
_FUTEX, _READ, _FOREVER = "futex", "read", "forever"
# wait4, waitid, pause, flock, openat (a FIFO without its other end) have no timeout at all.
_CALLS = {
    "x86_64": {202: _FUTEX, 0: _READ, 61: _FOREVER, 247: _FOREVER, 34: _FOREVER, 73: _FOREVER,
               257: _FOREVER, 130: _FOREVER},
    "aarch64": {98: _FUTEX, 63: _READ, 260: _FOREVER, 95: _FOREVER, 32: _FOREVER, 56: _FOREVER,
                133: _FOREVER},
}  # fmt: skip
_FUTEX_TIMEOUT = 3


class Idleness:
    """Looks at a tree of processes that has written nothing for a while."""

    def __init__(self) -> None:
        self._seconds: dict[int, float] | None = None
        self._looked_at = 0.0
        self._quiet_since = 0.0

    def begin(self) -> None:
        """Start again: the program has written something."""
        self._seconds = None
        self._quiet_since = time.monotonic()

    def is_stuck(self, root: int) -> bool:
        """Whether no process of a tree does anything, nor will; False at a first look."""
        now, before = self._spent(root), self._seconds
        since = time.monotonic() - self._looked_at
        self._seconds, self._looked_at = now, time.monotonic()
        if before is None or since <= 0 or not now:
            return False
        busiest = max((now[pid] - before.get(pid, 0.0) for pid in now), default=0.0)
        if before.keys() != now.keys() or busiest > max(0.02, _BUSY_SHARE * since):
            self._quiet_since = time.monotonic()
            return False
        if all(_waits_for_ever(pid) for pid in now):
            return True
        return time.monotonic() - self._quiet_since >= UNSURE_SECONDS

    def _spent(self, root: int) -> dict[int, float]:
        processes = {pid: facts_of(pid) for pid in (root, *descendants_of(root))}
        return {
            pid: facts.cpu_seconds
            for pid, facts in processes.items()
            if facts is not None and facts.state != _ENDED
        }


def waits_for_ever(root: int) -> bool:
    """Whether no process of a tree can continue, as far as one look tells."""
    facts = {pid: facts_of(pid) for pid in (root, *descendants_of(root))}
    alive = [pid for pid, each in facts.items() if each is not None and each.state != _ENDED]
    return all(map(_waits_for_ever, alive))


def _waits_for_ever(pid: int) -> bool:
    """Whether each thread of a process is in a system call that only another thread can end."""
    calls = list(_calls_of(pid))
    return bool(calls) and all(_is_endless(pid, call) for call in calls)


def _calls_of(pid: int) -> Iterator[str]:
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            yield (thread / "syscall").read_text("ascii", "replace")
        return
    yield ""


def _is_endless(pid: int, call: str) -> bool:
    """Read a line of /proc/PID/syscall (proc(5)): the call's number, and its six arguments."""
    number, *arguments = call.split() or [""]
    table = _CALLS.get(platform.machine(), {})
    kind = table.get(int(number)) if number.isdigit() else None
    if kind == _FUTEX:
        return int(arguments[_FUTEX_TIMEOUT], 16) == 0
    if kind == _READ:
        with suppress(OSError):
            return os.readlink(f"/proc/{pid}/fd/{int(arguments[0], 16)}").startswith("pipe:")
        return False
    return kind == _FOREVER
