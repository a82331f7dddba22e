"""CSV as a grid over its own text (RFC 4180), so that what isn't touched stays as it was.

Comma, semicolon, tab or bar; quoted cells with doubled quotes and line ends in them; LF,
CR LF or CR. A payload is CSV if nine of ten rows have as many cells as the first, and that
is at least two.
"""

import re
from typing import TypeAlias

from whet.core.value_class import value_class
from whet.reduction.reduction_pass import Format, last_view

Span: TypeAlias = tuple[int, int]

DELIMITERS = b",;\t|"
ALIKE_ROWS = 0.9
"""The share of rows with as many cells as the first: real files have a few broken ones."""

_LINE = re.compile(rb"[\r\n]*([^\n]*)")


@value_class
class CsvRow:
    """A row.

    Attributes:
        cells: where each of its cells is, quotes included.
        end: behind its line end.
    """

    cells: tuple[Span, ...]
    end: int

    @property
    def start(self) -> int:
        """Where it starts."""
        return self.cells[0][0]


@value_class
class CsvTable:
    """A grid of cells.

    Attributes:
        payload: the text.
        rows: its rows, a header among them.
    """

    payload: bytes
    rows: tuple[CsvRow, ...]


def parse_csv(payload: bytes) -> CsvTable | None:
    """Return the grid of the delimiter that makes the most columns.

    A single column is one only if a quote is doubled in it, as nothing but a table does: it may
    be all that is left of one.
    """
    tables = (_parse(payload, bytes([delimiter])) for delimiter in DELIMITERS)
    regular = [table for table in tables if table is not None and _is_regular(table.rows)]
    if regular:
        return max(regular, key=lambda table: len(table.rows[0].cells))
    column = _parse(payload, b",") if b'""' in payload else None
    return column if column is not None and _is_column(column) else None


def _parse(payload: bytes, delimiter: bytes) -> CsvTable | None:
    """Return the grid of a delimiter; None where one look tells that it has one column."""
    start = 3 if payload.startswith(b"\xef\xbb\xbf") else 0
    if not _may_have(payload, start, delimiter):
        return None
    escaped = re.escape(delimiter)
    cell = re.compile(
        rb'(?:"[^"]*(?:""[^"]*)*"(?=[\r\n' + escaped + rb"]|\Z)|[^\r\n" + escaped + rb"]*)"
        rb"(" + escaped + rb"|\r\n|\n|\r|\Z)"
    )
    rows: list[CsvRow] = []
    cells: list[Span] = []
    while start < len(payload) or cells:
        match = cell.match(payload, start)
        assert match is not None, "anything is a cell"
        cells.append((start, match.start(1)))
        start = match.end()
        if match[1] != delimiter:
            rows.append(CsvRow(tuple(cells), start))
            cells = []
    return CsvTable(payload, tuple(rows))


def _may_have(payload: bytes, start: int, delimiter: bytes) -> bool:
    """Return whether the first line has two cells, or a quote stands anywhere; no byte is copied."""
    first = _LINE.match(payload, start)
    return (first is not None and delimiter in first[1]) or b'"' in payload


def _is_column(table: CsvTable) -> bool:
    payload = table.payload
    spans = [span for row in table.rows for span in row.cells]
    return len(spans) == len(table.rows) and any(
        payload[start : start + 1] == b'"' and b'""' in payload[start + 1 : end - 1]
        for start, end in spans
    )


def _is_regular(rows: tuple[CsvRow, ...]) -> bool:
    if not rows or len(rows[0].cells) == 1:
        return False
    width = len(rows[0].cells)
    return sum(len(row.cells) == width for row in rows) >= ALIKE_ROWS * len(rows)


CSV = Format(name="csv", parse=last_view(parse_csv))
