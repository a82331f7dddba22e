"""Reads the trace of torch's profiler (Kineto): operators, the functions that call them, GPU work."""

import bisect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from whet.core.failure import Frame
from whet.core.observations.profile import (
    COUNT,
    CPU_SECONDS,
    GPU_SECONDS,
    Profile,
    ProfiledProcess,
    Recording,
)
from whet.core.observations.timeline import Span, Timeline
from whet.core.text.record import (
    JsonObject,
    as_record,
    decoded,
    items_of,
    number,
    optional_integer,
    optional_record,
    records,
    text,
)
from whet.measurement.profiles.line_table import innermost_own
from whet.measurement.profiles.positions import Positions
from whet.measurement.profiles.stack_table import StackTable

_PYTHON = re.compile(r"^(?P<path>.*)\((?P<line>\d{1,9})\): (?P<function>.*)$", re.DOTALL)
_MICROSECONDS = 1e6
_CALLS, _OPERATORS = {"python_function"}, {"cpu_op", "user_annotation"}
_RUNTIME = {"cuda_runtime", "cuda_driver"}
_ON_GPU = {"kernel", "gpu_memcpy", "gpu_memset"}
_COPIES = {"HtoD": "to the GPU", "DtoH": "from the GPU"}
_WAITS = re.compile(r"^cuda(?:Stream|Device|Event)Synchronize|^cuda(?:Stream|Device|Event)Query$")
_GRADIENTS = "autograd::engine"  # begins the names of what torch does in threads of its own
_MOST_SPANS = 3000
_LEAST_GAP = 1e-6

TORCH = "torch.profiler"
LAUNCHED = "launched_op"
"""The kind of an operation that a processor does, but that another thread has started."""

KERNELS, BUSY, WINDOW = "kernels", "gpu_busy_seconds", "gpu_window_seconds"
"""Facts: how many kernels there were, how long the GPU worked, between its first and last work."""
GAP_SECONDS = "gap_seconds"
"""What a stack of the main thread costs: time in which it was there and the GPU had nothing to do."""
SYNCHRONISATIONS, WAITING = "synchronisations", "synchronising_seconds"
COPIED, COPYING = "copied_bytes", "copying_seconds"

WAITS_FOR_GPU = Frame(path="", line=0, function="wait for the GPU", in_user_code=False)


@dataclass(slots=True)
class _Event:
    """An event of the trace, in seconds."""

    name: str
    kind: str
    start: float
    end: float
    correlation: int | None
    size: float
    inside: float = 0.0  # what events within it took


@dataclass(slots=True)
class _Trace:
    """The events of one process, by thread, and those of its GPUs."""

    threads: "dict[int | str | None, list[_Event]]" = field(
        default_factory=dict["int | str | None", "list[_Event]"]
    )
    gpu: "list[_Event]" = field(default_factory=list["_Event"])
    launched: "list[_Event]" = field(default_factory=list["_Event"])
    positions: Positions = field(default_factory=lambda: Positions({}, 0, bool))

    def place(
        self, thread: int | str | None, event: _Event, around: tuple[Frame, ...] = ()
    ) -> tuple[Frame, ...]:
        """Return the user's lines from which something was done.

        Gradients are made in a thread of torch's own, for the one that waits in `backward`.

        Args:
            thread: its number in the system.
            event: what was done.
            around: the user's lines from which that was done of which it is a part.
        """
        own = self.positions.threads
        if thread in own:
            return self.positions.at(thread, event.start)
        if not around and len(own) == 1 and event.name.startswith(_GRADIENTS):
            return self.positions.at(own[0], event.start)
        return around


def read_kineto(recording: Recording, is_own: Callable[[str], bool]) -> Profile:
    """Return the profile of the traces of a trial.

    Args:
        recording: the traces with their processes, as a JSON list.
        is_own: whether a file is the user's own; paths are relative to Python's folders.
    """
    table = StackTable()
    spans: list[Span] = []
    facts: dict[str, float] = {}
    processes: list[ProfiledProcess] = []
    seconds = 0.0
    for each in items_of(decoded(recording.running)):
        told = as_record(each, "trace")
        pid = optional_integer(told, "pid") or 0
        processes.append(ProfiledProcess(pid=pid, name="python"))
        trace = _trace(records(told, "traceEvents"), pid)
        base = optional_integer(told, "baseTimeNanoseconds") or 0
        trace.positions = Positions(optional_record(told, "positions") or {}, base, is_own)
        seconds = max(seconds, _add(table, trace, pid, is_own, facts))
        spans += _spans(trace, pid)
    has_gpu = facts.get(KERNELS, 0.0) > 0
    return Profile(
        question="gpu",
        engine=recording.engine,
        unit=GPU_SECONDS if has_gpu else CPU_SECONDS,
        frames=table.frames,
        stacks=table.stacks,
        seconds=seconds,
        processes=tuple(processes),
        facts=facts,
        timeline=Timeline(spans=tuple(sorted(spans, key=lambda each: each.start)[:_MOST_SPANS])),
        notes=tuple(_notes(recording, has_gpu=has_gpu)),
    )


def _notes(recording: Recording, *, has_gpu: bool) -> Iterator[str]:
    if recording.complaint:
        yield recording.complaint
    if not has_gpu and recording.engine == TORCH:
        yield "torch's profiler saw no work on a GPU, so this is processor time of its operators"


def _trace(events: Sequence[JsonObject], pid: int) -> _Trace:
    trace = _Trace()
    if any(event.get("tid") == pid for event in events):
        trace.threads[pid] = []  # the main thread comes first
    for event in events:
        kind = event.get("cat")
        if event.get("ph") != "X" or not isinstance(kind, str) or not {"ts", "dur"} <= event.keys():
            continue
        start, details = number(event, "ts"), optional_record(event, "args") or {}
        made = _Event(
            name=text(event, "name", ""),
            kind=kind,
            start=start / _MICROSECONDS,
            end=(start + number(event, "dur")) / _MICROSECONDS,
            correlation=optional_integer(details, "correlation"),
            size=0.0 if details.get("bytes") is None else number(details, "bytes"),
        )
        if kind in _ON_GPU:
            trace.gpu.append(made)
        elif kind == LAUNCHED:
            trace.launched.append(made)
        elif kind in _CALLS | _OPERATORS | _RUNTIME:
            trace.threads.setdefault(thread_key(event), []).append(made)
    return trace


def thread_key(event: JsonObject) -> int | str | None:
    """Return the thread of an event, as the trace calls it; None: it says nothing of use."""
    thread = event.get("tid")
    return thread if isinstance(thread, int | str) else None


def _add(
    table: StackTable,
    trace: _Trace,
    pid: int,
    is_own: Callable[[str], bool],
    facts: dict[str, float],
) -> float:
    """Add the events of a process to the table and the facts; return how long it was watched."""
    launched: dict[int, tuple[str, tuple[Frame, ...]]] = {}
    begun, ended = float("inf"), 0.0
    for place, (tid, events) in enumerate(trace.threads.items()):
        thread = "" if place == 0 else f"thread {place}"
        for event, frames in _nested(events, is_own, partial(trace.place, tid)):
            begun, ended = min(begun, event.start), max(ended, event.end)
            own = max(0.0, event.end - event.start - event.inside)
            if event.kind in _RUNTIME:
                if event.correlation is not None:
                    launched[event.correlation] = (thread, frames)
                if _WAITS.match(event.name):
                    _count(facts, SYNCHRONISATIONS, 1)
                    _count(facts, WAITING, own)
                    table.add(pid, thread, (*frames[:-1], WAITS_FOR_GPU), COUNT, 1)
            if event.kind not in _CALLS:
                table.add(pid, thread, frames, CPU_SECONDS, own)
    _add_launched(table, trace, pid, launched, facts)
    if trace.gpu:
        _count(facts, BUSY, _union(trace.gpu))
        first = min(each.start for each in trace.gpu)
        _count(facts, WINDOW, max(each.end for each in trace.gpu) - first)
        main = next(iter(trace.threads), pid)
        for where, gap in _in_gaps(trace, main, _Gaps(trace.gpu), is_own).items():
            table.add(pid, "", (where,), GAP_SECONDS, gap)
    return max(0.0, ended - begun)


class _Gaps:
    """The times between a GPU's first and last work in which it has nothing to do."""

    def __init__(self, work: Sequence[_Event]) -> None:
        self._starts: list[float] = []
        self._ends: list[float] = []
        self._sums = [0.0]
        until = None
        for each in sorted(work, key=lambda event: event.start):
            if until is not None and each.start > until:
                self._starts.append(until)
                self._ends.append(each.start)
                self._sums.append(self._sums[-1] + each.start - until)
            until = each.end if until is None else max(until, each.end)

        self.end = self._ends[-1] if self._ends else 0.0

    def between(self, begin: float, end: float) -> float:
        """Return for how long the GPU had nothing to do between two moments."""
        return self._before(end) - self._before(begin)

    def _before(self, moment: float) -> float:
        place = bisect.bisect_right(self._starts, moment)
        if not place:
            return 0.0
        return self._sums[place - 1] + min(moment, self._ends[place - 1]) - self._starts[place - 1]


def _in_gaps(
    trace: _Trace, thread: int | str | None, gaps: _Gaps, is_own: Callable[[str], bool]
) -> Mapping[Frame, float]:
    """Return in which lines or functions of the user's a thread is while the GPU has nothing to do."""
    seconds: dict[Frame, float] = {}
    if thread in trace.positions.threads:
        for begin, end, frames in trace.positions.stays(thread, gaps.end):
            if frames:
                seconds[frames[-1]] = seconds.get(frames[-1], 0.0) + gaps.between(begin, end)
    calls = [
        replace(each, inside=0.0) for each in trace.threads.get(thread, ()) if each.kind in _CALLS
    ]
    for event, frames in _nested(calls, is_own):
        gap = gaps.between(event.start, event.end)
        for stack, sign in ((frames, 1), (frames[:-1], -1)):
            place = innermost_own(stack)
            if place is not None and place.in_user_code:
                seconds[place] = seconds.get(place, 0.0) + sign * gap
    return {place: gap for place, gap in seconds.items() if gap > _LEAST_GAP}


def _add_launched(
    table: StackTable,
    trace: _Trace,
    pid: int,
    launched: Mapping[int, tuple[str, tuple[Frame, ...]]],
    facts: dict[str, float],
) -> None:
    """Add what was done elsewhere, with the stacks that started it."""
    for event in (*trace.launched, *trace.gpu):
        seconds = event.end - event.start
        thread, frames = launched.get(event.correlation or -1, ("", ()))
        work = Frame(path="", line=0, function=event.name, in_user_code=False)
        unit = GPU_SECONDS if event.kind in _ON_GPU else CPU_SECONDS
        table.add(pid, thread, (*frames[:-1], work), unit, seconds)
        if event.kind == "kernel":
            _count(facts, KERNELS, 1)
        elif event.kind in _ON_GPU:
            _count(facts, COPIED, event.size)
            _count(facts, COPYING, seconds)


def _count(facts: dict[str, float], name: str, number: float) -> None:
    facts[name] = facts.get(name, 0.0) + number


def _union(events: Sequence[_Event]) -> float:
    """Return for how long at least one of some events took place."""
    busy, until = 0.0, 0.0
    for each in sorted(events, key=lambda event: event.start):
        busy += max(0.0, each.end - max(each.start, until))
        until = max(until, each.end)
    return busy


def _nested(
    events: Sequence[_Event],
    is_own: Callable[[str], bool],
    place: Callable[[_Event, tuple[Frame, ...]], tuple[Frame, ...]] = lambda _event, around: around,
) -> Iterator[tuple[_Event, tuple[Frame, ...]]]:
    """Yield each event of a thread, when it has ended, with its stack."""
    known: dict[str, Frame] = {}
    open_events: list[tuple[_Event, tuple[Frame, ...], tuple[Frame, ...]]] = []

    def ended() -> tuple[_Event, tuple[Frame, ...]]:
        event, own, calls = open_events.pop()
        return event, (*own, *calls)

    for event in sorted(events, key=lambda each: (each.start, -each.end)):
        while open_events and open_events[-1][0].end <= event.start:
            yield ended()
        around: tuple[Frame, ...] = ()
        above: tuple[Frame, ...] = ()
        if open_events:
            parent, around, above = open_events[-1]
            parent.inside += min(event.end, parent.end) - event.start
        frame = known.get(event.name)
        if frame is None:
            frame = known[event.name] = _frame(event.name, is_own)
        open_events.append((event, place(event, around), (*above, frame)))
    while open_events:
        yield ended()


def _frame(name: str, is_own: Callable[[str], bool]) -> Frame:
    match = _PYTHON.match(name)
    if match is None:
        return Frame(path="", line=0, function=name, in_user_code=False)
    path = match["path"]
    return Frame(
        path=path, line=int(match["line"]), function=match["function"], in_user_code=is_own(path)
    )


def _spans(trace: _Trace, pid: int) -> Iterator[Span]:
    """Yield what was on the GPU, and the longest operators."""
    events = [*trace.gpu, *(each for row in trace.threads.values() for each in row)]
    if not events:
        return
    begun = min(each.start for each in events)
    shown = trace.gpu or [
        each for row in trace.threads.values() for each in row if each.kind in _OPERATORS
    ]
    for each in sorted(shown, key=lambda event: event.start - event.end)[:_MOST_SPANS]:
        yield Span(
            name=each.name,
            start=round(each.start - begun, 6),
            seconds=round(each.end - each.start, 6),
            pid=pid,
            thread="GPU" if each.kind in _ON_GPU else "",
            source="gpu" if each.kind in _ON_GPU else "operator",
        )
