"""The reports of the probes in a program that has ended."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path

from whet.core.text.json_record import Record, anything, pairs
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    as_record,
    decoded,
    integer,
    item_at,
    items_of,
    number,
    optional_integer,
    record,
    records,
    row,
    rows,
    text,
    whole,
)
from whet.core.value_class import value_class
from whet.evidence.variables.kept_value import value_line

_WIDTH = 100
_LEAST_SHOWN_SECONDS = 0.001
_MOST_PROCESSES = 8


@value_class(kw_only=True)
class PlaceReport:
    """The report about one place.

    Attributes:
        title: what it is called.
        kind: the kind of place: a line, a call and so on.
        path: the file that was meant; empty: any.
        by_process: how often each process came there.
        loaded: the files that were loaded for it.
        is_early: Python had its module before anything could be put into it.
        is_unwoven: something else compiled it, and put nothing into it.
    """

    title: str
    kind: str
    path: str
    by_process: dict[int, int]
    loaded: tuple[str, ...]
    is_early: bool
    is_unwoven: bool

    @property
    def count(self) -> int:
        """How often the program came there."""
        return sum(self.by_process.values())


@value_class(kw_only=True)
class Hit(Record):
    """A time at which something was done at a place.

    Attributes:
        title: the place.
        kind: the kind of place.
        pid: the process.
        rank: its place in a distributed job, if it had one.
        at: when, as seconds since 1970.
        function: in which function.
        line: on which line.
        values: what was printed, by expression.
        memory: what the process held, in bytes.
        stack: file, line and function of the frames, innermost first.
    """

    title: str
    kind: str
    pid: int
    rank: int | None
    at: float
    function: str
    line: int
    values: tuple[tuple[str, object], ...] = field(
        metadata={"codec": pairs("expression", "value", anything)}
    )
    memory: dict[str, int]
    stack: tuple[tuple[str, int, str], ...]


@value_class(kw_only=True)
class Call(Record):
    """A call of a function that was followed.

    Attributes:
        pid: the process.
        rank: its place in a distributed job, if it had one.
        number: which call of the process it was.
        caller: the number of the call around it; 0: none that was followed.
        function: its name.
        path: its file.
        line: where it is defined.
        arguments: what it was called with.
        seconds: how long it took; None: it had not ended.
        error: what it raised, by its type; empty: it has returned.
        value: what it returned, or the error.
    """

    pid: int
    rank: int | None
    number: int
    caller: int
    function: str
    path: str
    line: int
    arguments: tuple[tuple[str, object], ...] = field(
        metadata={"codec": pairs("name", "value", anything)}
    )
    seconds: float | None
    error: str
    value: object


@value_class(kw_only=True)
class ProbeReport:
    """All that was seen.

    Attributes:
        places: each place, in the order in which they were named.
        hits: what was done where, in the order of time.
        calls: the calls that were followed, in the order in which they began.
    """

    places: tuple[PlaceReport, ...]
    hits: tuple[Hit, ...]
    calls: tuple[Call, ...]


def probe_report(data: bytes) -> ProbeReport:
    """Return what an observation of the kind ``probes`` says.

    Raises:
        MalformedRecordError: if it is something else.
    """
    data_record = as_record(decoded(data), "probes")
    places, lines = records(data_record, "probes"), records(data_record, "told")
    counts = {
        _pid(pid): [whole(each) for each in row(numbers, len(places))]
        for pid, numbers in record(data_record, "counts").items()
    }
    return ProbeReport(
        places=tuple(_place(position, each, lines, counts) for position, each in enumerate(places)),
        hits=tuple(_hit(each, places) for each in lines if "values" in each or "stack" in each),
        calls=tuple(_calls(lines)),
    )


def _pid(name: str) -> int:
    if not name.isdecimal():
        raise MalformedRecordError(f"`{name[:20]}` isn't the number of a process")
    return int(name[:9])


def _place(
    position: int, place: JsonObject, told: Sequence[JsonObject], counts: dict[int, list[int]]
) -> PlaceReport:
    loads = [
        text(each, "loaded")
        for each in told
        if "loaded" in each and position in items_of(each.get("probes"))
    ]
    return PlaceReport(
        title=text(place, "title"),
        kind=text(place, "kind"),
        path=text(place, "path"),
        by_process={pid: each[position] for pid, each in counts.items() if each[position]},
        loaded=tuple(dict.fromkeys(loads)),
        is_unwoven=any(
            "unwoven" in each and position in items_of(each.get("probes")) for each in told
        ),
        is_early=any("early" in each and each.get("probe") == position for each in told),
    )


def _hit(told: JsonObject, places: Sequence[JsonObject]) -> Hit:
    place = item_at(places, told.get("probe"))
    memory = record(told, "memory") if "memory" in told else dict[str, object]()
    return Hit(
        title=text(place, "title"),
        kind=text(place, "kind"),
        pid=integer(told, "pid"),
        rank=optional_integer(told, "rank"),
        at=number(told, "at"),
        function=text(told, "function"),
        line=integer(told, "line"),
        values=_pairs(told.get("values")),
        memory={name: whole(value) for name, value in memory.items()},
        stack=tuple(
            (str(path), whole(line), str(function))
            for path, line, function in rows(told.get("stack"), 3)
        ),
    )


def _calls(told: Sequence[JsonObject]) -> Iterator[Call]:
    ends = {(integer(each, "pid"), integer(each, "end")): each for each in told if "end" in each}
    for each in told:
        if "call" not in each:
            continue
        pid, call = integer(each, "pid"), integer(each, "call")
        end = ends.get((pid, call))
        yield Call(
            pid=pid,
            rank=optional_integer(each, "rank"),
            number=call,
            caller=integer(each, "caller"),
            function=text(each, "function"),
            path=text(each, "path"),
            line=integer(each, "line"),
            arguments=_pairs(each.get("arguments")),
            seconds=None if end is None else number(end, "at") - number(each, "at"),
            error=str(end.get("error", "")) if end is not None else "",
            value=None if end is None else end.get("value"),
        )


def _pairs(value: object) -> tuple[tuple[str, object], ...]:
    return tuple((str(name), content) for name, content in rows(value, 2))


# ---- in words ----


def place_line(place: PlaceReport) -> str:
    """Return how often a place was reached, or why it was not."""
    if place.count:
        times = shown_count(place.count, "time")
        if len(place.by_process) == 1:
            return f"{place.title}: {times}"
        each = sorted(place.by_process.items())[:_MOST_PROCESSES]
        words = ", ".join(f"{pid}: {count}" for pid, count in each)
        more = ", …" if len(place.by_process) > len(each) else ""
        return f"{place.title}: {times}, in {len(place.by_process)} processes ({words}{more})"
    if place.kind == "raise":
        return f"{place.title}: none reached your own code"
    if place.is_early:
        return (
            f"{place.title}: unknown; Python had loaded it before the program began, and this"
            " version can't look into it later (3.12 can)"
        )
    if place.is_unwoven:
        return (
            f"{place.title}: unknown; a loader other than Python's own compiled its file"
            " (Python 3.12 can look into it)"
        )
    others = [each for each in place.loaded if each != place.path]
    if others:
        return f"{place.title}: never; another file was loaded for it: {others[0]}"
    if not place.loaded:
        return f"{place.title}: never; no Python process of the command loaded {place.path}"
    return f"{place.title}: never; its file was loaded, but the program never got there"


def hit_lines(hit: Hit) -> list[str]:
    """Return a hit as lines: what was printed, and the stack below."""
    whose = f"{hit.pid}" if hit.rank is None else f"rank {hit.rank}, {hit.pid}"
    words = [f"{name} = {value_line(value, _WIDTH)}" for name, value in hit.values]
    words += [f"{name.removesuffix('_bytes').replace('_', ' ')} {shown_bytes(value)}"
              for name, value in hit.memory.items()]  # fmt: skip
    function = "" if hit.function == "<module>" else f" {hit.function}"
    lines = ["  ".join([f"[{whose}] {hit.title}{function}", *words])]
    return lines + [f"    {path}:{line} in {name}" for path, line, name in hit.stack]


def call_lines(calls: Sequence[Call]) -> Iterator[str]:
    """Yield the calls as a tree, each process on its own."""
    keys = {(each.pid, each.number) for each in calls}
    below: dict[tuple[int, int], list[Call]] = {}
    for each in calls:
        # A forked process continues below a call of its parent, which isn't its own.
        is_own = (each.pid, each.caller) in keys and each.caller < each.number
        caller = each.caller if is_own else 0
        below.setdefault((each.pid, caller), []).append(each)
    for pid in dict.fromkeys(each.pid for each in calls):
        first = below[(pid, 0)][0]
        rank = "" if first.rank is None else f", rank {first.rank}"
        yield f"process {pid}{rank}"
        # Not by recursion: what was followed may have gone deeper than this may.
        stack = [(each, 1) for each in reversed(below[(pid, 0)])]
        while stack:
            call, depth = stack.pop()
            yield f"{'  ' * depth}{_call_line(call)}"
            inner = below.pop((pid, call.number), [])  # once, should two calls have one number
            stack += [(each, depth + 1) for each in reversed(inner)]


def _call_line(call: Call) -> str:
    arguments = ", ".join(f"{name}={value_line(value, 40)}" for name, value in call.arguments)
    if call.seconds is None:
        end = "has not ended"
    elif call.error:
        end = f"raises {value_line(call.value, _WIDTH)}"
    else:
        end = f"→ {value_line(call.value, _WIDTH)}"
    took = ""
    if call.seconds is not None and call.seconds >= _LEAST_SHOWN_SECONDS:
        took = f"  ({shown_seconds(call.seconds)})"
    return f"{call.function}({arguments})  {end}{took}  {Path(call.path).name}:{call.line}"
