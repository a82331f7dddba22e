"""Tells a busy silent process from a blocked one."""

import time

from whet.host.kernel.blocked_calls import blocked_calls
from whet.host.process.process_facts import facts_of
from whet.host.process.process_tree import descendants_of

LOOK_SECONDS = 1.0
"""The time between two samples of the CPU time."""

UNSURE_SECONDS = 10.0
"""How long a program can wait if it may continue on its own: with a timeout, or for a network."""

_BUSY_SHARE = 0.03
_ENDED = "Z"


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
    return all(each.is_endless for each in blocked_calls(pid))
