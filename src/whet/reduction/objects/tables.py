"""Data frames and series: rows and columns."""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from whet.reduction.objects.grids import Grid

_PLAIN_NUMBERS = ("int64", "float64")


class Table(Grid):
    """A pandas DataFrame, or a Series: a table of one column, which can't go."""

    __slots__ = ()

    def take(self, axis: int, kept: Sequence[int]) -> Grid:
        """Return these rows, or these columns, alone."""
        return Table(self.data.iloc[:, list(kept)] if axis else self.data.iloc[list(kept)])

    def plainer(self) -> Iterator[Grid]:
        """Yield it with rows numbered from 0, and with plainer types of columns."""
        pandas = sys.modules["pandas"]
        if not self.data.index.equals(pandas.RangeIndex(len(self.data))):
            yield Table(self.data.reset_index(drop=True))
        for position, column in enumerate(self._columns()):
            for plain in _plainer_columns(column):
                yield self._with_columns(
                    [
                        plain if each == position else other
                        for each, other in enumerate(self._columns())
                    ]
                )

    def cells(self) -> list[object]:
        """Return the values, column after column."""
        return [cell for column in self._columns() for cell in column.tolist()]

    def with_cells(self, cells: list[object]) -> Grid:
        """Return a table of the same rows, columns and types."""
        pandas = sys.modules["pandas"]
        rows = len(self.data)
        columns = [
            pandas.Series(
                cells[number * rows : (number + 1) * rows],
                index=column.index,
                dtype=column.dtype,
                name=column.name,
            )
            for number, column in enumerate(self._columns())
        ]
        return self._with_columns(columns)

    def make(self) -> object:
        """Return a copy."""
        fresh: object = self.data.copy(deep=True)
        return fresh

    def describe(self) -> bytes:
        """Return its form and all of its values."""
        parts = [repr(self.data.index.tolist())]
        parts += [
            f"{column.name!r} {column.dtype} {column.tolist()!r}" for column in self._columns()
        ]
        return "\n".join([type(self.data).__name__, *parts]).encode("utf-8", "replace")

    def _columns(self) -> list[Any]:
        if len(self.lengths) == 1:
            return [self.data]
        return [self.data.iloc[:, number] for number in range(self.lengths[1])]

    def _with_columns(self, columns: list[Any]) -> Grid:
        if len(self.lengths) == 1:
            return Table(columns[0])
        pandas = sys.modules["pandas"]
        frame = pandas.concat(columns, axis=1)
        frame.columns = self.data.columns
        return Table(frame)


def table_of(value: Any) -> Table | None:
    """Return the grid of a data frame or a series; None if a value is neither."""
    is_one = type(value).__name__ in {"DataFrame", "Series"}
    return Table(value.copy(deep=True)) if is_one else None


def _plainer_columns(column: Any) -> Iterator[Any]:
    """Yield a column with the same values in a plainer type, the plainest first."""
    kind = getattr(column.dtype, "kind", "O")
    if kind not in "iuf" or column.isna().any():
        return
    for name in _PLAIN_NUMBERS:
        if str(column.dtype) == name:
            return
        plain = column.astype(name)
        if (plain == column).all():
            yield plain
