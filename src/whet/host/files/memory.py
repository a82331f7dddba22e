"""The total and available memory of the machine, or of the control group."""

import os
from collections.abc import Iterator

from whet.core.value_class import value_class
from whet.host.kernel.control_groups import read_fields, read_number, read_words

_GROUPS = "/sys/fs/cgroup"
_V2 = ("memory.max", "memory.current", "inactive_file", "memory.events")
_V1 = (
    "memory.limit_in_bytes",
    "memory.usage_in_bytes",
    "total_inactive_file",
    "memory.oom_control",
)


@value_class(kw_only=True)
class MemoryLeft:
    """What may be used.

    Attributes:
        total_bytes: all that there is for this process and those beside it.
        available_bytes: what of it can be had without swapping.
    """

    total_bytes: int
    available_bytes: int


def memory_left(proc: str = "/proc", groups: str = _GROUPS) -> MemoryLeft:
    """Return how much memory there is now.

    Args:
        proc: where the kernel shows its figures.
        groups: where control groups are mounted.
    """
    fields = read_fields(f"{proc}/meminfo")
    total, available = fields.get("MemTotal:", 0) << 10, fields.get("MemAvailable:", 0) << 10
    for folder, (limit_name, used_name, free_name, _) in _groups(proc, groups):
        limit, usage = read_number(f"{folder}/{limit_name}"), read_number(f"{folder}/{used_name}")
        if limit is None or usage is None:
            continue
        # Pages of files that nobody uses are given back when they are needed.
        idle = read_fields(f"{folder}/memory.stat").get(free_name, 0)
        total, available = min(total, limit), min(available, max(limit - usage + idle, 0))
    return MemoryLeft(total_bytes=total, available_bytes=available)


class FullGroups:
    """Knows when the kernel ends processes because a control group around whet is full."""

    def __init__(self, proc: str = "/proc", groups: str = _GROUPS) -> None:
        """Count what it has ended so far; the arguments are those of `memory_left`."""
        self._proc, self._root = proc, groups
        self._ended = {folder: kills for folder, kills, _ in self._look()}

    def news(self) -> int | None:
        """Return the limit of a group that was full since the last call, in bytes; None: none was."""
        least: int | None = None
        for folder, kills, limit in self._look():
            if kills > self._ended.get(folder, kills):
                least = limit if least is None else min(least, limit)
            self._ended[folder] = kills
        return least

    def _look(self) -> Iterator[tuple[str, int, int]]:
        for folder, (limit_name, _, _, events_name) in _groups(self._proc, self._root):
            limit = read_number(f"{folder}/{limit_name}")
            if limit is not None:
                yield folder, read_fields(f"{folder}/{events_name}").get("oom_kill", 0), limit


def _groups(proc: str, groups: str) -> list[tuple[str, tuple[str, str, str, str]]]:
    """Return the folders of the control groups that this process is in, and their file names."""
    rows: list[tuple[str, tuple[str, str, str, str]]] = []
    for line in read_words(f"{proc}/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            root, names = groups, _V2
        elif "memory" in controllers.split(","):
            root, names = f"{groups}/memory", _V1
        else:
            continue
        while len(path) > 1:  # a group has what the groups around it leave it
            rows.append((root + path, names))
            path = os.path.dirname(path)
        rows.append((root, names))
    return rows
