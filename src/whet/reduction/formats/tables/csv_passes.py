"""What can be made smaller in CSV."""

from collections.abc import Callable, Iterator
from functools import partial

from whet.reduction.edit import Change, Edit, delete_pieces, make_changes, siblings
from whet.reduction.formats.tables.csv_table import CSV, CsvTable
from whet.reduction.payload_kind import Part
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage


def _delete_rows(table: CsvTable) -> PassSearch:
    bounds = [table.rows[0].start, *(row.end for row in table.rows)]
    return delete_pieces(table.payload, bounds)


def _delete_columns(table: CsvTable) -> PassSearch:
    columns: dict[int, list[Edit]] = {}
    for row in table.rows:
        for column, edit in enumerate(siblings(row.cells)):
            columns.setdefault(column, []).append(edit)
    return make_changes(table.payload, list(columns.values()))


def _delete_cells(table: CsvTable) -> PassSearch:
    """Delete single cells: what makes a ragged row."""
    changes = [[edit] for row in table.rows for edit in siblings(row.cells)]
    return make_changes(table.payload, changes)


def _filling_columns(text: bytes | None) -> Callable[[CsvTable], PassSearch]:
    """Put one text into all cells of a column below the first row.

    Where many rows have to stay, this says for a column in one trial what takes one for each of
    its cells.

    Args:
        text: that; None: what is in the second row.
    """

    def search(table: CsvTable) -> PassSearch:
        changes = list(_whole_columns(table, text))
        return make_changes(table.payload, changes)

    return search


def _whole_columns(table: CsvTable, text: bytes | None) -> Iterator[Change]:
    columns: dict[int, list[Edit]] = {}
    for row in table.rows[1:]:
        for column, (start, end) in enumerate(row.cells):
            columns.setdefault(column, []).append(Edit(start, end))
    for edits in columns.values():
        put = table.payload[edits[0].start : edits[0].end] if text is None else text
        change = [
            Edit(each.start, each.end, put)
            for each in edits
            if table.payload[each.start : each.end] != put and each.end > each.start
        ]
        if len(change) > 1:  # a single cell is for the passes of cells
            yield change


def _unquote(table: CsvTable) -> PassSearch:
    changes: list[Change] = []
    for row in table.rows:
        for start, end in row.cells:
            if table.payload[start : start + 1] == b'"' and end - start > 1:
                changes.append([Edit(start, start + 1), Edit(end - 1, end)])
    return make_changes(table.payload, changes)


def _filling(text: bytes) -> Callable[[CsvTable], PassSearch]:
    """Put a text into as many cells as the failure survives."""

    def search(table: CsvTable) -> PassSearch:
        changes = [
            [Edit(start, end, text)]
            for row in table.rows
            for start, end in row.cells
            if end - start >= max(1, len(text)) and table.payload[start:end] != text
        ]
        return make_changes(table.payload, changes)

    return search


def _filling_alike(table: CsvTable) -> PassSearch:
    """Put one plain text into all cells that say the same, wherever they stand."""
    payload = table.payload
    for text in (b"", b"0", b"1", b"a"):
        view = CSV.parse(payload)
        changes = [] if view is None else list(_alike_cells(view, text))
        payload = yield from make_changes(payload, changes)
    return payload


def _alike_cells(table: CsvTable, text: bytes) -> Iterator[Change]:
    places: dict[bytes, list[Edit]] = {}
    for row in table.rows:
        for start, end in row.cells:
            if end - start > len(text):
                places.setdefault(table.payload[start:end], []).append(Edit(start, end, text))
    return (edits for edits in places.values() if len(edits) > 1)


def cells_in_csv(payload: bytes) -> list[Part]:
    """Return the contents of the quoted cells: others hold no line end and no delimiter."""
    table = CSV.parse(payload)
    spans = () if table is None else (span for row in table.rows for span in row.cells)
    return [
        Part(content=payload[start + 1 : end - 1].replace(b'""', b'"'), name="", put=put)
        for start, end in spans
        if payload[start : start + 1] == b'"' and end - start >= len('"[]"')
        for put in [partial(_put_cell, payload, start, end)]
    ]


def _put_cell(payload: bytes, start: int, end: int, content: bytes) -> bytes:
    quoted = b'"%b"' % content.replace(b'"', b'""')
    return payload[:start] + quoted + payload[end:]


CSV_PASSES = (
    ReductionPass(name="delete rows", stage=Stage.STRUCTURE, search=_delete_rows, unit="rows"),
    ReductionPass(
        name="delete columns", stage=Stage.STRUCTURE, search=_delete_columns, unit="columns"
    ),
    ReductionPass(name="empty columns", stage=Stage.VALUES, search=_filling_columns(b"")),
    ReductionPass(name="put 0 in columns", stage=Stage.VALUES, search=_filling_columns(b"0")),
    ReductionPass(name="put 1 in columns", stage=Stage.VALUES, search=_filling_columns(b"1")),
    ReductionPass(name="put a in columns", stage=Stage.VALUES, search=_filling_columns(b"a")),
    ReductionPass(name="repeat in columns", stage=Stage.VALUES, search=_filling_columns(None)),
    ReductionPass(name="fill alike cells", stage=Stage.VALUES, search=_filling_alike),
    ReductionPass(name="put 0 in cells", stage=Stage.VALUES, search=_filling(b"0")),
    ReductionPass(name="empty cells", stage=Stage.VALUES, search=_filling(b"")),
    ReductionPass(name="put a in cells", stage=Stage.VALUES, search=_filling(b"a")),
    ReductionPass(name="unquote cells", stage=Stage.VALUES, search=_unquote),
    ReductionPass(name="delete cells", stage=Stage.VALUES, search=_delete_cells, unit="cells"),
)
