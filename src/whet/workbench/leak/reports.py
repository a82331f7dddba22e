"""What agents have measured, read from a trial."""

from collections.abc import Mapping, Sequence

from whet.core.observations.evidence import LEAK, Evidence
from whet.core.text.record import (
    JsonObject,
    as_record,
    decoded,
    integer,
    items_of,
    number,
    optional_record,
    record,
    records,
    row,
    text,
    whole,
)
from whet.core.value_class import value_class
from whet.measurement.leaks.verdict import MEMORY, Series
from whet.workbench.leak.wish import Loop


@value_class(kw_only=True)
class Rounds:
    """What a process held at the rounds of a loop.

    Attributes:
        loop: it.
        process: its number.
        series: what was held.
        seconds: from the first round to the last one.
        was_stopped: whet ended the program, as the time was up.
    """

    loop: Loop
    process: int
    series: Series
    seconds: float
    was_stopped: bool

    @property
    def count(self) -> int:
        """How many rounds there were."""
        return self.series.numbers[-1]


@value_class(kw_only=True)
class Repeated:
    """What a process held while a call was repeated.

    Attributes:
        function: its qualified name.
        path: the file of it.
        line: where it begins.
        consumed: arguments that the first call has used up, as name and type.
        uncopied: why no copies of the process were made; empty: they were.
        control: what was held while nothing was called.
        series: what was held after calls.
        doubled: bytes in use that 0, 1, 2, 4 and 8 calls add, each in a copy of its own, by the number of calls.
        problems: what went wrong, in words.
    """

    function: str
    path: str
    line: int
    consumed: tuple[str, ...]
    uncopied: str
    control: tuple[Mapping[str, int], ...]
    series: Series
    doubled: Mapping[int, int]
    problems: tuple[str, ...]


@value_class(kw_only=True)
class AllocatingLine:
    """A line and what it has allocated that is still there.

    Attributes:
        path: its file.
        line: its number.
        is_own: it is the user's.
        gained: bytes.
    """

    path: str
    line: int
    is_own: bool
    gained: int


@value_class(kw_only=True)
class GrownHolder:
    """Who holds what was added, as the agent has seen it.

    Attributes:
        label: how a name leads to it: `cache.entries['a']`.
        kind: what the name is of: ``module``, ``local``, ``class``, ``function`` or ``cache``.
        path: the file of that.
        line: where that begins; 0: it isn't known.
        within: the module, the class or the function.
        type: what it is itself.
        added: how many items it has gained.
        length: how many it has.
        item: the type of an item.
        bound: how many it can have; 0: any number.
    """

    label: str
    kind: str
    path: str
    line: int
    within: str
    type: str
    added: int
    length: int
    item: str
    bound: int


@value_class(kw_only=True)
class Growth:
    """What the repetitions of a piece added.

    Attributes:
        repetitions: how often that was.
        traced: bytes that Python knows of.
        lines: who allocated it, the most first.
        types: by type, how many objects of it were added.
        holders: who holds it.
        files: what was opened, as number and path.
        threads: the threads that were started: name, file, line, target.
    """

    repetitions: int
    traced: int
    lines: tuple[AllocatingLine, ...]
    types: Mapping[str, int]
    holders: tuple[GrownHolder, ...]
    files: tuple[tuple[int, str], ...]
    threads: tuple[tuple[str, str, int, str], ...]


@value_class(kw_only=True)
class LeakReports:
    """The lines of all processes of a trial."""

    processes: Mapping[str, Sequence[JsonObject]]

    @property
    def has_python(self) -> bool:
        """Whether the agent was there at all."""
        return any(self.processes.values())

    @property
    def is_met(self) -> bool:
        """Whether the function was called at all."""
        return any("met" in each or "call" in each for each in self._lines())

    @property
    def sections(self) -> list[str]:
        """The names of the sections that were met, but for the one that is measured."""
        return [text(each, "section") for each in self._lines() if "section" in each]

    def rounds(self) -> list[Rounds]:
        """Return the loops that were measured, of each process."""
        found: list[Rounds] = []
        for process, lines in self.processes.items():
            by_loop: dict[Loop, list[JsonObject]] = {}
            stopped = [_loop_of(items_of(each["stops"])) for each in lines if "stops" in each]
            for each in lines:
                if "usage" in each and "loop" in each:
                    by_loop.setdefault(_loop_of(items_of(each["loop"])), []).append(each)
            for loop, points in by_loop.items():
                spent = number(points[-1], "seconds") - number(points[0], "seconds")
                found.append(
                    Rounds(
                        loop=loop, process=int(process), series=_series(points, "round"),
                        seconds=spent, was_stopped=loop in stopped,
                    )
                )  # fmt: skip
        return found

    def repeated(self) -> Repeated | None:
        """Return the call that was repeated; None: none was."""
        told = next((each for each in self._lines() if "call" in each), None)
        if told is None:
            return None
        call = record(told, "call")
        lines = list(self._lines())
        control = [_usage(each) for each in lines if "control" in each]
        return Repeated(
            function=text(call, "function"), path=text(call, "path"), line=integer(call, "line"),
            consumed=tuple(map(str, items_of(call.get("consumed")))),
            uncopied=text(told, "uncopied"), control=tuple(control),
            series=_series([each for each in lines if "repetition" in each], "repetition"),
            doubled=_doubled(lines),
            problems=tuple(_problems(lines)),
        )  # fmt: skip

    def unrepeatable(self) -> str:
        """Return why a call couldn't be made again; empty: it could."""
        return next((text(e, "unrepeatable") for e in self._lines() if "unrepeatable" in e), "")

    def growth(self) -> Growth | None:
        """Return what was added; None: nobody has looked."""
        for each in self._lines():
            told = optional_record(each, "growth")
            if told is not None:
                return growth_of(told)
        return None

    def _lines(self) -> list[JsonObject]:
        return [line for lines in self.processes.values() for line in lines]


def leak_reports(evidence: Sequence[Evidence]) -> LeakReports:
    """Return what the agents of a trial have measured."""
    data = next((each.data for each in evidence if each.kind == LEAK), b"{}")
    told = as_record(decoded(data), "reports")
    return LeakReports(processes={name: records(told, name) for name in told})


def _loop_of(told: Sequence[object]) -> Loop:
    path, line, function = row(told, 3)
    return Loop(path=str(path), line=whole(line), function=str(function))


def _usage(line: JsonObject) -> dict[str, int]:
    return _numbers(line, "usage")


def _numbers(line: JsonObject, name: str) -> dict[str, int]:
    return {key: whole(value) for key, value in record(line, name).items()}


def _series(lines: Sequence[JsonObject], name: str) -> Series:
    return Series(
        numbers=tuple(integer(each, name) for each in lines), usages=tuple(map(_usage, lines))
    )


def _doubled(lines: Sequence[JsonObject]) -> dict[int, int]:
    found: dict[int, int] = {}
    for each in lines:
        if "doubled" in each:
            before, after = (_numbers(each, name) for name in ("before", "after"))
            if MEMORY in before and MEMORY in after:
                found[integer(each, "doubled")] = after[MEMORY] - before[MEMORY]
    return found


def _problems(lines: Sequence[JsonObject]) -> list[str]:
    found: list[str] = []
    for each in lines:
        role = str(each.get("role", ""))
        if "raised" in each and integer(each, "after") >= 0:
            found.append(f"call {integer(each, 'after') + 1} raises {text(each, 'raised')}")
        elif "late" in each:
            found.append(f"a call doesn't return within {number(each, 'late'):.0f} s")
        elif "died" in each and role != "closer":
            found.append(f"the copy that repeated it has died (status {integer(each, 'died')})")
        elif "failed" in each and role != "closer":
            found.append(f"the copy that repeated it has failed: {text(each, 'failed')}")
    return list(dict.fromkeys(found))


def growth_of(told: JsonObject) -> Growth:
    """Read what was added."""
    lines = [row(each, 5) for each in items_of(told.get("lines"))]
    types = [row(each, 2) for each in items_of(told.get("types"))]
    threads = [row(each, 4) for each in items_of(told.get("threads"))]
    files = [row(each, 2) for each in items_of(told.get("files"))]
    return Growth(
        repetitions=integer(told, "repetitions"),
        traced=whole(lines[0][3]) if lines else 0,
        lines=tuple(
            AllocatingLine(path=str(path), line=whole(line), is_own=bool(is_own), gained=whole(gained))
            for path, line, is_own, gained, _ in lines[1:]
        ),
        types={str(name): whole(count) for name, count in types},
        holders=tuple(map(_holder, records(told, "holders"))),
        files=tuple((whole(number), str(path)) for number, path in files),
        threads=tuple((str(n), str(path), whole(line), str(to)) for n, path, line, to in threads),
    )  # fmt: skip


def _holder(told: JsonObject) -> GrownHolder:
    return GrownHolder(
        label=text(told, "label"), kind=text(told, "kind"), path=text(told, "path"),
        line=integer(told, "line"), within=text(told, "within"), type=text(told, "type"),
        added=integer(told, "added"), length=integer(told, "length"), item=text(told, "item"),
        bound=integer(told, "bound"),
    )  # fmt: skip
