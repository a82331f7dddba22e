"""Failing system calls on purpose, as a limit of a trial."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from whet.core.limits import LimitMet
from whet.core.room import Fault
from whet.host.limits.enforcer import End, Order
from whet.host.limits.faults import Count, Injector
from whet.host.limits.program import AGENT_VARIABLE, PYCACHE_VARIABLE, Program

_AGENT = str(Path(__file__).resolve().parents[2] / "agent") + os.sep


@dataclass(slots=True, kw_only=True)
class PreparedFaults:
    """Faults of one trial, with who answers for the calls."""

    injector: Injector
    way: str = "seccomp"
    probes: tuple[Order, ...] = ()
    watches: tuple[Order, ...] = ()
    notes: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def steps(self) -> tuple[Order, ...]:
        """What the child does."""
        return (self.injector.order,)

    def met(self, _end: End, /) -> tuple[LimitMet, ...]:
        """Note what was hit, and return it."""
        self.injector.finish()
        counts = self.injector.counts
        self.notes = tuple(count.words for count in counts)
        return tuple(
            LimitMet(name="fail", limit=one.seen, reached=one.hits, process=one.fault.words)
            for one in counts
            if one.hits
        )

    def close(self) -> None:
        """Stop answering."""
        self.injector.finish()


def prepare_faults(faults: tuple[Fault, ...], program: Program) -> PreparedFaults:
    """Begin to wait for the process whose calls are held.

    Raises:
        OSError: if the system gives no socket.
    """
    places = [program.environment.get(name, "") for name in (AGENT_VARIABLE, PYCACHE_VARIABLE)]
    own = [_AGENT, *(place + os.sep for place in places if place)]
    injector = Injector(counts=[Count(fault) for fault in faults], own=own)
    injector.begin()
    return PreparedFaults(injector=injector)
