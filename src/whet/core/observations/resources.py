"""What a trial used while it ran: a few numbers at some moments, and who used most."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    integer,
    number,
    records,
    sequence,
    text,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessPeak:
    """The most memory that one process held.

    Attributes:
        pid: its number.
        name: its name, such as ``python``.
        peak_bytes: how much it held in RAM, seen at some moment.
    """

    pid: int
    name: str
    peak_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUse:
    """What the whole process tree used, seen from time to time; columns of equal length.

    Attributes:
        seconds: when, since the command started.
        memory_bytes: held in RAM; pages of two processes count twice.
        cpu_seconds: user and system time until then.
        files: open file descriptors.
        read_bytes: read from disks until then.
        written_bytes: written towards disks until then.
        processes: how many there were.
        largest: the processes that held most, the largest first.
    """

    seconds: tuple[float, ...]
    memory_bytes: tuple[int, ...]
    cpu_seconds: tuple[float, ...]
    files: tuple[int, ...]
    read_bytes: tuple[int, ...]
    written_bytes: tuple[int, ...]
    processes: tuple[int, ...]
    largest: tuple[ProcessPeak, ...] = ()

    @property
    def processors(self) -> tuple[float, ...]:
        """How many processors were busy on average between two moments."""
        moments = [0.0, *self.seconds]
        spent = [0.0, *self.cpu_seconds]
        return tuple(
            max(0.0, spent[at] - spent[at - 1]) / max(moments[at] - moments[at - 1], 1e-9)
            for at in range(1, len(moments))
        )

    def to_json(self) -> dict[str, object]:
        """Return this as JSON data."""
        return {
            "seconds": list(self.seconds),
            "memory_bytes": list(self.memory_bytes),
            "cpu_seconds": list(self.cpu_seconds),
            "files": list(self.files),
            "read_bytes": list(self.read_bytes),
            "written_bytes": list(self.written_bytes),
            "processes": list(self.processes),
            "largest": [
                {"pid": each.pid, "name": each.name, "peak_bytes": each.peak_bytes}
                for each in self.largest
            ],
        }

    @classmethod
    def from_json(cls, data: JsonObject) -> "ResourceUse":
        """Return what ``to_json`` wrote.

        Raises:
            MalformedRecordError: if it is something else.
        """
        use = cls(
            seconds=_decimals(data, "seconds"),
            memory_bytes=_wholes(data, "memory_bytes"),
            cpu_seconds=_decimals(data, "cpu_seconds"),
            files=_wholes(data, "files"),
            read_bytes=_wholes(data, "read_bytes"),
            written_bytes=_wholes(data, "written_bytes"),
            processes=_wholes(data, "processes"),
            largest=tuple(
                ProcessPeak(
                    pid=integer(each, "pid"),
                    name=text(each, "name"),
                    peak_bytes=integer(each, "peak_bytes"),
                )
                for each in records(data, "largest")
            ),
        )
        columns = (
            use.memory_bytes, use.cpu_seconds, use.files, use.read_bytes, use.written_bytes,
            use.processes,
        )  # fmt: skip
        if {len(each) for each in columns} != {len(use.seconds)}:
            raise MalformedRecordError("not as many figures of each kind as there are moments")
        return use


def _decimals(data: JsonObject, name: str) -> tuple[float, ...]:
    found = tuple(number({name: each}, name) for each in sequence(data, name))
    if not all(map(math.isfinite, found)):
        raise MalformedRecordError(f"`{name}` holds what is no number")
    return found


def _wholes(data: JsonObject, name: str) -> tuple[int, ...]:
    return tuple(integer({name: each}, name) for each in sequence(data, name))


_BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], width: int) -> str:
    """Return values as a row of at most ``width`` bars, each as high as the most of its share."""
    if not values:
        return ""
    count = min(width, len(values))
    shares = [
        max(values[at * len(values) // count : max((at + 1) * len(values) // count, 1)])
        for at in range(count)
    ]
    most = max(shares)
    if not 0 < most < math.inf:
        return _BARS[0] * count
    return "".join(_BARS[round((len(_BARS) - 1) * max(each, 0.0) / most)] for each in shares)
