"""Excel workbooks (`.xlsx`), through openpyxl: sheets of cells.

Formulas stay formulas, dates stay dates. How cells look (formats of numbers, fonts, fills), merged
cells and hidden sheets are kept until they are found not to matter; widths, charts and macros are
not written again: the first candidate already lacks them.
"""

import io
import re
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from typing import Any, TypeAlias

from whet.core.value_class import value_class
from whet.reduction.formats.arrays.arrays import is_bomb
from whet.reduction.formats.arrays.npy import ZIP_MAGIC
from whet.reduction.formats.tables.tables import Cells, Sheet, TableLayout

_MOST_SHOWN = 20
_WORKBOOK = b"xl/workbook.xml"
_CORE = "docProps/core.xml"
_DATE = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")
_FIRST_DATE = rb"\g<1>1980-01-01T00:00:00Z"


Area: TypeAlias = tuple[int, int, int, int]
"""The first and the last row, the first and the last column: all counted from 0."""

MOST_SINGLE = 50
"""How many areas, and how many styles, whet drops one by one."""

_PARTS = ("font", "fill", "border", "alignment", "protection", "number_format")


@value_class(eq=False)
class Look:
    """How a cell looks: what openpyxl has for each of `_PARTS`; shared by all that look alike."""

    parts: tuple[Any, ...]


@value_class(kw_only=True)
class Dress:
    """What a sheet has besides the values of its cells.

    Attributes:
        looks: those of its cells, by row and column; a cell without a look isn't here.
        merged: areas that are shown as one cell.
        is_hidden: it isn't shown.
    """

    looks: Mapping[tuple[int, int], Look] = field(default_factory=dict[tuple[int, int], Look])
    merged: tuple[Area, ...] = ()
    is_hidden: bool = False

    @property
    def strangeness(self) -> int:
        """How much of it there is."""
        return len(self.looks) + len(self.merged) + self.is_hidden

    def with_rows(self, rows: Mapping[int, int]) -> "Dress":
        """Return it with these rows alone, at their new places."""
        looks = {(rows[row], at): look for (row, at), look in self.looks.items() if row in rows}
        areas = (
            (*kept, left, right)
            for first, last, left, right in self.merged
            if (kept := _kept(first, last, rows)) is not None
        )
        return replace(self, looks=looks, merged=_areas(areas))

    def with_columns(self, columns: Mapping[int, int]) -> "Dress":
        """Return it with these columns alone, at their new places."""
        looks = {
            (row, columns[at]): look for (row, at), look in self.looks.items() if at in columns
        }
        areas = (
            (first, last, *kept)
            for first, last, left, right in self.merged
            if (kept := _kept(left, right, columns)) is not None
        )
        return replace(self, looks=looks, merged=_areas(areas))

    def plainer(self) -> "Iterator[Dress]":
        """Yield it with less: nothing, one thing of each sort, single ones."""
        if self.strangeness == 0:
            return
        yield Dress()
        for less in (
            replace(self, looks={}),
            replace(self, merged=()),
            replace(self, is_hidden=False),
        ):
            if less.strangeness < self.strangeness:
                yield less
        for area in self.merged[:MOST_SINGLE]:
            yield replace(self, merged=tuple(each for each in self.merged if each != area))
        for look in list(dict.fromkeys(self.looks.values()))[:MOST_SINGLE]:
            left = {at: each for at, each in self.looks.items() if each is not look}
            yield replace(self, looks=left)
        for place in list(self.looks)[:MOST_SINGLE]:
            yield replace(self, looks={at: each for at, each in self.looks.items() if at != place})


def _kept(first: int, last: int, places: Mapping[int, int]) -> tuple[int, int] | None:
    """Return where a run of rows or columns is now; None if none of it is left."""
    left = [places[each] for each in range(first, last + 1) if each in places]
    return (left[0], left[-1]) if left else None


def _areas(found: Iterable[Area]) -> tuple[Area, ...]:
    """Return those that are more than a cell."""
    return tuple(each for each in found if each[0] < each[1] or each[2] < each[3])


@value_class
class CellSheet:
    """A sheet of a workbook; a `Sheet`.

    Attributes:
        name: its title.
        cells: its rows, all of one length.
        width: that.
        dress: what else there is of it.
    """

    name: str
    cells: tuple[tuple[object, ...], ...]
    width: int
    dress: Dress = field(default_factory=Dress)

    @property
    def heads(self) -> Sequence[str]:
        """The letters of its columns."""
        from openpyxl.utils import get_column_letter

        return [get_column_letter(column + 1) for column in range(self.width)]

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.cells)

    @property
    def strangeness(self) -> int:
        """A short title is plainer, and a sheet of nothing but values."""
        return len(self.name) + self.dress.strangeness

    @property
    def notes(self) -> Sequence[str]:
        """What a person reads besides the cells."""
        from openpyxl.utils import get_column_letter

        areas = (
            f"{get_column_letter(left + 1)}{first + 1}:{get_column_letter(right + 1)}{last + 1}"
            for first, last, left, right in self.dress.merged
        )
        found = [f"merged {area}" for area in areas]
        for row, column in sorted(self.dress.looks)[:_MOST_SHOWN]:
            place = f"{get_column_letter(column + 1)}{row + 1}"
            found.append(f"{place} looks: {_said(self.dress.looks[row, column])}")
        return [*found, "hidden"] if self.dress.is_hidden else found

    def with_rows(self, blocks: Sequence[range]) -> Sheet:
        """Return it with these rows alone."""
        rows = [row for block in blocks for row in block]
        dress = self.dress.with_rows({row: place for place, row in enumerate(rows)})
        return replace(self, cells=tuple(self.cells[row] for row in rows), dress=dress)

    def with_columns(self, columns: Sequence[int]) -> Sheet:
        """Return it with these columns alone."""
        cells = tuple(tuple(row[column] for column in columns) for row in self.cells)
        dress = self.dress.with_columns({column: at for at, column in enumerate(columns)})
        return replace(self, cells=cells, width=len(columns), dress=dress)

    def column(self, column: int) -> Cells:
        """Return the cells of a column."""
        return [row[column] for row in self.cells]

    def with_column(self, column: int, cells: Cells) -> Sheet:
        """Return it with other cells in a column."""
        rows = (
            (*row[:column], cell, *row[column + 1 :])
            for row, cell in zip(self.cells, cells, strict=True)
        )
        return replace(self, cells=tuple(rows))

    def stored_plainly(self) -> list[Sheet]:
        """Return its values alone."""
        return [replace(self, dress=Dress())] if self.dress.strangeness else []

    def plainer(self) -> list[Sheet]:
        """Return it with less besides its values, and with a shorter title."""
        found: list[Sheet] = [replace(self, dress=dress) for dress in self.dress.plainer()]
        return [*found, replace(self, name="a")] if len(self.name) > 1 else found


def _read(payload: bytes) -> list[Sheet]:
    import openpyxl

    library: Any = openpyxl
    with zipfile.ZipFile(io.BytesIO(payload)) as archive:
        if is_bomb(payload, sum(each.file_size for each in archive.infolist())):
            raise ValueError("the workbook expands to more than fits into memory")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what openpyxl doesn't read
        book = library.load_workbook(io.BytesIO(payload))
    looks: dict[tuple[bool, int], Look | None] = {}
    return [_sheet(sheet, looks) for sheet in book.worksheets]


def _sheet(sheet: Any, looks: dict[tuple[bool, int], Look | None]) -> Sheet:
    """Return a sheet of openpyxl.

    Args:
        sheet: that.
        looks: those found so far, by the numbers that the workbook has for them.
    """
    rows = [tuple(row) for row in sheet.iter_rows()]
    cells = tuple(tuple(cell.value for cell in row) for row in rows)
    width = max(map(len, cells), default=0)
    found = {
        (at, column): look
        for at, row in enumerate(rows)
        for column, cell in enumerate(row)
        if cell.has_style and (look := _look(cell, looks)) is not None
    }
    merged = tuple(
        (each.min_row - 1, each.max_row - 1, each.min_col - 1, each.max_col - 1)
        for each in sheet.merged_cells.ranges
    )
    dress = Dress(looks=found, merged=merged, is_hidden=sheet.sheet_state != "visible")
    if not dress.strangeness and all(cell is None for row in cells for cell in row):
        cells, width = (), 0  # an empty sheet is told as one empty cell
    return CellSheet(str(sheet.title), cells, width, dress)


def _look(cell: Any, looks: dict[tuple[bool, int], Look | None]) -> Look | None:
    """Return how a cell looks; None if as any cell with such a value."""
    key = (cell.is_date, cell.style_id)
    if key not in looks:
        from openpyxl.cell.cell import Cell

        make: Any = Cell
        usual = make(cell.parent)
        usual.value = cell.value if cell.is_date else None
        parts = _parts(cell)
        looks[key] = None if parts == _parts(usual) else Look(parts)
    return looks[key]


def _parts(cell: Any) -> tuple[Any, ...]:
    return tuple(copy(getattr(cell, part)) for part in _PARTS)


def _said(look: Look) -> str:
    """Return what a person would call it."""
    font, fill, *_, number_format = look.parts
    words = [word for word in ("bold", "italic", "strike") if getattr(font, word[0], False)]
    words += [f"fill {fill.fgColor.rgb}"] if fill.fill_type else []
    words += [repr(number_format)] if number_format != "General" else []
    return ", ".join(words) or "not plain"


def _write(sheets: Sequence[Sheet]) -> bytes:
    from openpyxl import Workbook

    make: Any = Workbook
    book = make()
    book.remove(book.active)
    for each in sheets:
        assert isinstance(each, CellSheet), "it was read here"
        _add(book, each)
    if all(sheet.sheet_state != "visible" for sheet in book.worksheets):
        raise ValueError("a workbook has a sheet, and one that is shown")
    stream = io.BytesIO()
    book.save(stream)
    return _without_dates(stream.getvalue())


def _add(book: Any, sheet: CellSheet) -> None:
    """Write a sheet into a workbook of openpyxl."""
    made = book.create_sheet(sheet.name)
    for row in sheet.cells:
        made.append(row)
    for (at, column), look in sheet.dress.looks.items():
        cell = made.cell(at + 1, column + 1)
        for part, value in zip(_PARTS, look.parts, strict=True):
            setattr(cell, part, value)
    for first, last, left, right in sheet.dress.merged:
        made.merge_cells(
            start_row=first + 1, end_row=last + 1, start_column=left + 1, end_column=right + 1
        )
    if sheet.dress.is_hidden:
        made.sheet_state = "hidden"


def _without_dates(payload: bytes) -> bytes:
    """Return the same workbook with fixed dates, so that the same cells are the same bytes."""
    stream = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(payload)) as archive,
        zipfile.ZipFile(stream, "w") as copy,
    ):
        for name in archive.namelist():
            content = archive.read(name)
            content = _DATE.sub(_FIRST_DATE, content) if name == _CORE else content
            copy.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


EXCEL = TableLayout(
    name="excel",
    library="openpyxl",
    claims=lambda payload: payload.startswith(ZIP_MAGIC) and _WORKBOOK in payload,
    read=_read,
    write=_write,
)
