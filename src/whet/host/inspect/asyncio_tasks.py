"""The asyncio tasks of a process, as its agent reports them (`whet_tasks`)."""

import re
from collections.abc import Iterator
from pathlib import Path

from whet.core.observations.stack import TaskStack
from whet.core.text.quantity import bounded
from whet.host.inspect.stacks import parse_report, told_at, unescaped

TASKS_SIGNAL = 61
"""On this signal the agent reports the tasks; it listens once the program imports asyncio."""

_HEAD = re.compile(r"^(task|died)\t([^\t\n]*)\t(\d+)\t([^\t\n]*)(?:\t([^\t\n]*))?\n", re.MULTILINE)

NOT_TOLD = (
    "whet can't see its asyncio tasks: start it with `whet run`, whose agent can"
    " (Python 3.14 and later: `python -m asyncio ps PID`)"
)
NO_ANSWER = "whet can't see its asyncio tasks: the main thread is in a call that doesn't return"


def tasks_of(pid: int, agent_folder: Path | None) -> tuple[TaskStack, ...] | None:
    """Return the tasks of a process that aren't done; None: it doesn't answer.

    Args:
        pid: the process.
        agent_folder: where its agent writes; None: where its environment says.
    """
    answer = told_at(TASKS_SIGNAL, pid, agent_folder, "tasks")
    return None if answer is None else tuple(parse_tasks(answer))


def parse_tasks(told: str) -> Iterator[TaskStack]:
    """Yield the tasks of an answer."""
    starts = list(_HEAD.finditer(told))
    ends = [*(each.start() for each in starts[1:]), len(told)]
    for start, end in zip(starts, ends, strict=False):
        part = told[start.end() : end]
        has_died, words = start[1] == "died", unescaped(start[4])
        common = [each.split("\v") for each in unescaped(start[5] or "").split("\v\v") if each]
        yield TaskStack(
            name=unescaped(start[2]),
            loop=bounded(start[3]),
            awaits="" if has_died else words,
            frames=parse_report(part),
            died=words if has_died else "",
            shares=tuple((each[0], each[-1]) for each in common),
        )
