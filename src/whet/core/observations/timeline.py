"""What happened when in a trial: sections, marks and levels, from whichever source, in one form."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from whet.core.text.json_record import Record, sparse
from whet.core.text.record import as_record, decoded
from whet.core.value_class import value_class

_NO_WORD = re.compile(r"[^\w.]")


@value_class(kw_only=True)
class Span(Record):
    """A stretch of one thread's time: a section, an annotated range, a kernel on a GPU.

    Attributes:
        name: as the program calls it, such as ``load``.
        start: seconds since the command started.
        seconds: how long it took; None: the program ended before it did.
        pid: the process.
        thread: the thread's name, or the stream's on a GPU; empty: the main thread.
        task: the asyncio task's name; empty: none.
        parent: place in `Timeline.spans` of the span around it, in the same thread and task; or None.
        source: what recorded it, such as ``section``, ``annotate``, ``cuda``.
        numbers: what was measured, by name with its unit, such as ``cpu_seconds``,
            ``peak_memory_bytes``, ``kept_memory_bytes``.
        words: what else it carries, such as ``color``, ``domain``, ``category``, ``payload``.
    """

    name: str
    start: float
    seconds: float | None = None
    pid: int = sparse(0)
    thread: str = sparse("")
    task: str = sparse("")
    parent: int | None = sparse(None)
    source: str = sparse("section")
    numbers: Mapping[str, float] = field(default_factory=dict[str, float])
    words: Mapping[str, object] = field(default_factory=dict[str, object])


@value_class(kw_only=True)
class Mark(Record):
    """A moment that the program, or a profiler, points out.

    Attributes:
        name: as the program calls it.
        at: seconds since the command started.
        pid: the process.
        thread: the thread's name; empty: the main thread.
        source: what recorded it.
        words: what else it carries, as of a `Span`.
    """

    name: str
    at: float
    pid: int = sparse(0)
    thread: str = sparse("")
    source: str = sparse("annotate")
    words: Mapping[str, object] = field(default_factory=dict[str, object])


@value_class(kw_only=True)
class Level(Record):
    """A quantity over time, such as the memory of one process; columns of equal length.

    Attributes:
        name: what it is, such as ``memory`` or ``train.py:31 loss``.
        unit: such as ``bytes``, ``seconds``, ``percent``; empty: a plain number.
        seconds: when, since the command started.
        values: what it was then.
        source: what recorded it.
    """

    name: str
    unit: str
    seconds: tuple[float, ...]
    values: tuple[float, ...]
    source: str = sparse("")


@value_class(kw_only=True)
class SectionTotal(Record):
    """All runs of the sections of one name, in all processes of a trial.

    Attributes:
        name: as the program calls it.
        count: runs that ended.
        seconds: wall time of all of them; one inside another of its own name counts once.
        cpu_seconds: CPU time that their processes, and children these waited for, used meanwhile;
            time in which several of them were open counts once.
        peak_memory_bytes: the most memory that a process held while one was open; None: unknown.
        kept_memory_bytes: how much more memory their processes held after them than before; None: unknown.
        open_count: runs that were still open when their process ended; they count nowhere else.
        others: what else was counted, such as ``gpu_peak_memory``, ``python_kept_memory``,
            ``kept_objects``.
    """

    name: str
    count: int
    seconds: float
    cpu_seconds: float
    peak_memory_bytes: int | None = None
    kept_memory_bytes: int | None = None
    open_count: int = sparse(0)
    others: Mapping[str, float] = field(default_factory=dict[str, float], metadata={"sparse": True})

    @property
    def measure(self) -> str:
        """What its numbers begin with: the name, with ``_`` for what a condition can't say."""
        plain = _NO_WORD.sub("_", self.name)
        return f"_{plain}" if plain[:1].isdigit() or plain[:1] == "." else plain

    @property
    def numbers(self) -> Mapping[str, float]:
        """Its numbers as a trial keeps them, such as ``load.seconds``; runs that didn't end give none."""
        if not self.count:
            return {}
        numbers = {
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "peak_memory": self.peak_memory_bytes,
            "kept_memory": self.kept_memory_bytes,
            "count": self.count,
            **self.others,
        }
        return {
            f"{self.measure}.{key}": value for key, value in numbers.items() if value is not None
        }


@value_class(kw_only=True)
class Timeline(Record):
    """What was recorded of one trial; each list in the order of time.

    Attributes:
        spans: stretches of time.
        marks: moments.
        levels: quantities.
        totals: what the runs of each section come to, also of runs that have no span.
        notes: what could not be recorded, in sentences.
    """

    spans: tuple[Span, ...] = ()
    marks: tuple[Mark, ...] = ()
    levels: tuple[Level, ...] = ()
    totals: tuple[SectionTotal, ...] = sparse(())
    notes: tuple[str, ...] = ()

    def to_bytes(self) -> bytes:
        """Return this as the data of an `Evidence`."""
        return json.dumps(self.to_json()).encode("ascii")

    @classmethod
    def from_bytes(cls, data: bytes) -> "Timeline":
        """Return what ``to_bytes`` wrote.

        Raises:
            MalformedRecordError: if it is something else.
        """
        return cls.from_json(as_record(decoded(data), "timeline"))

    def named(self, name: str) -> Sequence[Span]:
        """Return the spans of a name, in the order in which they started."""
        return [each for each in self.spans if each.name == name]

    @property
    def names(self) -> Sequence[str]:
        """The names of its spans, each once, in the order in which they first started."""
        return list(dict.fromkeys(each.name for each in self.spans))
