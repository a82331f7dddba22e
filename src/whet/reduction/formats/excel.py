"""Excel workbooks (`.xlsx`), through openpyxl: sheets of cells.

Formulas stay formulas, dates stay dates; colours, widths, charts and macros are not written
again: the first candidate already lacks them.
"""

import io
import re
import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from whet.reduction.formats.arrays import is_bomb
from whet.reduction.formats.npy import ZIP_MAGIC
from whet.reduction.formats.tables import Cells, Sheet, TableLayout

_WORKBOOK = b"xl/workbook.xml"
_CORE = "docProps/core.xml"
_DATE = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")
_FIRST_DATE = rb"\g<1>1980-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class CellSheet:
    """A sheet of a workbook; a `Sheet`.

    Attributes:
        name: its title.
        cells: its rows, all of one length.
        width: that.
    """

    name: str
    cells: tuple[tuple[object, ...], ...]
    width: int

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
        """A short title is plainer."""
        return len(self.name)

    def with_rows(self, blocks: Sequence[range]) -> Sheet:
        """Return it with these rows alone."""
        return replace(self, cells=tuple(self.cells[row] for block in blocks for row in block))

    def with_columns(self, columns: Sequence[int]) -> Sheet:
        """Return it with these columns alone."""
        cells = tuple(tuple(row[column] for column in columns) for row in self.cells)
        return replace(self, cells=cells, width=len(columns))

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
        """Return nothing: there is one way."""
        return []

    def plainer(self) -> list[Sheet]:
        """Return it with a shorter title."""
        return [replace(self, name="a")] if len(self.name) > 1 else []


def _read(payload: bytes) -> list[Sheet]:
    import openpyxl

    library: Any = openpyxl
    with zipfile.ZipFile(io.BytesIO(payload)) as archive:
        if is_bomb(payload, sum(each.file_size for each in archive.infolist())):
            raise ValueError("the workbook expands to more than fits into memory")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what openpyxl does not read
        book = library.load_workbook(io.BytesIO(payload))
    found: list[Sheet] = []
    for sheet in book.worksheets:
        rows = tuple(tuple(row) for row in sheet.iter_rows(values_only=True))
        width = max(map(len, rows), default=0)
        if all(cell is None for row in rows for cell in row):
            rows, width = (), 0  # an empty sheet is told as one empty cell
        found.append(CellSheet(str(sheet.title), rows, width))
    return found


def _write(sheets: Sequence[Sheet]) -> bytes:
    from openpyxl import Workbook

    make: Any = Workbook
    book = make()
    book.remove(book.active)
    for each in sheets:
        sheet = book.create_sheet(each.name)
        for row in zip(*(each.column(column) for column in range(len(each.heads))), strict=True):
            sheet.append(row)
    if not sheets:
        raise ValueError("a workbook has a sheet")
    stream = io.BytesIO()
    book.save(stream)
    return _without_dates(stream.getvalue())


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
