"""Profiles made by hand, for tests."""

from typing import TypeAlias

from whet.core.failure import Frame
from whet.core.observations.profile import (
    CPU_SECONDS,
    SECONDS,
    Profile,
    ProfiledProcess,
)
from whet.measurement.profiles.stack_table import StackTable

Costs: TypeAlias = dict[tuple[Frame, ...], tuple[float, float]]
"""CPU seconds and seconds of each stack."""


def own(line: int, function: str = "f", path: str = "/p/a.py") -> Frame:
    return Frame(path=path, line=line, function=function, in_user_code=True)


def library(function: str, path: str = "/lib/python3.11/json.py", line: int = 1) -> Frame:
    return Frame(path=path, line=line, function=function, in_user_code=False)


def profile_of(
    costs: Costs,
    *,
    thread: str = "",
    pid: int = 1,
    processes: tuple[ProfiledProcess, ...] = (),
    rate: float = 100.0,
) -> Profile:
    """Return a profile of stacks, each with its CPU seconds and its seconds."""
    table = StackTable()
    for frames, (cpu, seconds) in costs.items():
        table.add(pid, thread, frames, CPU_SECONDS, cpu)
        table.add(pid, thread, frames, SECONDS, seconds)
    return Profile(
        question="cpu",
        engine="by hand",
        unit=CPU_SECONDS,
        frames=table.frames,
        stacks=table.stacks,
        samples=round(sum(cpu for cpu, _ in costs.values()) * rate),
        rate=rate,
        seconds=sum(seconds for _, seconds in costs.values()),
        processes=processes,
    )
