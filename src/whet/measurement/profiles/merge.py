"""One profile of several runs of a program that is too short for one."""

from collections.abc import Sequence
from dataclasses import replace

from whet.core.observations.profile import Profile
from whet.measurement.profiles.line_table import UNSEEN
from whet.measurement.profiles.stack_table import StackTable

RUNS = "runs"
"""Name of the fact that tells how many runs a profile is of."""

KERNEL_CPU = "cpu_seconds"
"""Name of the fact that tells how much processor time a run took, as the kernel counts it."""


def merged(profiles: Sequence[Profile]) -> Profile:
    """Return one profile of an average run; process and thread numbers are those of the first one."""
    table = StackTable()
    numbers: dict[int, int] = {}
    for profile in profiles:
        first: dict[int, int] = {}
        for stack in profile.stacks:
            place = first.setdefault(stack.pid, len(first))
            pid = numbers.setdefault(place, stack.pid)
            for name, number in stack.numbers.items():
                table.add(pid, stack.thread, profile.lines_of(stack), name, number / len(profiles))
    head = profiles[0]
    average: dict[str, float] = {}
    for name in (KERNEL_CPU, UNSEEN):
        counted = [each.facts[name] for each in profiles if name in each.facts]
        average |= {name: sum(counted) / len(counted)} if counted else {}
    return replace(
        head,
        frames=table.frames,
        stacks=table.stacks,
        samples=sum(each.samples for each in profiles),
        rate=max(each.rate for each in profiles),
        seconds=sum(each.seconds for each in profiles) / len(profiles),
        facts={**head.facts, **average, RUNS: float(len(profiles))},
        notes=tuple(dict.fromkeys(note for each in profiles for note in each.notes)),
        obstacle=next((each.obstacle for each in profiles if each.obstacle), None),
    )
