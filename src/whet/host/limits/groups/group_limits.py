"""The common parts of both versions of control groups: how whet learns that a limit was reached."""

from whet.core.limits import LimitMet, Limits
from whet.host.limits.enforcer import End
from whet.host.spawner.out_of_memory_killer import FELLED


def met_in_groups(end: End, limits: Limits) -> tuple[LimitMet, ...]:
    """Return the limits that the watches of a trial have seen to be met."""
    met: list[LimitMet] = []
    if "memory" in end.noted and limits.memory_bytes is not None:
        reached, pid, process = end.noted["memory"]
        met.append(
            LimitMet(
                name="memory",
                limit=limits.memory_bytes,
                reached=reached,
                process=process,
                pid=pid,
                was_killed=True,
            )
        )
    elif FELLED in end.noted and limits.memory_bytes is not None:
        reached, pid, process = end.noted[FELLED]
        most = limits.memory_bytes
        met.append(LimitMet(name="memory", limit=most, reached=reached, process=process, pid=pid))
    elif "all memory" in end.noted and limits.memory_bytes is not None:
        reached = end.noted["all memory"][0]
        met.append(LimitMet(name="memory", limit=limits.memory_bytes, reached=reached))
    if "processes" in end.noted and limits.processes is not None:
        most = limits.processes
        met.append(LimitMet(name="processes", limit=most, reached=most))
    return tuple(met)
