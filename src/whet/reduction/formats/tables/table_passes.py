"""What can be made smaller in tables: sheets, rows and columns, types, then cells."""

from collections.abc import Callable, Iterator
from functools import partial

from whet.reduction.edit import first_that_fails
from whet.reduction.formats.arrays.array_values import followed
from whet.reduction.formats.documents.base64_text import base64_in_text
from whet.reduction.formats.tables.nested_cells import simpler_cell
from whet.reduction.formats.tables.tables import MOST_CELLS, Cells, Sheet, Tables, cost_of_cell
from whet.reduction.formats.text.plain_values import simpler_values
from whet.reduction.payload_kind import Part
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage
from whet.search.subsets.delta import Kept

COARSE_PARTS = 8
"""At first, rows and columns are cut into at most this many parts: a candidate of the fine search
costs as much as reading the whole table."""

_OPENING = ("{", "[", "<")

MOST_PARTS = 100
"""How many texts whet decodes: each one needs its own search."""


def _delete_sheets(view: Tables) -> PassSearch:
    return view.searched(
        len(view.sheets), lambda kept: (view.sheets[index] for index in kept.elements())
    )


def _delete_rows_and_columns(view: Tables) -> PassSearch:
    for parts in (COARSE_PARTS, 0):
        for place in range(len(view.sheets)):
            view = view.after((yield from _delete_rows(view, place, parts)))
            view = view.after((yield from _delete_columns(view, place, parts)))
    return view.payload


def _delete_rows(view: Tables, place: int, parts: int) -> PassSearch:
    sheet = view.sheets[place]

    def render(kept: Kept) -> Iterator[Sheet]:
        blocks = (*kept.blocks[: kept.start], *kept.blocks[kept.stop :])
        left = sheet.with_rows(blocks)
        return (left if at == place else each for at, each in enumerate(view.sheets))

    return view.searched(sheet.rows, render, grain=_grain(sheet.rows, parts))


def _delete_columns(view: Tables, place: int, parts: int) -> PassSearch:
    sheet = view.sheets[place]
    count = len(sheet.heads)

    def render(kept: Kept) -> Iterator[Sheet]:
        left = sheet.with_columns(list(kept.elements()))
        return (left if at == place else each for at, each in enumerate(view.sheets))

    return view.searched(count, render, grain=_grain(count, parts))


def _grain(size: int, parts: int) -> int:
    return max(1, size // parts) if parts else 1


def _store_plainly(view: Tables) -> PassSearch:
    """Drop what only says how the file is stored."""
    return _plainest(view, lambda sheet: sheet.stored_plainly())


def _plainer(view: Tables) -> PassSearch:
    """Put plainer types for columns."""
    return _plainest(view, lambda sheet: sheet.plainer())


def _plainest(view: Tables, changes: Callable[[Sheet], list[Sheet]]) -> PassSearch:
    for place in range(len(view.sheets)):
        while True:
            sheets = changes(view.sheets[place])
            candidates = (view.with_sheet(place, partial(_instead, each)) for each in sheets)
            payload = yield from first_that_fails(candidates)
            if payload is None:
                break
            view = view.after(payload)
    return view.payload


def _fill_columns(view: Tables) -> PassSearch:
    """Put one plain value into whole columns."""
    for kind in range(2):
        changes = [
            (place, column, cells)
            for place, sheet in enumerate(view.sheets)
            for column in range(len(sheet.heads))
            for cells in [_filled(sheet.column(column), kind)]
            if cells is not None
        ]
        view = view.after((yield from _change_columns(view, changes)))
    return view.payload


def _filled(cells: Cells, kind: int) -> Cells | None:
    """Return cells that all hold the first (0), or the second plain value of their type."""
    known = next((each for each in cells if each is not None), None)
    plain = _plain_values(known)
    if known is None or len(plain) <= kind:
        return None
    return None if cells == [plain[kind]] * len(cells) else [plain[kind]] * len(cells)


def _plain_values(known: object) -> list[object]:
    if isinstance(known, bool):
        return [False, True]
    if isinstance(known, int | float):
        return [type(known)(0), type(known)(1)]
    return list(simpler_values(type(known)("b"))) if isinstance(known, str) else [None]


def _change_columns(view: Tables, changes: list[tuple[int, int, Cells]]) -> PassSearch:
    def render(kept: Kept) -> list[Sheet]:
        left = set(kept.elements())
        sheets = list(view.sheets)
        for index, (place, column, cells) in enumerate(changes):
            if index not in left:
                sheets[place] = sheets[place].with_column(column, cells)
        return sheets

    return view.searched(len(changes), render)


def _fill_cells(view: Tables) -> PassSearch:
    """Put a plain value into as many cells as the failure survives."""
    for kind in range(2):
        if view.cells <= MOST_CELLS:
            view = view.after((yield from _change_cells(view, list(_cell_changes(view, kind)))))
    return view.payload


def _cell_changes(view: Tables, kind: int) -> Iterator[tuple[int, int, int, object]]:
    for place, sheet in enumerate(view.sheets):
        for column in range(len(sheet.heads)):
            cells = sheet.column(column)
            known = next((each for each in cells if each is not None), None)
            for row, cell in enumerate(cells):
                plain = _plain_values(known if cell is None else cell)
                if len(plain) > kind and cost_of_cell(plain[kind]) < cost_of_cell(cell):
                    yield place, row, column, plain[kind]


def _change_cells(view: Tables, changes: list[tuple[int, int, int, object]]) -> PassSearch:
    def render(kept: Kept) -> list[Sheet]:
        left = set(kept.elements())
        columns: dict[tuple[int, int], Cells] = {}
        for index, (place, row, column, value) in enumerate(changes):
            if index not in left:
                key = place, column
                if key not in columns:
                    columns[key] = list(view.sheets[place].column(column))
                columns[key][row] = value
        sheets = list(view.sheets)
        for (place, column), cells in columns.items():
            sheets[place] = sheets[place].with_column(column, cells)
        return sheets

    return view.searched(len(changes), render)


def _simplify_cells(view: Tables) -> PassSearch:
    """Bring each number down, and delete the characters of each text."""
    if view.cells > MOST_CELLS:
        return view.payload
    for place, sheet in enumerate(view.sheets):
        for column in range(len(sheet.heads)):
            for row, cell in enumerate(sheet.column(column)):
                search = simpler_cell(cell, partial(_put, view, place, row, column))
                view = view.after((yield from followed(search, view.payload)))
    return view.payload


def _instead(sheet: Sheet, _other: Sheet) -> Sheet:
    return sheet


def _put(view: Tables, place: int, row: int, column: int, value: object) -> bytes:
    def make(sheet: Sheet) -> Sheet:
        cells = list(sheet.column(column))
        cells[row] = value
        return sheet.with_column(column, cells)

    return view.with_sheet(place, make)


def texts_in_tables(view: Tables | None) -> list[Part]:
    """Return the cells that may be of a kind of their own, such as JSON."""
    if view is None or view.cells > MOST_CELLS:
        return []
    parts = [
        Part(content=cell.encode(), name="", put=partial(_put_text, view, place, row, column))
        for place, sheet in enumerate(view.sheets)
        for column in range(len(sheet.heads))
        for row, cell in enumerate(sheet.column(column))
        if isinstance(cell, str) and _has_parts(cell)
    ]
    return parts[:MOST_PARTS]


def _has_parts(cell: str) -> bool:
    try:
        text = cell.encode()
    except UnicodeEncodeError:  # a text of SQLite may be none
        return False
    return cell.lstrip()[:1] in _OPENING or "\n" in cell or bool(base64_in_text(text))


def _put_text(view: Tables, place: int, row: int, column: int, content: bytes) -> bytes | None:
    try:
        return _put(view, place, row, column, content.decode()) or None
    except ValueError:
        return None


TABLE_PASSES = (
    ReductionPass(name="store plainly", stage=Stage.STRUCTURE, search=_store_plainly),
    ReductionPass(name="delete sheets", stage=Stage.STRUCTURE, search=_delete_sheets),
    ReductionPass(
        name="delete rows and columns",
        stage=Stage.STRUCTURE,
        search=_delete_rows_and_columns,
        unit="rows and columns",
    ),
    ReductionPass(name="plainer columns", stage=Stage.TOKENS, search=_plainer),
    ReductionPass(name="fill columns", stage=Stage.VALUES, search=_fill_columns),
    ReductionPass(name="fill cells", stage=Stage.VALUES, search=_fill_cells),
    ReductionPass(name="simplify cells", stage=Stage.VALUES, search=_simplify_cells),
)
