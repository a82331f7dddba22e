"""Parquet and Feather, and files and streams of Arrow, through pyarrow; what is written is of the same format."""

import io
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from whet.core.value_class import value_class
from whet.reduction.formats.tables.arrow_types import PLAIN, Offer, plainer_types, pyarrow, types_in
from whet.reduction.formats.tables.tables import Cells, Sheet, TableLayout

SINGLE_GROUPS = 1000
"""The most row groups: each costs time to write."""

_PARQUET_MAGIC = b"PAR1"
_ARROW_MAGIC = b"ARROW1"
_STREAM_MAGIC = b"\xff\xff\xff\xff"


@value_class
class Stored:
    """How a table is stored in its file.

    Attributes:
        compression: the name of the codec; empty: none.
        group_rows: rows of a row group or a batch; 0: all of them are in one.
    """

    compression: str = ""
    group_rows: int = 0


@value_class
class ArrowSheet:
    """A table of pyarrow with how it is stored; a `Sheet`."""

    table: Any
    stored: Stored

    @property
    def name(self) -> str:
        """It has none."""
        return ""

    @property
    def heads(self) -> Sequence[str]:
        """The names and types of its columns."""
        return [f"{each.name}: {each.type}" for each in self.table.schema]

    @property
    def rows(self) -> int:
        """How many there are."""
        return int(self.table.num_rows)

    @property
    def notes(self) -> Sequence[str]:
        """Nothing: types stand in the heads."""
        return ()

    @property
    def strangeness(self) -> int:
        """How far columns are from plain types, which must not be null, and what is stored beside."""
        schema = self.table.schema
        columns = sum(types_in(each.type) for each in schema) + self._dictionary_entries()
        columns += sum(not each.nullable or bool(each.metadata) for each in schema)
        pieces = min(self.stored.group_rows, self.rows)
        return columns + bool(schema.metadata) + bool(self.stored.compression) + pieces

    def _dictionary_entries(self) -> int:
        """Return how many values the dictionaries of columns hold: more than there are rows, often.

        Each row group has a dictionary of its own; the largest one counts.
        """
        return sum(
            max((len(chunk.dictionary) for chunk in column.chunks), default=0)
            for column, field in zip(self.table.columns, self.table.schema, strict=True)
            if pyarrow().types.is_dictionary(field.type)
        )

    def with_rows(self, blocks: Sequence[range]) -> Sheet:
        """Return it with these rows alone."""
        pieces = [self.table.slice(each.start, len(each)) for each in blocks]
        table = pyarrow().concat_tables(pieces) if pieces else self.table.slice(0, 0)
        return replace(self, table=table)

    def with_columns(self, columns: Sequence[int]) -> Sheet:
        """Return it with these columns alone."""
        return replace(self, table=self.table.select(list(columns)))

    def column(self, column: int) -> Cells:
        """Return the cells of a column, as values of Python."""
        return list(self.table.column(column).to_pylist())

    def with_column(self, column: int, cells: Cells) -> Sheet:
        """Return it with other cells in a column."""
        field = self.table.schema.field(column)
        made = pyarrow().array(cells, field.type)
        return replace(self, table=self.table.set_column(column, field, made))

    def stored_plainly(self) -> list[Sheet]:
        """Return it stored in plainer ways: bare, in one piece, or in smaller ones."""
        found: list[Sheet] = []
        bare = self.table.schema.remove_metadata()
        if self.stored != Stored() or self.table.schema.metadata:
            with suppress(pyarrow().ArrowException):  # a file may lack what its schema demands
                found.append(ArrowSheet(self.table.cast(bare), Stored()))
        if self.stored.compression:
            found.append(replace(self, stored=replace(self.stored, compression="")))
        if self._dictionary_entries():
            with suppress(pyarrow().ArrowException):  # it makes no dictionaries of some types
                found.append(self._with_new_dictionaries())
        size = 1 if self.rows <= SINGLE_GROUPS else self.rows // SINGLE_GROUPS
        if self.stored.group_rows > size:
            found.append(replace(self, stored=replace(self.stored, group_rows=size)))
        return found

    def _with_new_dictionaries(self) -> Sheet:
        """Return it with dictionaries of nothing but what its rows say."""
        sheet: Sheet = self
        for column, field in enumerate(self.table.schema):
            if pyarrow().types.is_dictionary(field.type):
                sheet = sheet.with_column(column, self.column(column))
        return sheet

    def plainer(self) -> list[Sheet]:
        """Return it with plainer columns."""
        pa = pyarrow()
        schema = self.table.schema
        bare = pa.schema([pa.field(each.name, each.type) for each in schema], schema.metadata)
        found: list[Sheet] = []
        if bare != schema:
            with suppress(pa.ArrowException):  # as above
                found.append(replace(self, table=self.table.cast(bare)))
        for column, field in enumerate(schema):
            if str(field.type) not in PLAIN:
                found += self._offered(column)
        return found

    def _offered(self, column: int) -> list[Sheet]:
        """Return it with plainer types for one column, where its values fit them."""
        pa = pyarrow()
        name = self.table.schema.field(column).name
        found: list[Sheet] = []
        for offer in plainer_types(self.table.schema.field(column).type):
            try:
                made = self._said(column, offer)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError, KeyError):
                continue
            table = self.table.set_column(column, pa.field(name, offer.type), made)
            found.append(replace(self, table=table))
        return found

    def _said(self, column: int, offer: Offer) -> Any:
        """Return the values of a column in another type."""
        values = self.table.column(column)
        if offer.said is None:
            return values.cast(offer.type, safe=False)
        return pyarrow().array([offer.said(each) for each in values.to_pylist()], offer.type)


def _read_parquet(payload: bytes) -> list[Sheet]:
    from pyarrow import parquet

    read: Any = parquet
    file = read.ParquetFile(io.BytesIO(payload))
    found, groups = file.metadata, file.metadata.num_row_groups
    codec = ""
    if groups and found.num_columns:
        codec = found.row_group(0).column(0).compression
    size = max(found.row_group(0).num_rows, 1) if groups > 1 else 0
    stored = Stored("" if codec in {"", "UNCOMPRESSED"} else codec, size)
    return [ArrowSheet(_sound(file.read()), stored)]


def _write_parquet(sheets: Sequence[Sheet]) -> bytes:
    from pyarrow import parquet

    write: Any = parquet
    stream = io.BytesIO()
    sheet = _only(sheets)
    write.write_table(
        sheet.table.combine_chunks(),
        stream,
        compression=sheet.stored.compression or "NONE",
        row_group_size=sheet.stored.group_rows or None,
    )
    return stream.getvalue()


def _read_arrow(payload: bytes) -> list[Sheet]:
    from pyarrow import ipc

    read: Any = ipc
    file = read.open_file(io.BytesIO(payload))
    size = max(file.get_batch(0).num_rows, 1) if file.num_record_batches > 1 else 0
    return [ArrowSheet(_sound(file.read_all()), Stored("", size))]


def _read_stream(payload: bytes) -> list[Sheet]:
    from pyarrow import ipc

    read: Any = ipc
    with read.open_stream(io.BytesIO(payload)) as reader:
        schema, batches = reader.schema, list(reader)
    size = max(batches[0].num_rows, 1) if len(batches) > 1 else 0
    table = _sound(pyarrow().Table.from_batches(batches, schema))
    return [ArrowSheet(table, Stored("", size))]


def _sound(table: Any) -> Any:
    """Return a table of which all can be looked at: Arrow believes what a file says of places in it."""
    table.validate(full=True)
    for column in table.columns:
        kinds = pyarrow().types
        if kinds.is_temporal(column.type) or not kinds.is_primitive(column.type):
            column.to_pylist()  # it raises for a day that Python has no date for, for broken UTF-8
    return table


def _write_arrow(sheets: Sequence[Sheet]) -> bytes:
    from pyarrow import ipc

    file: Any = ipc
    return _written(sheets, file.new_file)


def _write_stream(sheets: Sequence[Sheet]) -> bytes:
    from pyarrow import ipc

    stream: Any = ipc
    return _written(sheets, stream.new_stream)


def _written(sheets: Sequence[Sheet], new: Callable[[io.BytesIO, Any], Any]) -> bytes:
    stream = io.BytesIO()
    sheet = _only(sheets)
    with new(stream, sheet.table.schema) as writer:
        writer.write_table(
            sheet.table.combine_chunks(), max_chunksize=sheet.stored.group_rows or None
        )
    return stream.getvalue()


def _only(sheets: Sequence[Sheet]) -> ArrowSheet:
    if len(sheets) != 1 or not isinstance(sheets[0], ArrowSheet):
        raise ValueError("the file holds one table")
    return sheets[0]


PARQUET = TableLayout(
    name="parquet",
    library="pyarrow",
    claims=lambda payload: payload.startswith(_PARQUET_MAGIC) and payload.endswith(_PARQUET_MAGIC),
    read=_read_parquet,
    write=_write_parquet,
)
ARROW = TableLayout(
    name="arrow",
    library="pyarrow",
    claims=lambda payload: payload.startswith(_ARROW_MAGIC) and payload.endswith(_ARROW_MAGIC),
    read=_read_arrow,
    write=_write_arrow,
)
ARROW_STREAM = TableLayout(
    name="arrow stream",
    library="pyarrow",
    claims=lambda payload: payload.startswith(_STREAM_MAGIC),
    read=_read_stream,
    write=_write_stream,
)
