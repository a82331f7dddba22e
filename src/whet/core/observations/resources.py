"""What a trial used while it ran: a few numbers at some moments, and who used most."""

import math
from collections.abc import Sequence
from typing import Self

from whet.core.text.json_record import Record
from whet.core.text.record import JsonObject, MalformedRecordError
from whet.core.value_class import value_class


@value_class(kw_only=True)
class ProcessPeak(Record):
    """The most memory that one process held.

    Attributes:
        pid: its number.
        name: its name, such as ``python``.
        peak_bytes: how much it held in RAM, seen at some moment.
    """

    pid: int
    name: str
    peak_bytes: int


@value_class(kw_only=True)
class ResourceUse(Record):
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

    @classmethod
    def from_json(cls, data: JsonObject, **known: object) -> Self:
        """Return what ``to_json`` wrote.

        Raises:
            MalformedRecordError: if it is something else.
        """
        use = super().from_json(data, **known)
        for name, column in (("seconds", use.seconds), ("cpu_seconds", use.cpu_seconds)):
            if not all(map(math.isfinite, column)):
                raise MalformedRecordError(f"`{name}` holds a value that isn't a number")
        columns = (
            use.memory_bytes, use.cpu_seconds, use.files, use.read_bytes, use.written_bytes,
            use.processes,
        )  # fmt: skip
        if {len(each) for each in columns} != {len(use.seconds)}:
            raise MalformedRecordError("not as many figures of each kind as there are moments")
        return use


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
