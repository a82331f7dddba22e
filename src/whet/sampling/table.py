"""What a sample is taken of: tables whose rows come in batches, each row at its place."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Protocol, runtime_checkable

from whet.core.value_class import value_class
from whet.sampling.column_values import extreme_values, first_values
from whet.sampling.values import Measure

BATCH_ROWS = 4096
BATCH_BYTES = 8 << 20
"""A batch of rows holds about this much at most: a file of any size takes little memory."""


@value_class
class RowFilter:
    """What a row has to be to count at all.

    Attributes:
        columns: those that it looks at.
        holds: says whether a row of these columns' values counts.
        arrow: makes a mask of an Arrow batch; None: each row is asked.
    """

    columns: tuple[str, ...]
    holds: Callable[[Mapping[str, object]], bool]
    arrow: Callable[[object], object] | None = None


class Batch(Protocol):
    """Some rows of a table, in order."""

    @property
    def places(self) -> Sequence[int]:
        """Where each of them is in the file."""
        ...

    @property
    def names(self) -> Iterable[str]:
        """The columns that were read."""
        ...

    def filtered(self, wanted: RowFilter) -> "Batch":
        """Return the rows that count."""
        ...

    def column(self, name: str) -> Sequence[object]:
        """Return the values of a column."""
        ...

    def firsts(self, name: str) -> Iterator[tuple[object, int]]:
        """Yield each value of a column, as something hashable, with the place of a first row."""
        ...

    def extremes(self, name: str) -> Iterator[tuple[Measure, int]]:
        """Yield values of a column among which its extremes are, with their places."""
        ...


@value_class
class Rows:
    """A batch of rows as Python has them; a `Batch`.

    Attributes:
        places: where each is in the file.
        columns: the values of each column that was asked for.
    """

    places: Sequence[int]
    columns: Mapping[str, Sequence[object]]

    @property
    def names(self) -> Iterable[str]:
        """The columns that were read."""
        return self.columns

    def filtered(self, wanted: RowFilter) -> Batch:
        """Return the rows that count."""
        columns = [self.columns[name] for name in wanted.columns]
        cells = zip(*columns, strict=True) if columns else repeat((), len(self.places))
        holds, names = wanted.holds, wanted.columns
        rows = [
            number
            for number, values in enumerate(cells)
            if holds(dict(zip(names, values, strict=True)))
        ]
        return Rows(
            [self.places[number] for number in rows],
            {name: [values[number] for number in rows] for name, values in self.columns.items()},
        )

    def column(self, name: str) -> Sequence[object]:
        """Return the values of a column."""
        return self.columns[name]

    def firsts(self, name: str) -> Iterator[tuple[object, int]]:
        """Yield the values of a column, of equal texts the first alone."""
        return first_values(self.columns[name], self.places)

    def extremes(self, name: str) -> Iterator[tuple[Measure, int]]:
        """Yield values of a column among which its extremes are, of equal ones the first."""
        return extreme_values(self.columns[name], self.places)


class Table(Protocol):
    """Rows, lines or files of which some are taken."""

    @property
    def name(self) -> str:
        """What `--keys` calls it."""
        ...

    @property
    def unit(self) -> str:
        """One of them, such as ``row``."""
        ...

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        ...

    @property
    def count(self) -> int | None:
        """How many rows it has, and then their places are 0, 1, 2 …; None: that takes a look at all."""
        ...

    @property
    def is_open(self) -> bool:
        """Whether later rows may have other columns."""
        return False

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that it doesn't have.

        Raises:
            ColumnMissing: if there is such a column.
        """
        ...

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        """Yield all rows.

        Args:
            columns: those to read; None: all.
        """
        ...


class Source(Protocol):
    """A file or a folder that holds one table or more."""

    @property
    def kind(self) -> str:
        """What it is, such as ``Parquet``."""
        ...

    @property
    def tables(self) -> Sequence[Table]:
        """Its tables."""
        ...

    def links(self) -> "Sequence[Link]":
        """Return how its tables refer to each other, as far as the file itself says so."""
        ...

    def write(self, chosen: Mapping[str, Sequence[int]], target: Path) -> None:
        """Fill a file or folder with what holds the chosen rows alone.

        Args:
            chosen: the places of the rows of each table, in order.
            target: where it goes: an empty file, or an empty folder.
        """
        ...


@runtime_checkable
class HasGaps(Protocol):
    """A source of which a sample may lack something that isn't a row."""

    def left_out(self) -> Sequence[str]:
        """Return what the last sample doesn't have, in sentences."""
        ...


@value_class
class Link:
    """Rows of one table refer to rows of another.

    Attributes:
        table: whose rows refer.
        columns: with which.
        other: the table they refer to.
        other_columns: to which of its columns.
    """

    table: str
    columns: tuple[str, ...]
    other: str
    other_columns: tuple[str, ...]

    @property
    def text(self) -> str:
        """As ``--keys`` has it."""
        left = ",".join(f"{self.table}.{each}" for each in self.columns)
        right = ",".join(f"{self.other}.{each}" for each in self.other_columns)
        return f"{left}={right}"
