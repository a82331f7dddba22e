"""The edits of a file: statements that come, go or change, and in other texts lines.

A hunk of a diff falls into pairs of an old and a new statement that are alike, and into statements that
only one side has. A pair with another indentation is two edits: the text, and with the indentation of
all statements of the hunk the block around them.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from whet.core.value_class import value_class
from whet.reduction.formats.documents.diff_text import DiffLine, Hunk, with_hunks

_ALIKE = 0.5
"""From this share of equal words on, an old and a new statement are one that has changed."""

_MOST_PAIRS = 2500
"""Of a larger hunk whet doesn't compare each old statement with each new one."""

_WORD = re.compile(rb"\w+|[^\w\s]")
_BINDS = re.compile(
    rb"(?P<def>(?:async\s+)?def|class)\s+(?P<name>\w+)|(?P<import>from|import)\b"
    rb"|(?P<targets>[\w.]+(?:\s*,\s*[\w.]+)*)\s*(?::[^=]+)?=(?!=)"
    rb"|(?P<word>raise|assert|if|elif|else|for|while|with|try|except|finally|del|break|continue)\b"
)
_VARIABLE = re.compile(rb"(?<![\w.])(\w+)\s*(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)|\bfor\s+(\w+)")
_Lines = tuple[DiffLine, ...]


@value_class(kw_only=True)
class _Unit:
    """A statement, or a line of another text, in a hunk.

    Attributes:
        line: number of its first line in its file, from 1.
        lines: its lines.
        text: these without indentation and comments.
        end: number of the last line of its block, if it opens one; else 0.
    """

    line: int
    lines: _Lines
    text: bytes
    end: int = 0

    @property
    def indentation(self) -> bytes:
        first = next((each.text for each in self.lines if each.text.strip()), b"")
        return first[: len(first) - len(first.lstrip())]


@value_class(kw_only=True)
class _Slot:
    """Where a file has old lines, new ones, or a mixture of both.

    Attributes:
        hunk: number of the hunk that it is in.
        old: number of the first old line, from 1; if there is none, of the line before.
        before: the old lines.
        new: number of the first new line, from 1; if there is none, of the next one.
        after: the new lines.
        text: number of the edit that makes the text new; None: only the indentation changes.
        indentation: number of the edit that makes the indentation new; None: it goes with the text.
        indents: the old and the new indentation.
    """

    hunk: int
    old: int
    before: _Lines
    new: int
    after: _Lines
    text: int | None
    indentation: int | None = None
    indents: tuple[bytes, bytes] = (b"", b"")

    def made(self, edits: Collection[int]) -> _Lines:
        """Return the lines that stand there with these edits."""
        is_new = self.text in edits if self.text is not None else self.indentation in edits
        lines = self.after if is_new else self.before
        if self.indentation is None or (self.indentation in edits) == is_new:
            return lines
        found, wanted = self.indents if not is_new else reversed(self.indents)
        return tuple(
            DiffLine(each.sign, wanted + each.text.removeprefix(found), each.tail)
            if each.text.startswith(found) and each.text.strip()
            else each
            for each in lines
        )


@dataclass(slots=True, kw_only=True)
class FileEdits:
    """The edits between two versions of a file.

    Attributes:
        old: the old version.
        count: how many edits there are.
        hunks: how many hunks they are in.
        slots: where the edits are.
    """

    old: bytes
    count: int = 0
    hunks: int = 0
    slots: list[_Slot] = field(default_factory=list[_Slot])

    def content(self, edits: Collection[int]) -> bytes:
        """Return the file with some of its edits."""
        return with_hunks(self.old, self._hunks(edits))

    def _hunks(self, edits: Collection[int]) -> Iterator[Hunk]:
        for slot in self.slots:
            lines = slot.made(edits)
            if lines != slot.before:
                signed = (
                    *(DiffLine(b"-", each.text, each.tail) for each in slot.before),
                    *(DiffLine(b"+", each.text, each.tail) for each in lines),
                )
                yield Hunk(slot.old, b"", signed)

    def hunks_of(self, edits: Collection[int]) -> frozenset[int]:
        """Return the numbers of the hunks that edits are in."""
        return frozenset(slot.hunk for slot in self._of(edits))

    def lines_of(self, edits: Collection[int], *, is_new: bool) -> frozenset[int]:
        """Return the numbers of the old or the new lines whose text edits change."""
        return frozenset(
            line
            for slot in self.slots
            if slot.text in edits
            for line in (
                range(slot.new, slot.new + len(slot.after))
                if is_new
                else range(slot.old, slot.old + len(slot.before))
            )
        )

    def texts(self, edits: Collection[int]) -> tuple[list[bytes], list[bytes]]:
        """Return the old and the new lines of edits."""
        slots = self._of(edits)
        return (
            [line.text for slot in slots for line in slot.before],
            [line.text for slot in slots for line in slot.after],
        )

    def places(self, edits: Collection[int]) -> Iterator[tuple[int, int]]:
        """Yield the first and the last line of the new file that edits make, hunk by hunk.

        Where they make none it is the line in their place.
        """
        first = last = hunk = -1
        for slot in self._of(edits):
            begin = max(slot.new, 1)
            end = max(begin, slot.new + len(slot.after) - 1)
            if slot.hunk == hunk and begin <= last + 1:
                last = max(last, end) if slot.after else last
                continue
            if hunk >= 0:
                yield first, last
            first, last, hunk = begin, end, slot.hunk
        if hunk >= 0:
            yield first, last

    def _of(self, edits: Collection[int]) -> list[_Slot]:
        """Return where edits change something; of an indentation only what has no text to show."""
        by_text = [slot for slot in self.slots if slot.text in edits]
        return by_text or [slot for slot in self.slots if slot.indentation in edits]


def edits_of(
    old: bytes, new: bytes, hunks: Sequence[Hunk], *, is_python: bool, is_by_lines: bool
) -> FileEdits:
    """Return the edits that the hunks of a diff consist of.

    Args:
        old: the old version.
        new: the new version.
        hunks: of a diff without context between them.
        is_python: both versions are Python sources that can be compiled.
        is_by_lines: each line says something alone, such as in a table; else lines that only one side
            has are one edit, where whet can't tell statements.
    """
    edits = FileEdits(old=old, hunks=len(hunks))
    sides = [_Side(text) if is_python else None for text in (old, new)]
    shift = 0
    for number, hunk in enumerate(hunks):
        removed = tuple(line for line in hunk.lines if line.sign == b"-")
        added = tuple(line for line in hunk.lines if line.sign == b"+")
        # Where nothing goes, the line above is told.
        first = hunk.old if removed else hunk.old + 1
        old_units = list(_units(removed, first, sides[0]))
        new_units = list(_units(added, first + shift, sides[1]))
        slots = list(_slots(number, (first, first + shift), old_units, new_units))
        _number(edits, slots, is_by_lines=is_by_lines or is_python)
        shift += len(added) - len(removed)
    return edits


class _Side:
    """Where the statements of a Python source begin, and where its blocks end."""

    def __init__(self, source: bytes) -> None:
        self.starts: set[int] = set()
        self.ends: dict[int, int] = {}
        is_between = True
        outside = {
            tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
            tokenize.ENDMARKER,
        }  # fmt: skip
        for token in tokenize.tokenize(io.BytesIO(source).readline):
            if token.type == tokenize.NEWLINE:
                is_between = True
            elif is_between and token.type not in outside:
                self.starts.add(token.start[0])
                is_between = False
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.stmt) and hasattr(node, "body"):
                decorators = getattr(node, "decorator_list", ())
                first = min([node.lineno, *(each.lineno for each in decorators)])
                self.ends[first] = node.end_lineno or first


def _units(lines: _Lines, first: int, side: _Side | None) -> Iterator[_Unit]:
    """Yield statements, each with the comments and blank lines before it; without a side the lines."""
    if side is None:
        for at, line in enumerate(lines):
            yield _Unit(line=first + at, lines=(line,), text=line.text.strip())
        return
    cuts = [at for at in range(len(lines)) if first + at in side.starts]
    if lines and 0 not in cuts and (not cuts or not _is_aside(lines[0])):
        cuts.insert(0, 0)  # the hunk begins within a statement
    for number, cut in enumerate(cuts):
        begin = 0 if number == 0 else _end_of(lines, cuts[number - 1], cut)
        end = len(lines)
        if number + 1 < len(cuts):
            end = _end_of(lines, cut, cuts[number + 1])
        own = lines[cut:end]
        yield _Unit(
            line=first + begin,
            lines=lines[begin:end],
            text=b"\n".join(each.text.strip() for each in own if each.text.strip()),
            end=side.ends.get(first + cut, 0),
        )


def _end_of(lines: _Lines, cut: int, following: int) -> int:
    """Return where a statement ends: comments and blank lines before the next belong to that."""
    at = following
    while at > cut + 1 and _is_aside(lines[at - 1]):
        at -= 1
    return at


def _is_aside(line: DiffLine) -> bool:
    text = line.text.lstrip()
    return not text or text.startswith(b"#")


def _slots(
    number: int, first: tuple[int, int], old: Sequence[_Unit], new: Sequence[_Unit]
) -> Iterator["_Draft"]:
    """Yield where the old and the new statements of a hunk stand."""
    at_old, at_new = first
    for one, other in _merged(_pairs(old, new), old, new):
        before = tuple(line for unit in one for line in unit.lines)
        after = tuple(line for unit in other for line in unit.lines)
        indents = (one[0].indentation, other[0].indentation) if one and other else (b"", b"")
        slot = _Slot(
            hunk=number, old=at_old if before else at_old - 1, before=before, new=at_new,
            after=after, text=None, indents=indents,
        )  # fmt: skip
        yield _Draft(
            slot=slot,
            has_text=not (one and other) or one[0].text != other[0].text,
            opens=any(unit.end for unit in (*one, *other)),
            is_apart=_is_apart((one or other)[0]),
            variables=frozenset(
                name
                for unit in (*one, *other)
                for names in _VARIABLE.findall(unit.text)
                for name in names
                if name
            ),
        )
        at_old, at_new = at_old + len(before), at_new + len(after)


@value_class(kw_only=True)
class _Draft:
    """A slot before its edits have numbers.

    Attributes:
        slot: the slot.
        has_text: more than its indentation changes.
        opens: it opens a block.
        is_apart: what it has binds names that others use: both versions of it can be there at once.
        variables: the variables that it sets.
    """

    slot: _Slot
    has_text: bool
    opens: bool
    is_apart: bool
    variables: frozenset[bytes]

    @property
    def is_pair(self) -> bool:
        return bool(self.slot.before and self.slot.after)

    @property
    def is_moved(self) -> bool:
        return self.slot.indents[0] != self.slot.indents[1]


def _is_apart(unit: _Unit) -> bool:
    """Whether a statement only binds names: an import, a definition, a constant, an attribute."""
    kind, names = _kind(unit.text)
    is_named = kind == b"=" and (not unit.indentation or all(b"." in name for name in names))
    return kind in {b"def", b"import"} or is_named


def _number(edits: FileEdits, drafts: Sequence[_Draft], *, is_by_lines: bool) -> None:
    """Give the edits of a hunk their numbers.

    Statements that go and others that come in their place are one edit, and so are those that set one
    variable more or less often than before: half of a rewritten computation computes something else.
    """
    group = _groups(drafts, is_by_lines=is_by_lines)
    moved = [at for at, draft in enumerate(drafts) if draft.is_moved]
    # Where no block comes or goes around them, statements move out of one or into one: that changes what they do.
    has_own = not any(draft.opens for draft in drafts if not draft.is_pair)
    if has_own and moved:
        group = [group[moved[0]] if each in {group[at] for at in moved} else each for each in group]
    numbers: dict[int | None, int] = {}

    def number_of(key: int | None) -> int:
        if key not in numbers:
            numbers[key], edits.count = edits.count, edits.count + 1
        return numbers[key]

    for at, draft in enumerate(drafts):
        own = number_of(group[at] if has_own else None) if draft.is_moved else None
        text = number_of(group[at]) if draft.has_text else None
        edits.slots.append(replace(draft.slot, text=text, indentation=own))


def _groups(drafts: Sequence[_Draft], *, is_by_lines: bool) -> list[int]:
    """Return for each statement of a hunk the first of those that are one edit with it."""
    group = list(range(len(drafts)))

    def join(numbers: Sequence[int]) -> None:
        joined = {group[each] for each in numbers}
        group[:] = [min(joined) if each in joined else each for each in group]

    for run in _runs(drafts):
        sides = {bool(drafts[each].slot.before) for each in run}
        if len(sides) > 1 or not is_by_lines:
            join(run)
        for each in run:
            for name in drafts[each].variables:
                join([at for at, other in enumerate(drafts) if name in other.variables])
    return group


def _runs(drafts: Sequence[_Draft]) -> Iterator[list[int]]:
    """Yield the places of statements side by side that only one side has, but for those that stand apart."""
    run: list[int] = []
    for at, draft in enumerate(drafts):
        if draft.is_pair:
            if run:
                yield run
            run = []
        elif not draft.is_apart:
            run.append(at)
    if run:
        yield run


_Pair = tuple[int | None, int | None]


def _merged(
    pairs: Sequence[_Pair], old: Sequence[_Unit], new: Sequence[_Unit]
) -> Iterator[tuple[list[_Unit], list[_Unit]]]:
    """Yield the pairs; a block that only one side has, with all in it, is one."""
    paired = [
        {number for number in numbers if number is not None}
        for numbers in zip(
            *((a, b) for a, b in pairs if a is not None and b is not None), strict=True
        )
    ] or [set[int](), set[int]()]
    inside = [0, 0]
    group: tuple[list[_Unit], list[_Unit]] | None = None
    for pair in pairs:
        side = 0 if pair[1] is None else 1
        at = pair[side]
        units = (old, new)[side]
        if None in pair and at is not None:
            unit = units[at]
            if group is not None and unit.line <= inside[side]:
                group[side].append(unit)
                continue
            if group is not None:
                yield group
                group = None
            held = [n for n, each in enumerate(units) if unit.line <= each.line <= unit.end]
            is_whole = unit.end > 0 and paired[side].isdisjoint(held)
            last = units[-1].line + len(units[-1].lines) - 1
            lone: tuple[list[_Unit], list[_Unit]] = ([], [])
            lone[side].append(unit)
            if is_whole and unit.end <= last:
                group, inside[side] = lone, unit.end
                inside[1 - side] = 0
                continue
            yield lone
            continue
        if group is not None:
            yield group
            group = None
        assert pair[0] is not None
        assert pair[1] is not None
        yield [old[pair[0]]], [new[pair[1]]]
    if group is not None:
        yield group


def _pairs(old: Sequence[_Unit], new: Sequence[_Unit]) -> list[_Pair]:
    """Return which old statement became which new one, in order; what is left has no other side."""
    if len(old) * len(new) > _MOST_PAIRS:
        return [*((at, None) for at in range(len(old))), *((None, at) for at in range(len(new)))]
    # The best sum of likenesses of what is before each pair of places.
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    likeness = [[_likeness(one, other) for other in new] for one in old]
    for i in range(len(old)):
        for j in range(len(new)):
            both = best[i][j] + likeness[i][j] if likeness[i][j] >= _ALIKE else 0.0
            best[i + 1][j + 1] = max(best[i][j + 1], best[i + 1][j], both)
    pairs: list[_Pair] = []
    i, j = len(old), len(new)
    while i or j:
        if i and best[i][j] == best[i - 1][j] and not (j and best[i][j] == best[i][j - 1]):
            i -= 1
            pairs.append((i, None))
        elif j and best[i][j] == best[i][j - 1]:
            j -= 1
            pairs.append((None, j))
        elif i and best[i][j] == best[i - 1][j]:
            i -= 1
            pairs.append((i, None))
        else:
            i, j = i - 1, j - 1
            pairs.append((i, j))
    return pairs[::-1]


def _likeness(one: _Unit, other: _Unit) -> float:
    """Return from 0 to 1 how much of two statements is equal; 0: they can't be one that has changed."""
    if one.text == other.text:
        return 1.0
    first, second = _kind(one.text), _kind(other.text)
    if first != second:
        return 0.0
    words, others = Counter(_WORD.findall(one.text)), Counter(_WORD.findall(other.text))
    total = words.total() + others.total()
    share = 2 * (words & others).total() / total if total else 0.0
    return max(share, _ALIKE) if first[1] else share


def _kind(text: bytes) -> tuple[bytes, frozenset[bytes]]:
    """Return what kind of statement it is, and the names that it binds."""
    found = _BINDS.match(text)
    if found is None:
        return b"", frozenset()
    if found["def"]:
        return b"def", frozenset([found["name"]])
    if found["import"]:
        names = (
            text.partition(b"import")[2] if found["import"] == b"from" else text[len("import") :]
        )
        return b"import", frozenset(re.findall(rb"[\w.]+", names)) - {b"as"}
    if found["targets"]:
        return b"=", frozenset(re.findall(rb"[\w.]+", found["targets"]))
    return found["word"], frozenset()
