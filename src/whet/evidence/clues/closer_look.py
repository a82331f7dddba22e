"""The evidence of an instrumented rerun as clues, each with a line."""

from collections.abc import Iterator, Sequence
from dataclasses import fields

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.observations.evidence import CLOSER, Evidence
from whet.core.text.record import (
    JsonObject,
    as_record,
    boolean,
    decoded,
    integer,
    items_of,
    optional_integer,
    records,
    row,
    text,
    whole,
)
from whet.core.value_class import value_class

_WHY_DESCRIPTORS = "whoever holds the files need not be who asked for one more"
_WHY_LOCKS = "a thread that waits for a lock waits for another thread"
_WHY_CALLS = "C does with wrong arguments what it can"
_CUT_BITS = 31
_LEAST_CUT = 1 << 24
"""What is left of an address is any number of 32 bits: one in 128 is nearer to 0 than this, and sizes are."""


@value_class(kw_only=True)
class Line:
    """A line of the program.

    Attributes:
        path: its file.
        number: its number.
        function: the function that it is in.
    """

    path: str
    number: int
    function: str


@value_class(kw_only=True)
class Suspect:
    """What several threads read and write without a lock in common.

    Attributes:
        name: what the program calls it, such as ``self.sums``.
        read: where it is read.
        write: where it is written afterwards, in the same function.
    """

    name: str
    read: Line
    write: Line


def told_in(evidence: Sequence[Evidence]) -> list[JsonObject]:
    """Return the reports of an instrumented rerun."""
    return [
        line
        for each in evidence
        if each.kind == CLOSER
        for line in records(as_record(decoded(each.data), CLOSER), "told")
    ]


def line_of(value: object) -> Line | None:
    """Return the place that the agent reported; None: it knew none."""
    items = items_of(value)
    if len(items) != len(fields(Line)):
        return None
    return Line(path=str(items[0]), number=whole(items[1]), function=str(items[2]))


def of_kind(told: Sequence[JsonObject], kind: str) -> Iterator[JsonObject]:
    """Yield the reports of one kind."""
    return (each for each in told if each.get("kind") == kind)


def descriptor_clues(told: Sequence[JsonObject], at: Placing) -> Iterator[Clue]:
    """Yield who holds the descriptors of a process that has none left."""
    for each in of_kind(told, "descriptors"):
        total = integer(each, "total")
        for holder in records(each, "holders")[:1]:
            line, count = line_of(holder.get("place")), integer(holder, "count")
            if line is None:
                continue
            yield Clue(
                says=f"{count} of {total} open files were opened in `{line.function}` at"
                f" {at(line.path, line.number)} and are still open, such as"
                f" `{text(holder, 'such_as')}`",
                why=_WHY_DESCRIPTORS,
                path=line.path,
                line=line.number,
                sureness=Sureness.SEEN if count * 2 > total else Sureness.POSSIBLE,
            )
        return


def lock_clues(told: Sequence[JsonObject], at: Placing) -> Iterator[Clue]:
    """Yield the threads that wait for each other's locks; else those that wait for one at all."""
    waits = {(integer(each, "pid"), _of_lock(each)[0]): each for each in of_kind(told, "waits")}
    for (pid, thread), first in waits.items():
        circle, holder = [first], _of_lock(first)[1]
        while (pid, holder) in waits and holder != thread and len(circle) <= len(waits):
            circle.append(waits[pid, holder])
            holder = _of_lock(circle[-1])[1]
        if holder == thread:
            yield from _circle(circle, at, is_closed=True)
            return
    for each in waits.values():
        yield from _circle([each], at, is_closed=False)


def _of_lock(wait: JsonObject) -> tuple[str, str]:
    """Return who waits for a lock and who holds it: a name may be that of several threads."""
    if not wait.get("idents"):
        return text(wait, "thread"), text(wait, "holder")
    waiting, holder = row(wait.get("idents"), 2)
    return str(waiting), str(holder)


def _circle(waits: Sequence[JsonObject], at: Placing, *, is_closed: bool) -> Iterator[Clue]:
    for each in waits:
        here, there = line_of(each.get("place")), line_of(each.get("taken"))
        if here is None:
            continue
        holder = text(each, "holder")
        if holder.isdigit() and there is not None:  # no thread that runs here has this number
            yield _left_behind(each, (here, there), at)
            continue
        by = f"that `{holder}` holds" if holder else "that nobody gives back"
        since = f" since {at(there.path, there.number)}" if there is not None else ""
        both = ": they wait for each other" if len(waits) > 1 else ""
        yield Clue(
            says=f"`{text(each, 'thread')}` waits at {at(here.path, here.number)} for a lock"
            f" {by}{since}{both}",
            why=_WHY_LOCKS,
            path=here.path,
            line=here.number,
            sureness=Sureness.SEEN if is_closed else Sureness.POSSIBLE,
        )


def _left_behind(wait: JsonObject, places: tuple[Line, Line], at: Placing) -> Clue:
    """Return the line that took a lock that no thread of this process can release."""
    here, there = places
    by, pid = (items_of(wait.get("by")) or ["", integer(wait, "pid")])[:2]
    place = f"at {at(there.path, there.number)}"
    if pid != integer(wait, "pid"):
        process = text(wait, "process", "")
        who = f"process `{process}`" if process else "a forked process"
        sentence = (
            f"{who} waits at {at(here.path, here.number)} for a lock that thread `{by}` of its parent"
            f" had taken {place} when the process was forked: nobody in it can give that back"
        )
    else:
        sentence = (
            f"`{text(wait, 'thread')}` waits at {at(here.path, here.number)} for a lock that thread"
            f" `{by}` has taken {place} and not given back: it has ended"
        )
    return Clue(
        says=sentence,
        why=_WHY_LOCKS,
        path=there.path,
        line=there.number,
        sureness=Sureness.SEEN,
        next_step="give the lock back on every way out, and start processes before threads take"
        " locks (or start them with `spawn`)",
    )


def foreign_clues(told: Sequence[JsonObject], at: Placing) -> Iterator[Clue]:
    """Yield the C function during which a program was killed, and what was wrong with its arguments."""
    calls = list(of_kind(told, "call"))
    open_calls = [each for each in calls if not boolean(each, "over")]
    for last in open_calls[-1:]:
        line = line_of(last.get("place"))
        if line is None:
            return
        name = text(last, "function")
        source = _source_of(last, calls)
        where = at(line.path, line.number)
        if source is not None:
            origin = line_of(source.get("place"))
            if origin is not None:
                yield Clue(
                    says=f"`{text(source, 'function')}` at {at(origin.path, origin.number)} has no"
                    f" `restype`: of an address that it returns 32 bits are left; `{name}`"
                    f" at {where} is given what it returned, and crashes",
                    why=_WHY_CALLS,
                    path=origin.path,
                    line=origin.number,
                    sureness=Sureness.SEEN,
                    next_step=f"declare `{text(source, 'function')}.restype`",
                )
                return
        is_cut = not _declares(last, 0) and any(_is_address(each) for each in _values(last))
        truncation = ", without `argtypes`: an address that is given as a number is cut to 32 bits"
        yield Clue(
            says=f"it crashed in the C function `{name}`, called at {where}{truncation if is_cut else ''}",
            why=_WHY_CALLS,
            path=line.path,
            line=line.number,
        )


def _source_of(last: JsonObject, calls: Sequence[JsonObject]) -> JsonObject | None:
    """Return the call whose undeclared result is an argument of the last one."""
    addresses = {each for each in _values(last) if each is not None and abs(each) > _LEAST_CUT}
    for each in reversed(calls):
        result = optional_integer(each, "result")
        if boolean(each, "over") and not _declares(each, 1) and result in addresses:
            return each
    return None


def _declares(call: JsonObject, which: int) -> bool:
    return bool(row(call.get("declares"), 2)[which])


def _values(call: JsonObject) -> list[int | None]:
    return [each if isinstance(each, int) else None for each in items_of(call.get("values"))]


def _is_address(value: int | None) -> bool:
    return value is not None and value >> _CUT_BITS > 0


def suspects_in(told: Sequence[JsonObject]) -> list[Suspect]:
    """Return what threads share without a lock, each line that writes it once."""
    suspects: dict[tuple[str, int], Suspect] = {}
    for each in of_kind(told, "unguarded"):
        reading, write = line_of(each.get("read")), line_of(each.get("write"))
        if reading is not None and write is not None:
            suspect = Suspect(name=text(each, "name"), read=reading, write=write)
            suspects.setdefault((write.path, write.number), suspect)
    return list(suspects.values())


def shared_functions_in(told: Sequence[JsonObject]) -> list[Line]:
    """Return the functions that more than one thread has called, each where it begins, the outermost first.

    Another report covers the reads and writes of a function's own lines; this one covers those of its calls.
    """
    reports = sorted(of_kind(told, "called_by_several"), key=lambda each: whole(each.get("depth")))
    places = (line_of(each.get("place")) for each in reports)
    return list(dict.fromkeys(each for each in places if each is not None))


def interleaving_clue(function: Line, at: Placing, tried: str) -> Clue:
    """Return what an experiment has shown of a function that several threads call."""
    return Clue(
        says=f"several threads are in `{function.function}` at once, at {at(function.path, function.number)}: {tried}",
        why="it fails when other threads run between its lines, and passes when none can",
        path=function.path,
        line=function.number,
        sureness=Sureness.SHOWN,
        next_step=f"hold one lock in `{function.function}`, from what it reads to what it writes",
    )


def race_clue(suspect: Suspect, at: Placing, tried: str) -> Clue:
    """Return what an experiment has shown of something that threads share."""
    write, reading = suspect.write, suspect.read
    before = "" if reading.number == write.number else f" what was read at line {reading.number}"
    return Clue(
        says=f"`{suspect.name}` is written at {at(write.path, write.number)} in `{write.function}`"
        f" from{before or ' what was read there'}, by several threads that hold no lock in common: {tried}",
        why="it fails when another thread runs between the read and the write, and passes when none can",
        path=write.path,
        line=write.number,
        sureness=Sureness.SHOWN,
        next_step="hold one lock from the read to the write",
    )
