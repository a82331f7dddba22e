"""The common parts of both versions of control groups: how whet learns that a limit was reached."""

from whet.core.limits import LimitMet, Limits
from whet.host.limits.enforcer import End
from whet.host.process.messages import Noted
from whet.host.spawner.out_of_memory_killer import FELLED


def met_in_groups(end: End, limits: Limits) -> tuple[LimitMet, ...]:
    """Return the limits that the watches of a trial have seen to be met."""
    limits_met: list[LimitMet] = []
    if "memory" in end.noted and limits.memory_bytes is not None:
        limits_met.append(_memory_met(limits.memory_bytes, end.noted["memory"], was_killed=True))
    elif FELLED in end.noted and limits.memory_bytes is not None:
        limits_met.append(_memory_met(limits.memory_bytes, end.noted[FELLED]))
    elif "all memory" in end.noted and limits.memory_bytes is not None:
        limits_met.append(_memory_met(limits.memory_bytes, end.noted["all memory"]))
    if "processes" in end.noted and limits.processes is not None:
        most = limits.processes
        limits_met.append(LimitMet(name="processes", limit=most, reached=most))
    return tuple(limits_met)


def _memory_met(most: int, noted: Noted, *, was_killed: bool = False) -> LimitMet:
    return LimitMet(
        name="memory", limit=most, reached=noted.amount, process=noted.process, pid=noted.pid,
        was_killed=was_killed,
    )  # fmt: skip
