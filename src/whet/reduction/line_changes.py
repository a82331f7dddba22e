"""Texts that lie between two texts: runs of lines that differ, each switched on its own."""

import difflib
from collections.abc import Collection

from whet.core.value_class import value_class

_LONGEST_SHOWN = 4


@value_class(kw_only=True)
class Hunk:
    """Lines that differ.

    Attributes:
        line: number of the first of them in the second text, from 1.
        before: the lines of the first text.
        after: the lines of the second text.
    """

    line: int
    before: tuple[bytes, ...]
    after: tuple[bytes, ...]


@value_class(kw_only=True)
class TextBetween:
    """What lies between two texts.

    Attributes:
        parts: in order, lines that both have and hunks.
        hunks: those that differ.
    """

    parts: "tuple[tuple[bytes, ...] | Hunk, ...]"
    hunks: tuple[Hunk, ...]

    def made(self, taken: Collection[int]) -> bytes:
        """Return the first text with these hunks, by number, as they are in the second."""
        numbers = {id(hunk): number for number, hunk in enumerate(self.hunks)}
        return b"".join(
            line
            for part in self.parts
            for line in (
                part
                if isinstance(part, tuple)
                else part.after
                if numbers[id(part)] in taken
                else part.before
            )
        )


def text_between(before: bytes, after: bytes) -> TextBetween:
    """Return the hunks in which two texts differ; hunks of as many lines are cut into lines."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    # The heuristic for lines that come often is kept: without it large files take minutes.
    matcher = difflib.SequenceMatcher(None, old, new)
    parts: list[tuple[bytes, ...] | Hunk] = []
    for tag, start, end, left, right in matcher.get_opcodes():
        if tag == "equal":
            parts.append(tuple(new[left:right]))
        elif tag == "replace" and end - start == right - left:
            pairs = zip(old[start:end], new[left:right], strict=True)
            parts += [
                Hunk(line=left + 1 + at, before=(one,), after=(other,))
                for at, (one, other) in enumerate(pairs)
            ]
        else:
            hunk = Hunk(line=left + 1, before=tuple(old[start:end]), after=tuple(new[left:right]))
            parts.append(hunk)
    hunks = tuple(part for part in parts if isinstance(part, Hunk))
    return TextBetween(parts=tuple(parts), hunks=hunks)


def shown_lines(lines: Collection[bytes]) -> str | None:
    """Return lines in one line; None if there are none."""
    if not lines:
        return None
    texts = [line.decode("utf-8", "replace").rstrip("\r\n") for line in lines]
    more = len(texts) - _LONGEST_SHOWN
    return " / ".join(texts[:_LONGEST_SHOWN]) + (f" / and {more} more lines" if more > 0 else "")
