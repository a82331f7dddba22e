"""Sheets of rows and columns in a payload: what Parquet, Arrow and Excel have in common.

Nobody reads the bytes of such a file. The order of its payloads is that of what they hold: fewer
cells, fewer columns, plainer types, plainer cells.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import field
from functools import lru_cache
from typing import Protocol, TypeAlias, cast

from whet.core.value_class import value_class
from whet.reduction.edit import keep_least
from whet.reduction.formats.arrays.arrays import UNWRITABLE, is_installed
from whet.reduction.formats.text.plain_values import cost_of_number
from whet.reduction.order import Order
from whet.reduction.reduction_pass import Format, PassSearch
from whet.search.subsets.delta import Kept

MOST_CELLS = 100_000
"""In tables of more cells, single cells are neither changed nor compared."""

VIEWS = 3
"""whet keeps the views of the best payload and of two candidates: reading one takes long."""

NOTHING = 0.5
"""How far a missing value is from plain: farther than 0 or an empty text, less far than 1."""

OTHER = 100.0

Cells: TypeAlias = list[object]


class Sheet(Protocol):
    """A table, of which changed copies can be made."""

    @property
    def name(self) -> str:
        """What it is called; empty: nothing."""
        ...

    @property
    def heads(self) -> Sequence[str]:
        """The names and types of its columns, as a person reads them."""
        ...

    @property
    def rows(self) -> int:
        """How many there are."""
        ...

    @property
    def strangeness(self) -> int:
        """How far its types, and how it is stored, are from plain."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """What a person reads besides its cells, line by line."""
        ...

    def with_rows(self, blocks: Sequence[range], /) -> "Sheet":
        """Return it with these rows alone."""
        ...

    def with_columns(self, columns: Sequence[int], /) -> "Sheet":
        """Return it with these columns alone."""
        ...

    def column(self, column: int, /) -> Cells:
        """Return the cells of a column."""
        ...

    def with_column(self, column: int, cells: Cells, /) -> "Sheet":
        """Return it with other cells in a column, of the same type."""
        ...

    def stored_plainly(self) -> "list[Sheet]":
        """Return it stored in plainer ways; the plainest first."""
        ...

    def plainer(self) -> "list[Sheet]":
        """Return it with plainer names and types; the plainest first."""
        ...


@value_class(kw_only=True)
class TableLayout:
    """How a format stores sheets.

    Attributes:
        name: the format.
        library: what reads it: without it no payload is of the format.
        claims: quickly, whether a payload may be of the format.
        read: returns the sheets; it may raise whatever the library raises.
        write: returns a payload of these sheets.
    """

    name: str
    library: str
    claims: Callable[[bytes], bool]
    read: Callable[[bytes], Sequence[Sheet]]
    write: Callable[[Sequence[Sheet]], bytes]

    def parse(self, payload: bytes) -> "Tables | None":
        """Return the sheets of a payload; None if it isn't of the format."""
        if not self.claims(payload) or not is_installed(self.library):
            return None
        with suppress(Exception):  # a library raises what it likes on what is broken
            return Tables(payload, tuple(self.read(payload)), self)
        return None

    def format(self) -> "Format[Tables]":
        """Return the format that reads it."""
        return Format(name=self.name, parse=lru_cache(maxsize=VIEWS)(self.parse))


@value_class
class Tables:
    """What a payload holds.

    Attributes:
        payload: its bytes.
        sheets: its sheets.
        layout: its format.
    """

    payload: bytes
    sheets: tuple[Sheet, ...] = field(compare=False, repr=False)
    layout: TableLayout = field(compare=False, repr=False)

    @property
    def cells(self) -> int:
        """How many cells there are in all."""
        return sum(each.rows * len(each.heads) for each in self.sheets)

    def after(self, payload: bytes) -> "Tables":
        """Return what another payload of the same format holds."""
        if payload is self.payload:
            return self
        view = self.layout.parse(payload)
        assert view is not None, "what was written can be read"
        return view

    def searched(
        self, size: int, render: Callable[[Kept], Iterable[Sheet]], *, grain: int = 1
    ) -> PassSearch:
        """Look for a small part of ``size`` elements that still fails; return the payload then.

        Args:
            size: how many there are.
            render: returns the sheets that are left if only these elements are kept.
            grain: fewest elements to remove at once.
        """
        return keep_least(
            size, lambda kept: self.written(lambda: render(kept)), start=self.payload, grain=grain
        )

    def written(self, make: Callable[[], Iterable[Sheet]]) -> bytes:
        """Return the payload that holds other sheets; nothing if the format can't hold them."""
        try:
            return self.layout.write(list(make()))
        except UNWRITABLE:
            return b""

    def with_sheet(self, place: int, make: Callable[[Sheet], Sheet]) -> bytes:
        """Return the payload with another sheet instead of one."""
        return self.written(
            lambda: (make(each) if at == place else each for at, each in enumerate(self.sheets))
        )


def order_of_tables(format_: Format[Tables]) -> Order:
    """Return the order of payloads of a format: by what they hold."""

    def weight(payload: bytes) -> float:
        view = format_.parse(payload)
        if view is None:
            return float("inf")
        return view.cells + sum(1 + len(each.heads) for each in view.sheets)

    def rank(payload: bytes) -> tuple[object, ...]:
        view = format_.parse(payload)
        assert view is not None, "it has a weight"
        return (
            sum(each.rows for each in view.sheets),
            sum(each.strangeness for each in view.sheets),
            _cost(view) if view.cells <= MOST_CELLS else 0.0,
            len(payload),
            payload,
        )

    return Order(weight, rank)


def _cost(view: Tables) -> float:
    return sum(
        cost_of_cell(cell)
        for sheet in view.sheets
        for column in range(len(sheet.heads))
        for cell in sheet.column(column)
    )


def cost_of_cell(cell: object) -> float:
    """Return how far a cell is from plain."""
    if cell is None:
        return NOTHING
    if isinstance(cell, int | float):
        return cost_of_number(cell)
    if isinstance(cell, str | bytes):
        return float(len(cell))
    if isinstance(cell, dict):
        return _cost_of_held(list(cast("dict[object, object]", cell).values()))
    if isinstance(cell, list | tuple):
        return _cost_of_held(list(cast("Iterable[object]", cell)))
    return OTHER + len(repr(cell))


def _cost_of_held(held: list[object]) -> float:
    return OTHER + len(held) + sum(map(cost_of_cell, held))
