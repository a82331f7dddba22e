"""Parquet, row group by row group, and only the columns that are needed."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

from whet.core.errors import CannotSample
from whet.core.value_class import value_class
from whet.sampling.arrow_batches import ArrowRows, gathered, rows_at_once
from whet.sampling.arrow_library import arrow_path, check_pyarrow, parquet, pyarrow
from whet.sampling.columns import check_columns
from whet.sampling.table import Batch, Link, Table

_BUFFER_BYTES, _ALL_BUFFERS_BYTES, _LEAST_BUFFER_BYTES = 1 << 18, 1 << 24, 1 << 12
"""How much of a column is read at once: the pages of a row group don't have to fit in memory."""


@value_class
class ParquetTable:
    """The rows of a Parquet file; a `Table`.

    Attributes:
        path: the file.
        name: what ``--keys`` calls it.
        file: as pyarrow has it.
    """

    path: Path
    name: str
    file: Any

    @property
    def unit(self) -> str:
        """One of them."""
        return "row"

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        names: list[str] = self.file.schema_arrow.names
        return names

    @property
    def count(self) -> int | None:
        """Its end says how many rows it has."""
        return int(self.file.metadata.num_rows)

    @property
    def is_open(self) -> bool:
        """Whether later rows may have other columns."""
        return False

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that it doesn't have."""
        check_columns(columns, self.columns, f"`{self.path.name}`")

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        """Yield all rows."""
        begin = 0
        for group in range(self.file.metadata.num_row_groups):
            for batch in self.pieces(group, self.columns if columns is None else columns):
                yield ArrowRows(range(begin, begin + batch.num_rows), batch)
                begin += batch.num_rows

    def pieces(self, group: int, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the rows of a row group in batches that fit in memory."""
        found = self.file.metadata.row_group(group)
        if not columns:  # a batch without columns has no rows either
            columns = [self._narrowest(found)]
        rows = rows_at_once(found.num_rows, found.total_byte_size)
        yield from self.file.iter_batches(  # more threads take more memory, and hardly less time
            rows, row_groups=[group], columns=list(columns), use_threads=False
        )

    def _narrowest(self, group: Any) -> str:
        sizes: dict[str, int] = {
            group.column(number).path_in_schema.partition(".")[0]: group.column(
                number
            ).total_uncompressed_size
            for number in range(group.num_columns)
        }
        return min(sizes, key=lambda name: sizes[name])


class ParquetFile:
    """A Parquet file; a `Source`."""

    kind = "Parquet"

    def __init__(self, path: Path, name: str) -> None:
        """Read its end.

        Raises:
            CannotSample: if it isn't whole.
        """
        check_pyarrow(path.name)
        self._path = path
        self._name = name
        try:
            self._file = self._opened()
        except (pyarrow().ArrowException, OSError) as error:
            raise CannotSample(
                f"`{path.name}` isn't a whole Parquet file: {error}", hint="get the file again"
            ) from error

    def _opened(self) -> Any:
        columns = max(parquet().read_metadata(arrow_path(self._path)).num_columns, 1)
        share = max(_ALL_BUFFERS_BYTES // columns, _LEAST_BUFFER_BYTES)
        return parquet().ParquetFile(
            arrow_path(self._path), buffer_size=min(_BUFFER_BYTES, share), pre_buffer=False
        )

    @property
    def tables(self) -> Sequence[Table]:
        """Its one table."""
        return (self._table,)

    @cached_property
    def _table(self) -> ParquetTable:
        return ParquetTable(self._path, self._name, self._file)

    def links(self) -> Sequence[Link]:
        """Return nothing: it refers to no other."""
        return ()

    def write(self, chosen: Mapping[str, Sequence[int]], target: Path) -> None:
        """Write the rows with the same types, metadata and compression."""
        places = chosen[self._name]
        with parquet().ParquetWriter(
            arrow_path(target),
            self._file.schema_arrow,
            compression=self._codecs(),
            version=self._version(),
        ) as writer:
            for table in gathered(self._pieces_with(places), places):
                writer.write_table(table)

    def _pieces_with(self, places: Sequence[int]) -> Iterator[tuple[int, Any]]:
        """Yield the batches of the row groups that have some of the rows, each with its first place."""
        metadata = self._file.metadata
        sizes = [metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)]
        for group, (start, end) in enumerate(pairwise(accumulate(sizes, initial=0))):
            first = bisect_left(places, start)
            after = bisect_left(places, end)
            begin = start
            if first == after:
                continue
            for batch in self._table.pieces(group, self._table.columns):
                yield begin, batch
                begin += batch.num_rows
                if begin > places[after - 1]:
                    break

    def _codecs(self) -> dict[str, str]:
        """Return the compression of each column, as the first row group has it."""
        if not self._file.metadata.num_row_groups:
            return {}
        group = self._file.metadata.row_group(0)
        columns = [group.column(number) for number in range(group.num_columns)]
        return {
            each.path_in_schema: "NONE" if each.compression == "UNCOMPRESSED" else each.compression
            for each in columns
        }

    def _version(self) -> str:
        version: str = self._file.metadata.format_version
        return version if version in {"1.0", "2.4", "2.6"} else "2.6"
