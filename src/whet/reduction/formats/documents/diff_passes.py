"""What can be made smaller in a diff; every candidate still applies to the same old files.

An added line goes; a removed line stays in the file, as context; context is cut at the ends of
a hunk. The numbers in the headers are written again.
"""

from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import pairwise
from typing import TypeAlias

from whet.reduction.edit import keep_least
from whet.reduction.formats.documents.diff_text import DIFF, Diff, DiffFile, DiffLine, Hunk
from whet.reduction.payload_kind import Exactness
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage
from whet.search.subsets.delta import Kept

_NO_LINE = b"~"

Unit: TypeAlias = tuple[int, ...]
"""The number of a file, of a hunk in it, of a line in that."""


def _without(diff: Diff, units: list[Unit], *, trims: bool = False) -> PassSearch:
    def render(kept: Kept) -> bytes:
        stays = set(kept.elements())
        gone = [unit for index, unit in enumerate(units) if index not in stays]
        return _write(diff, gone, trims=trims) if gone else diff.payload

    return keep_least(len(units), render, start=diff.payload)


def _delete_files(diff: Diff) -> PassSearch:
    return _without(diff, [(number,) for number in range(len(diff.files))])


def _delete_hunks(diff: Diff) -> PassSearch:
    units: list[Unit] = [
        (number, place)
        for number, file in enumerate(diff.files)
        for place in range(len(file.hunks))
        if not file.is_removal
    ]
    return _without(diff, units)


def _undo_changes(diff: Diff) -> PassSearch:
    units: list[Unit] = [
        (number, place, at)
        for number, file in enumerate(diff.files)
        for place, hunk in enumerate(file.hunks)
        for at, line in enumerate(hunk.lines)
        if line.sign != b" " and not file.is_removal
    ]
    return _without(diff, units)


def _trim(diff: Diff, lines: Callable[[Hunk], Iterator[int]]) -> PassSearch:
    units: list[Unit] = [
        (number, place, at)
        for number, file in enumerate(diff.files)
        for place, hunk in enumerate(file.hunks)
        for at in lines(hunk)
    ]
    return _without(diff, units, trims=True)


def _trim_context(diff: Diff) -> PassSearch:
    """Cut context at the ends of hunks; in the middle it is what joins two changes."""
    return _trim(diff, _outside)


def _outside(hunk: Hunk) -> Iterator[int]:
    changed = [at for at, line in enumerate(hunk.lines) if line.sign != b" "]
    if changed:
        yield from range(changed[0])
        # `git apply` looks for a hunk without a line below its changes at the end of the file.
        yield from range(changed[-1] + 2, len(hunk.lines))


def _split_hunks(diff: Diff) -> PassSearch:
    """Cut context between two changes: they become two hunks."""
    return _trim(diff, _between)


def _between(hunk: Hunk) -> Iterator[int]:
    """Yield the context between two changes, but for one line behind a change."""
    changed = [at for at, line in enumerate(hunk.lines) if line.sign != b" "]
    for above, below in pairwise(changed):
        yield from range(above + 2, below)


def exactness(payload: bytes) -> Exactness | None:
    """Return what a program that applies a diff asks of it: lines that stand in the old files."""
    diff = DIFF.parse(payload)
    if diff is None:
        return None
    old = set(_old_lines(diff))
    probe = next(filter(None, map(partial(_with_other_context, payload), sorted(old))), None)

    def holds(candidate: bytes) -> bool:
        found = DIFF.parse(candidate)
        return found is not None and old.issuperset(_old_lines(found))

    return None if probe is None else Exactness(probe=probe, holds=holds)


def _old_lines(diff: Diff) -> Iterator[bytes]:
    for file in diff.files:
        for hunk in file.hunks:
            yield from (line.text for line in hunk.lines if line.sign != b"+")


def _with_other_context(payload: bytes, text: bytes) -> bytes | None:
    """Return a diff with a line of context that no file has; None where it doesn't get shorter."""
    place = payload.find(b"\n " + text)
    if place < 0 or len(text.strip()) <= len(_NO_LINE):
        return None
    start = place + len(b"\n ")
    return payload[:start] + _NO_LINE + payload[start + len(text.rstrip()) :]


def _write(diff: Diff, gone: list[Unit], *, trims: bool) -> bytes:
    lost: dict[Unit, set[int]] = {}
    for unit in gone:
        lost.setdefault(unit[:-1], set()).add(unit[-1])
    found = [diff.preamble]
    for number, file in enumerate(diff.files):
        if number in lost.get((), ()):
            continue
        hunks: list[bytes] = []
        shift = 0
        for place, hunk in enumerate(file.hunks):
            if place not in lost.get((number,), ()):
                missing = lost.get((number, place), set())
                for part in _parts(hunk, missing) if trims else (hunk,):
                    text, growth = _write_hunk(part, () if trims else missing, shift)
                    shift += growth
                    hunks.append(text)
        found.append(_write_file(file, b"".join(hunks)))
    return b"".join(found)


def _write_file(file: DiffFile, hunks: bytes) -> bytes:
    if hunks or not file.hunks:
        return b"".join(file.head) + hunks + file.tail
    if not file.is_change_by_itself:
        return file.tail
    # A new file that is empty, another mode: what git writes has no names of files then.
    head = (line for line in file.head if not line.startswith((b"--- ", b"+++ ")))
    return b"".join(head) + file.tail


def _parts(hunk: Hunk, lost: Collection[int]) -> Iterator[Hunk]:
    """Yield what is left of a hunk without some lines of context, as hunks of their own."""
    old, first = hunk.old, 0
    for at in (*sorted(lost), len(hunk.lines)):
        lines = hunk.lines[first:at]
        if lines:
            rest = hunk.rest[len(hunk.rest.rstrip(b"\r\n")) :]
            yield Hunk(old, hunk.rest if first == 0 else rest, lines)
        old += sum(line.sign != b"+" for line in hunk.lines[first : at + 1])
        first = at + 1


def _write_hunk(hunk: Hunk, lost: Collection[int], shift: int) -> tuple[bytes, int]:
    """Return a hunk without some changes, and how many lines it adds; nothing if none is left."""
    lines: list[DiffLine] = []
    for at, line in enumerate(hunk.lines):
        if at not in lost:
            lines.append(line)
        elif line.sign == b"-":
            lines.append(DiffLine(b" ", line.text, line.tail))
    if all(line.sign == b" " for line in lines) or _ends_twice(lines):
        return b"", 0
    old = hunk.old
    before = sum(line.sign != b"+" for line in lines)
    after = sum(line.sign != b"-" for line in lines)
    if before == 0 and any(line.sign != b"+" for line in hunk.lines):
        old -= 1  # where nothing is taken away, it is the line above that is told
    new = old + shift + (before == 0) - (after == 0)
    header = b"@@ -%s +%s @@" % (_range(old, before), _range(new, after))
    return header + hunk.rest + b"".join(map(bytes, lines)), after - before


def _ends_twice(lines: list[DiffLine]) -> bool:
    """Return whether a file continues behind its end: a line without line end became context."""
    return any(line.tail and line.sign == b" " for line in lines[:-1])


def _range(start: int, count: int) -> bytes:
    return b"%d" % start if count == 1 else b"%d,%d" % (start, count)


DIFF_PASSES = tuple(
    ReductionPass(name=name, stage=Stage.STRUCTURE, search=search)
    for name, search in (
        ("delete files", _delete_files),
        ("split hunks", _split_hunks),
        ("delete hunks", _delete_hunks),
        ("undo changes", _undo_changes),
        ("trim context", _trim_context),
    )
)
