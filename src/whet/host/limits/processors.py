"""The processors that a program runs on: as many as it may use, and no others."""

import itertools
import math
import os
from collections.abc import Collection

from whet.core.limits import Limits
from whet.host.limits.enforcer import Order, Plain
from whet.host.process.cleanup_journal import CleanupJournal

_turns = itertools.count(os.getpid())


def bind_step(count: float) -> Order:
    """Return the step that binds a program to as few processors as can hold ``count``.

    Trials that run at once take turns, so that they don't share one while others are idle.
    """
    own = sorted(os.sched_getaffinity(0))
    number = min(math.ceil(count), len(own))
    first = next(_turns) * number
    return ("bind", *(own[(first + index) % len(own)] for index in range(number)))


class Affinity:
    """Binds the program to whole processors; it needs no right, but a program may undo it."""

    way = "processor affinity"

    def blocker(self, _name: str, limits: Limits, /) -> str:
        """Return why it can't be done: there is no half a processor to bind to."""
        count = limits.cpus or 1
        return "" if count == int(count) else f"it counts whole processors, not {count:g}"

    def prepare(
        self,
        _names: Collection[str],
        limits: Limits,
        _cleanup_journal: CleanupJournal,
        /,
    ) -> Plain:
        """Return the step that binds it."""
        step = bind_step(limits.cpus or 1)
        return Plain(
            way=f"processors {limits.cpus:g} by affinity",
            steps=(step,),
            probes=(("affinity", *step[1:]),),
        )
