"""Columns between bars, as Markdown and the shells of databases draw them, wherever in a text.

Cell by cell such a table soon is none; a column goes from all of its lines together.
"""

import re
from collections.abc import Iterator

from whet.reduction.edit import Change, Edit, make_changes, siblings
from whet.reduction.formats.text.pieces import Pieces
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage

_LINE = re.compile(rb"[^\n]*\|[^\n]*")
_LEAST_LINES = 2

MOST_COLUMNS = 200
"""A line with more bars than this isn't a line of a table."""


def _tables(payload: bytes) -> Iterator[list[tuple[int, int]]]:
    """Yield where the lines of each run of lines with a bar are; the line behind it may be short."""
    lines: list[tuple[int, int]] = []
    for match in _LINE.finditer(payload):
        if lines and match.start() != lines[-1][1] + 1:
            yield lines
            lines = []
        lines.append(match.span())
    yield lines


def _cells(payload: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """Return where the cells of a line are; a bar at its very start or end is a frame."""
    text = payload[start:end].rstrip(b" \t\r")
    inner = start + text.startswith(b"|")
    stop = start + len(text) - (text.endswith(b"|") and len(text) > 1)
    bars = [at for at in range(inner, stop) if payload[at] == ord("|")]
    return [*zip((inner, *(at + 1 for at in bars)), (*bars, stop), strict=True)]


def _delete_columns(pieces: Pieces) -> PassSearch:
    payload = pieces.payload
    if b"|" not in payload:
        return payload
    changes: list[Change] = []
    for lines in _tables(payload):
        if len(lines) < _LEAST_LINES:
            continue
        columns: dict[int, list[Edit]] = {}
        for start, end in lines:
            cells = _cells(payload, start, end)
            if 1 < len(cells) <= MOST_COLUMNS:
                for column, edit in enumerate(siblings(cells)):
                    columns.setdefault(column, []).append(edit)
        changes += [each for each in columns.values() if len(each) >= _LEAST_LINES]
    return (yield from make_changes(payload, changes))


DELETE_BAR_COLUMNS = ReductionPass(
    name="delete columns between bars", stage=Stage.LINES, search=_delete_columns
)
