"""The reports that a trial's processes leave about their sections; `whet_sections` writes them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.core.observations.evidence import TIMELINE, Evidence
from whet.core.observations.timeline import Mark, SectionTotal, Span, Timeline
from whet.core.outcome import Outcome
from whet.core.text.quantity import listed, shown_count
from whet.host.files.agent_files import process_of, report_at
from whet.host.trial.known_secrets import veiled_data

_SUFFIX = ".sections"
_SECTION = "section"
_END = b"\t."
_MOST_BYTES = 16 << 20
_MOST_SPANS = 10_000
_MOST_TOTALS = 200
_MOST_LISTED = 3
_NANOSECONDS = 1e9
_WORDS = ("color", "domain", "category", "payload")
_RESUMED = "this run resumed from a frozen copy, and its sections count from there"
_BEHIND = "the program was killed: its sums of sections may be behind by a tenth of its time"


def with_sections(outcome: Outcome, agent_folder: Path, started_at: float) -> Outcome:
    """Return an outcome with the sections of its processes: as evidence, and as measurements.

    Args:
        outcome: without them.
        agent_folder: where processes leave their reports.
        started_at: when the command started, in seconds of `time.monotonic`; 0: unknown.
    """
    paths = sorted(agent_folder.glob(f"*{_SUFFIX}"))
    if not paths:
        return outcome
    processes = [_Process(path) for path in paths]
    is_killed = outcome.timed_out or outcome.signal is not None
    timeline = _timeline(processes, started_at)
    if is_killed and any(each.is_summed for each in processes):
        timeline = replace(timeline, notes=(*timeline.notes, _BEHIND))
    numbers, without = _numbers(timeline.totals)
    timeline = replace(timeline, notes=(*timeline.notes, *without))
    highest = max((each.highest for each in processes), default=0)
    data = veiled_data(timeline.to_bytes())  # a name may hold a secret
    return replace(
        outcome,
        measurements={**numbers, **outcome.measurements},
        # The kernel's own mark for a process may have been put back on the way.
        peak_rss_bytes=max(outcome.peak_rss_bytes, highest),
        evidence=(*outcome.evidence, Evidence(kind=TIMELINE, data=data)),
    )


def sections_so_far(agent_folder: Path, started_at: float) -> Timeline:
    """Return the sections of a trial that still runs; arguments as of `with_sections`."""
    paths = sorted(agent_folder.glob(f"*{_SUFFIX}"))
    timeline = _timeline([_Process(path) for path in paths], started_at)
    return replace(timeline, notes=())


def _numbers(totals: Sequence[SectionTotal]) -> tuple[dict[str, float], list[str]]:
    """Return the measurements of sections, and in sentences which sections have none."""
    numbers: dict[str, float] = {}
    names: dict[str, str] = {}
    notes: list[str] = []
    for total in totals[:_MOST_TOTALS]:
        first = names.setdefault(total.measure, total.name)
        if first == total.name:
            numbers.update(total.numbers)
        else:
            notes.append(
                f"`{total.measure}.seconds` and the like are of the section `{first}`, not of `{total.name}`"
            )
    if len(totals) > _MOST_TOTALS:
        notes.append(
            f"only the first {_MOST_TOTALS} of {len(totals):,} sections give numbers for conditions"
        )
    return numbers, notes


class _Sums:
    """What one process says of the runs of one name."""

    def __init__(self, fields: Sequence[bytes]) -> None:
        count, still_open, nanoseconds, cpu, peak, kept, highest, name, more = fields
        self.count, self.open_count = int(count), int(still_open)
        self.seconds, self.cpu_seconds = int(nanoseconds) / _NANOSECONDS, int(cpu) / _NANOSECONDS
        self.peak, self.kept, self.highest = int(peak), int(kept), int(highest)
        self.name = _name(name)
        self.more = dict(map(_counted, more.split(b";"))) if more else {}


class _Process:
    """What one process has written.

    Attributes:
        pid: its number.
        spans: by their numbers; without the ones that were only summed.
        marks: in the order of time.
        sums: by the name.
        left_out: how many ranges and marks it hasn't written down.
        highest: the most memory that it is known to have held.
        is_summed: some of the runs are only in the sums.
        notes: what is missing.
    """

    def __init__(self, path: Path) -> None:
        self.pid = process_of(path)
        self.spans: dict[int, Span] = {}
        self.marks: list[Mark] = []
        self.sums: dict[str, _Sums] = {}
        self.left_out = 0
        self.highest = 0
        self.notes: list[str] = []
        self.is_summed = False
        for fields in _records(path):
            with suppress(ValueError, LookupError, OverflowError):  # not ours, or damaged
                self._read(fields)
        self._note_gaps()

    @property
    def _sections(self) -> int:
        return sum(each.source == _SECTION for each in self.spans.values())

    def _read(self, fields: Sequence[bytes]) -> None:
        kind, *rest = fields
        readers = {
            b"begin": self._read_begin,
            b"end": self._read_end,
            b"over": self._read_over,
            b"mark": self._read_mark,
            b"objects": self._read_objects,
            b"sums": self._read_sums,
            b"resumed": self._read_resumed,
            b"left out": self._read_left_out,
        }
        readers[kind](rest)

    def _read_begin(self, rest: Sequence[bytes]) -> None:
        number, parent, at = (int(each) for each in rest[:3])
        name, thread, task, source = map(_name, rest[3:7])
        self.spans[number] = Span(
            name=name,
            start=at / _NANOSECONDS,
            pid=self.pid,
            thread=thread,
            task=task,
            parent=parent if parent in self.spans else None,
            source=source,
            words=_words(rest[7:]),
        )

    def _read_end(self, rest: Sequence[bytes]) -> None:
        number, nanoseconds, peak, kept = (int(each) for each in rest[:4])
        self._add(_Sums(rest[4:13]))
        own = [("peak_memory", peak), ("kept_memory", kept)] if peak >= 0 else []
        for field in rest[13:]:
            counter, (most, change) = _counted(field)
            own += _more(counter, most, change)
        numbers = {f"{key}_bytes" if "memory" in key else key: float(each) for key, each in own}
        seconds = nanoseconds / _NANOSECONDS
        self.spans[number] = replace(self.spans[number], seconds=seconds, numbers=numbers)

    def _read_over(self, rest: Sequence[bytes]) -> None:
        number, nanoseconds = map(int, rest)
        seconds = nanoseconds / _NANOSECONDS
        self.spans[number] = replace(self.spans[number], seconds=seconds)

    def _read_mark(self, rest: Sequence[bytes]) -> None:
        name, thread = map(_name, rest[1:3])
        at, words = int(rest[0]) / _NANOSECONDS, _words(rest[4:])
        self.marks.append(Mark(name=name, at=at, pid=self.pid, thread=thread, words=words))

    def _read_objects(self, rest: Sequence[bytes]) -> None:
        number = int(rest[0])
        self.spans[number] = replace(self.spans[number], words={"objects": _name(rest[1])})

    def _read_sums(self, rest: Sequence[bytes]) -> None:
        sums = _Sums(rest)
        self._add(sums)
        self.is_summed |= bool(sums.name)

    def _read_resumed(self, rest: Sequence[bytes]) -> None:
        ended = [f"`{_name(each)}`" for each in rest if each]
        had_ended = f"; {listed(ended)} had ended before" if ended else ""
        self.notes.append(f"{_RESUMED}{had_ended}")

    def _read_left_out(self, rest: Sequence[bytes]) -> None:
        self.left_out = int(rest[0])

    def _add(self, sums: _Sums) -> None:
        self.sums[sums.name] = sums  # each line says all that was until then
        self.highest = max(self.highest, sums.highest)

    def _note_gaps(self) -> None:
        missing = max(self.spans, default=-1) + 1 - len(self.spans)
        if missing:
            runs = shown_count(missing, "run")
            self.notes.append(
                f"process {self.pid} couldn't write down {runs} of its sections: no space was left in `TMPDIR`"
            )
        if self.is_summed:
            self.notes.append(
                f"process {self.pid} ran more than {self._sections:,} sections: whet keeps these one"
                " by one, and of the others the sums"
            )
        if self.left_out:
            self.notes.append(
                f"process {self.pid} made very many annotations: {self.left_out:,} more are left out"
            )
        if "" in self.sums:
            runs = shown_count(self.sums.pop("").count, "run")
            self.notes.append(
                f"process {self.pid} used more than {len(self.sums):,} names of sections:"
                f" {runs} of other names count nowhere"
            )


def _timeline(processes: Sequence[_Process], started_at: float) -> Timeline:
    """Return what all processes of a trial say, in the order of time."""
    placed = sorted(
        ((each.start, index, number) for index, process in enumerate(processes)
         for number, each in process.spans.items()),
    )  # fmt: skip
    marks = sorted((each for process in processes for each in process.marks), key=_moment)
    if not started_at:
        started_at = min(
            [*(each[0] for each in placed[:1]), *(each.at for each in marks[:1])], default=0.0
        )
    places = {(index, number): place for place, (_, index, number) in enumerate(placed)}
    spans: list[Span] = []
    for _, index, number in placed[:_MOST_SPANS]:
        span = processes[index].spans[number]
        parent = None if span.parent is None else places[index, span.parent]
        spans.append(replace(span, start=round(span.start - started_at, 9), parent=parent))
    totals = _totals(processes, spans)
    notes = [note for each in processes for note in (*_shared(each), *each.notes)]
    if len(placed) > _MOST_SPANS:
        notes.append(
            f"of {len(placed):,} sections and annotations, whet keeps the first {_MOST_SPANS:,}"
        )
    return Timeline(
        spans=tuple(spans),
        marks=tuple(replace(each, at=round(each.at - started_at, 9)) for each in marks),
        totals=tuple(totals),
        notes=(*_open_notes(processes), *notes),
    )


def _moment(mark: Mark) -> float:
    return mark.at


def _totals(processes: Sequence[_Process], spans: Sequence[Span]) -> list[SectionTotal]:
    """Return the totals of each name, in the order in which they first began."""
    sections = [each for each in spans if each.source == _SECTION]
    names = dict.fromkeys(each.name for each in sections)
    names.update(dict.fromkeys(name for each in processes for name in each.sums))
    open_spans = [each.name for each in sections if each.seconds is None]
    totals: list[SectionTotal] = []
    for name in names:
        sums = [each.sums[name] for each in processes if name in each.sums]
        peaks = [each.peak for each in sums]
        is_known = bool(peaks) and min(peaks) >= 0
        totals.append(
            SectionTotal(
                name=name,
                count=sum(each.count for each in sums),
                seconds=sum(each.seconds for each in sums),
                cpu_seconds=sum(each.cpu_seconds for each in sums),
                peak_memory_bytes=max(peaks) if is_known else None,
                kept_memory_bytes=sum(each.kept for each in sums) if is_known else None,
                open_count=open_spans.count(name),
                others=_others(sums),
            )
        )
    return totals


def _others(sums: Sequence[_Sums]) -> dict[str, float]:
    """Return what gauges counted, over all processes."""
    others: dict[str, float] = {}
    for name in dict.fromkeys(name for each in sums for name in each.more):
        pairs = [each.more[name] for each in sums if name in each.more]
        others.update(_more(name, max(most for most, _ in pairs), sum(kept for _, kept in pairs)))
    return others


def _more(counter: str, most: int, kept: int) -> list[tuple[str, int]]:
    """Return the numbers of one counter by their names."""
    if counter == "objects":
        return [("kept_objects", kept)]
    peak = [(f"{counter}_peak_memory", most)] if most >= 0 else []
    return [*peak, (f"{counter}_kept_memory", kept)]


def _counted(field: bytes) -> tuple[str, tuple[int, int]]:
    name, most, kept = field.split(b",")
    return name.decode("ascii"), (int(most), int(kept))


def _open_notes(processes: Iterable[_Process]) -> Iterator[str]:
    """Say which sections had not ended when their process did."""
    for process in processes:
        names = [each.name for each in process.spans.values() if each.seconds is None]
        if names:
            shown = [f"`{name}`" for name in dict.fromkeys(names)]
            more = len(shown) - _MOST_LISTED
            shown = [*shown[:_MOST_LISTED], *([f"{more} more"] if more > 0 else [])]
            were = "was" if len(shown) == 1 else "were"
            yield f"{listed(shown)} {were} still open when process {process.pid} ended"


def _shared(process: _Process) -> Iterator[str]:
    """Say it where sections of several threads were open at once: they share the process."""
    ends: dict[str, float] = {}
    for span in process.spans.values():
        if span.source != _SECTION:
            continue
        if any(end > span.start for thread, end in ends.items() if thread != span.thread):
            yield (
                f"threads of process {process.pid} had sections open at the same time: CPU, peak and"
                " kept memory of a section are those of the whole process meanwhile"
            )
            return
        end = float("inf") if span.seconds is None else span.start + span.seconds
        ends[span.thread] = max(end, ends.get(span.thread, 0.0))


def _records(path: Path) -> Iterator[Sequence[bytes]]:
    data = b""
    with suppress(OSError):
        data = report_at(path, most_bytes=_MOST_BYTES)
    # A line that a full disk or a kill has cut off has no end.
    return (line[: -len(_END)].split(b"\t") for line in data.split(b"\n") if line.endswith(_END))


def _words(fields: Sequence[bytes]) -> dict[str, object]:
    """Return what a range carries."""
    words: dict[str, object] = {}
    for key, field in zip(_WORDS, map(_name, fields), strict=False):
        if field.startswith("'"):
            words[key] = field[1:]
        elif field:
            words[key] = int(field) if field.lstrip("-").isdigit() else float(field)
    return words


def _name(data: bytes) -> str:
    return data.decode("unicode_escape")
