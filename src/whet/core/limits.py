"""What a trial may use, and which limit it met: values, sizes in words, and nothing enforced."""

import math
import re
from collections.abc import Mapping
from dataclasses import fields, replace

from whet.core.room import Room, compact_size
from whet.core.text.json_record import Record, sparse
from whet.core.value_class import value_class

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGTP]?)(?:I?B)?", re.IGNORECASE | re.ASCII)
_STEP = 1024
_HUNDRED = 100

NAMED_LIMITS: Mapping[str, Mapping[str, str]] = {
    "laptop": {"memory": "8G", "cpus": "4", "files": "1024"},
    "full-tmp": {"disk-free": "1M"},
    "tiny-container": {"memory": "512M", "cpus": "1", "files": "1024", "processes": "256"},
}
"""Sets of limits that whet brings along, with the value of each option."""


@value_class(kw_only=True)
class Limits(Record):
    """What a trial may use; None: no limit.

    Attributes:
        wall_seconds: time after which the whole process tree is killed.
        output_bytes: output of one stream after which the trial is killed.
        memory_bytes: of the whole process tree; the trial is killed when it needs more.
        memory_high_bytes: of the whole process tree; above that it is slowed down.
        swap_bytes: beside the memory; without it a limited trial gets none.
        address_space_bytes: of each process: what it reserves, used or not.
        cpus: how many processors it may keep busy at once.
        files: how many file descriptors each process may have open.
        processes: how many processes and threads there may be at once.
        file_size_bytes: of the largest file that a process writes.
        stack_bytes: of the main thread of each process.
        cpu_seconds: of each process; it gets SIGXCPU then.
        slow_disk_bytes: read from each disk in a second, and as much written.
        room: what it sees of the disk, the network and the system, if not the machine's own.
        spares_command: where memory is out, its largest process other than the command is killed,
            not all of it: the command is a shell.
    """

    wall_seconds: float | None = None
    output_bytes: int | None = None
    memory_bytes: int | None = sparse(None)
    memory_high_bytes: int | None = sparse(None)
    swap_bytes: int | None = sparse(None)
    address_space_bytes: int | None = sparse(None)
    cpus: float | None = sparse(None)
    files: int | None = sparse(None)
    processes: int | None = sparse(None)
    file_size_bytes: int | None = sparse(None)
    stack_bytes: int | None = sparse(None)
    cpu_seconds: int | None = sparse(None)
    slow_disk_bytes: int | None = sparse(None)
    room: Room | None = sparse(None)
    spares_command: bool = sparse(default=False)

    @property
    def starve(self) -> bool:
        """Whether something has to be put around the program for them, other than a watch."""
        own = {"wall_seconds", "output_bytes", "spares_command"}
        return any(
            getattr(self, each.name) is not None for each in fields(self) if each.name not in own
        )

    def with_memory_of_disks(self) -> "Limits":
        """Return these limits with as much more memory as the small disks take, which lie in it."""
        if self.memory_bytes is None or self.room is None:
            return self
        more = self.room.disk_bytes
        high = None if self.memory_high_bytes is None else self.memory_high_bytes + more
        return replace(self, memory_bytes=self.memory_bytes + more, memory_high_bytes=high)

    def over(self, others: "Limits") -> "Limits":
        """Return these limits, with those of others where there is none."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(others, **{name: each for name, each in values.items() if each is not None})

    @property
    def disk_bytes(self) -> int | None:
        """How much small disks hold together; None: there are none."""
        return None if self.room is None or not self.room.disks else self.room.disk_bytes

    @property
    def gpu_memory_bytes(self) -> int | None:
        """How much of each GPU torch and JAX may take; None: all."""
        return None if self.room is None else self.room.gpu_memory_bytes

    @property
    def options(self) -> list[str]:
        """These limits as words of a command line, less the first two, which a shell has itself."""
        own = {"wall_seconds", "output_bytes", "room", "spares_command"}
        words: list[str] = [] if self.room is None else self.room.options
        for name, amount in self.to_json().items():
            if name not in own:
                option = name.removesuffix("_bytes").replace("_", "-")
                shown = compact_size(amount) if isinstance(amount, int) else f"{amount}"
                words += [f"--{option}", shown if name.endswith("_bytes") else f"{amount}"]
        return words


@value_class(kw_only=True)
class LimitMet(Record):
    """A limit that a trial met: what stood in its way, whether or not it died of it.

    Attributes:
        name: of the limit, as its option is called: ``memory``, ``files``.
        limit: how much there was, in bytes, seconds or pieces.
        reached: how much the trial had then, in the same unit.
        process: the largest process or the one that met it, such as ``python``; empty: unknown.
            Of ``fail``: which fault it is, of as many calls as `limit` says.
        pid: its number; 0: unknown.
        was_killed: the trial was killed for it.
    """

    name: str
    limit: float
    reached: float
    process: str = ""
    pid: int = 0
    was_killed: bool = False

    @property
    def words(self) -> str:
        """What was met, in one line: ``4.98 of 5.00 GiB, largest process python (pid 12)``."""
        return ", ".join(filter(None, (self._amounts, self._process)))

    @property
    def _amounts(self) -> str:
        if self.name in BYTES:
            return shown_share(self.reached, self.limit)
        unit = " s" if self.name == "cpu-seconds" else ""
        return f"{self.reached:g} of {self.limit:g}{unit}"

    @property
    def _process(self) -> str:
        if not self.process:
            return ""
        return (
            f"{'largest process ' if self.name == 'memory' else ''}{self.process} (pid {self.pid})"
        )


BYTES = frozenset(
    {"memory", "memory-high", "swap", "address-space", "file-size", "stack", "disk", "disk-free"}
)
"""Limits in bytes."""


def size_bytes(words: str) -> int | None:
    """Return the bytes of a size such as ``5G``, ``512 MiB`` or ``300``; None: it is none.

    A letter is a power of 1024, as of `systemd-run`, `ulimit` and `free`.
    """
    found = _SIZE.fullmatch(words.strip())
    size = math.inf if found is None else float(found[1]) * _UNITS[found[2].upper()]
    return int(size) if math.isfinite(size) else None


def speed_bytes(words: str) -> int | None:
    """Return the bytes a second of a speed such as ``5MB/s`` or ``5M``; None: it is none."""
    return size_bytes(words.strip().removesuffix("/s"))


def shown_size(count: float, *, tells_apart: bool = False) -> str:
    """Return a size in units of 1024, as limits are given: ``64 KiB``, ``1.50 GiB``.

    Args:
        count: in bytes.
        tells_apart: with four digits, so that sizes look different that differ by 0.2 %: ``118.4 MiB``.
    """
    unit, size = _unit_of(count)
    if unit == "B":
        return f"{count:g} B"
    return f"{f'{size:.4g}' if tells_apart else _three_digits(size)} {unit}"


def shown_share(part: float, whole: float) -> str:
    """Return two sizes in the unit of the second one: ``4.98 of 5.00 GiB``."""
    unit, size = _unit_of(whole)
    return f"{part * size / whole if whole else part:.2f} of {size:.2f} {unit}"


def _unit_of(count: float) -> tuple[str, float]:
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < _STEP:
            return unit, size
        size /= _STEP
    return "TiB", size


def _three_digits(size: float) -> str:
    return (
        f"{size:.0f}"
        if size == int(size) or size >= _HUNDRED
        else f"{size:.2f}".rstrip("0").rstrip(".")
    )
