"""A unified diff, as git and `diff -u` write it: files, hunks, lines.

A hunk is read by the counts in its header, so that a removed line that begins with ``--`` is no
header of the next file. What stands before the first file, such as the head of a mail, and
behind the last hunk is kept as it is.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from whet.core.value_class import value_class
from whet.reduction.formats.text.pieces import parse_lines
from whet.reduction.order import Order, weight
from whet.reduction.reduction_pass import Format, last_view

_HUNK = re.compile(rb"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@(.*)", re.DOTALL)
CHANGE_WEIGHT = 4
"""How much more a changed line weighs than a line of context."""

_SUFFIXES = ("", ".diff", ".patch", ".txt", ".eml")
_STARTS = (b"diff --git ", b"--- ")


@value_class
class DiffLine:
    """A line of a hunk.

    Attributes:
        sign: blank, ``+`` or ``-``.
        text: what stands behind it, with the line end.
        tail: the note below it that the file ends without a line end; mostly empty.
    """

    sign: bytes
    text: bytes
    tail: bytes = b""

    def __bytes__(self) -> bytes:
        return self.sign + self.text + self.tail

    @property
    def content(self) -> bytes:
        """What is in the file."""
        return self.text.removesuffix(b"\n") if self.tail else self.text


@value_class
class Hunk:
    """A hunk.

    Attributes:
        old: the line of the old file that it starts at.
        rest: what is in the header behind the numbers.
        lines: its lines.
    """

    old: int
    rest: bytes
    lines: tuple[DiffLine, ...]


@value_class
class DiffFile:
    """What a diff says of one file.

    Attributes:
        head: the lines before its first hunk.
        hunks: its hunks.
        tail: lines behind its last hunk that belong to none.
    """

    head: tuple[bytes, ...]
    hunks: tuple[Hunk, ...]
    tail: bytes = b""

    @property
    def is_change_by_itself(self) -> bool:
        """Whether it says something without a hunk: a new mode, another name, a binary file."""
        return any(not line.startswith((*_STARTS, b"+++ ", b"index ")) for line in self.head)

    @property
    def is_removal(self) -> bool:
        """Whether the file goes: then no line of it can stay."""
        return any(line.startswith((b"deleted file", b"+++ /dev/null")) for line in self.head)


@value_class
class Diff:
    """A diff.

    Attributes:
        payload: its text.
        preamble: what stands before the first file.
        files: its files.
    """

    payload: bytes
    preamble: bytes
    files: tuple[DiffFile, ...]


@dataclass(slots=True)
class _Reader:
    lines: list[bytes]
    place: int = 0
    preamble: list[bytes] = field(default_factory=list[bytes])
    files: list[DiffFile] = field(default_factory=list[DiffFile])

    def peek(self, ahead: int = 0) -> bytes:
        place = self.place + ahead
        return self.lines[place] if place < len(self.lines) else b""

    def take(self) -> bytes:
        self.place += 1
        return self.lines[self.place - 1]

    def at_file(self) -> bool:
        plain = self.peek().startswith(b"--- ") and self.peek(1).startswith(b"+++ ")
        return self.peek().startswith(b"diff --git ") or (plain and self.peek(2)[:3] == b"@@ ")

    def file(self) -> bool:
        """Read one file; return whether its hunks are as long as they say."""
        head = [self.take()]
        while self.place < len(self.lines) and not self.peek().startswith((b"@@ ", b"diff --git ")):
            if head[-1].startswith(b"+++ "):
                break
            head.append(self.take())
        hunks: list[Hunk] = []
        while (found := _HUNK.fullmatch(self.peek())) is not None:
            self.place += 1
            lines = self.hunk(int(found[2] or b"1"), int(found[4] or b"1"))
            if lines is None:
                return False
            hunks.append(Hunk(int(found[1]), found[5], tuple(lines)))
        tail: list[bytes] = []
        while self.place < len(self.lines) and not self.at_file():
            tail.append(self.take())
        self.files.append(DiffFile(tuple(head), tuple(hunks), b"".join(tail)))
        return not b"".join(tail).startswith(b"@@ ")

    def hunk(self, old: int, new: int) -> list[DiffLine] | None:
        found: list[DiffLine] = []
        while old > 0 or new > 0:
            line = self.peek()
            # Some mail programs cut the blank of an empty line.
            sign, text = (b" ", line) if line in (b"\n", b"\r\n") else (line[:1], line[1:])
            if sign not in (b" ", b"+", b"-") or text is line:
                return None
            self.place += 1
            old, new = old - (sign != b"+"), new - (sign != b"-")
            tail = self.take() if self.peek().startswith(b"\\ ") else b""
            found.append(DiffLine(sign, text, tail))
        return found if (old, new) == (0, 0) else None


def parse_diff(payload: bytes) -> Diff | None:
    """Return the files of a diff; None if there are none, or a hunk has other lines than it says."""
    # A quick no.
    if b"\n@@ -" not in payload and b"diff --git " not in payload:
        return None
    pieces = parse_lines(payload)
    reader = _Reader(pieces.texts())
    while reader.place < len(reader.lines) and not reader.at_file():
        reader.preamble.append(reader.take())
    while reader.place < len(reader.lines):
        if not reader.file():
            return None
    mark = payload[: pieces.bounds[0]]
    preamble = mark + b"".join(reader.preamble)
    return Diff(payload, preamble, tuple(reader.files)) if reader.files else None


def with_hunks(old: bytes, hunks: Iterable[Hunk]) -> bytes:
    """Return a file with some hunks of its diff made, each where its header says.

    Args:
        old: the file that the diff is against.
        hunks: of a diff without context, in their order.
    """
    lines = [text for text in re.split(rb"(?<=\n)", old) if text]
    found: list[bytes] = []
    place = 0
    for hunk in hunks:
        removed = sum(line.sign == b"-" for line in hunk.lines)
        start = hunk.old - (removed > 0)  # where nothing goes, the line above is told
        found += lines[place:start]
        found += [line.content for line in hunk.lines if line.sign == b"+"]
        place = start + removed
    return b"".join([*found, *lines[place:]])


def is_diff(payload: bytes, name: str) -> bool:
    """Return whether a payload is a diff; a program may have one in a string."""
    return PurePosixPath(name).suffix.lower() in _SUFFIXES and DIFF.parse(payload) is not None


DIFF = Format(name="diff", parse=last_view(parse_diff))


def _weight(payload: bytes) -> float:
    changes = payload.count(b"\n+") + payload.count(b"\n-")
    return weight(payload) + CHANGE_WEIGHT * changes


DIFF_ORDER = Order(_weight)
"""Fewer changes are better, although the context is as long as before."""
