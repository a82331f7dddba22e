"""Files and streams of Arrow, Feather among them, batch by batch; one file or the shards of a folder."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from whet.core.errors import CannotSample
from whet.core.value_class import value_class
from whet.sampling.arrow_batches import ArrowRows, gathered, rows_at_once
from whet.sampling.arrow_library import arrow_path, check_pyarrow, ipc, pyarrow
from whet.sampling.columns import check_columns
from whet.sampling.table import Batch, Link, Table

FILE_MAGIC, STREAM_MAGIC = b"ARROW1", b"\xff\xff\xff\xff"
_AFTER_MAGIC = 8
_HEADER, _COMPRESSION, _CODEC = 2, 3, 0
_CODECS = {0: "lz4", 1: "zstd"}


@value_class
class ArrowTable:
    """The rows of one file or of several shards; a `Table`.

    Attributes:
        paths: the shards, in order.
        name: what ``--keys`` calls it.
        schema: their schema.
    """

    paths: tuple[Path, ...]
    name: str
    schema: Any

    @property
    def unit(self) -> str:
        """One of them."""
        return "row"

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        names: list[str] = self.schema.names
        return names

    @property
    def count(self) -> int | None:
        """A file with an index says how many rows it has, a stream doesn't."""
        count = 0
        for path in self.paths:
            if is_stream(path):
                return None
            with ipc().open_file(arrow_path(path)) as reader:
                count += reader.count_rows()
        return count

    @property
    def is_open(self) -> bool:
        """Whether later rows may have other columns."""
        return False

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that it doesn't have."""
        check_columns(columns, self.columns, f"`{self.name}`")

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        """Yield all rows."""
        begin = 0
        names = self.columns if columns is None else columns
        for data in self.pieces([self.columns.index(name) for name in names]):
            yield ArrowRows(range(begin, begin + data.num_rows), data)
            begin += data.num_rows

    def pieces(self, columns: Sequence[int]) -> Iterator[Any]:
        """Yield the rows in batches that fit in memory."""
        for path in self.paths:
            yield from _pieces(path, sorted(columns) or [0])


def is_stream(path: Path) -> bool:
    """Whether it is a stream, not a file with an index at its end."""
    with path.open("rb") as file:
        return file.read(4) == STREAM_MAGIC


def _pieces(path: Path, columns: Sequence[int]) -> Iterator[Any]:
    """Yield the rows of one file in batches that fit in memory."""
    pa = pyarrow()
    options = ipc().IpcReadOptions(included_fields=list(columns))
    if is_stream(path):
        with (
            pa.OSFile(arrow_path(path)) as file,
            ipc().open_stream(file, options=options) as reader,
        ):
            for batch in reader:
                yield from _slices(batch)
        return
    is_compressed = _codec_of(path) is not None
    number, begin, count = 0, 0, 1
    while number < count:
        # Of a batch that isn't compressed only what is looked at becomes memory, and it goes with the map.
        with pa.memory_map(arrow_path(path)) as file:
            reader = ipc().open_file(file, options=options)
            count = reader.num_record_batches
            if number == count:
                return
            batch = reader.get_batch(number)
            rows = rows_at_once(batch.num_rows, batch.nbytes)
            if is_compressed:
                yield from _slices(batch)
            else:
                yield batch.slice(begin, rows)
        begin += rows
        if is_compressed or begin >= batch.num_rows:
            number, begin = number + 1, 0
        del batch, reader


def _slices(batch: Any) -> Iterator[Any]:
    rows = rows_at_once(batch.num_rows, batch.nbytes)
    for begin in range(0, batch.num_rows, rows):
        yield batch.slice(begin, rows)


def schema_of(path: Path) -> Any:
    """Return the schema of a file or a stream.

    Raises:
        CannotSample: if it isn't whole.
    """
    check_pyarrow(path.name)
    pa = pyarrow()
    try:
        with pa.OSFile(arrow_path(path)) as file:
            read = ipc().open_stream if is_stream(path) else ipc().open_file
            with read(file) as reader:
                return reader.schema
    except (pa.ArrowException, OSError) as error:
        raise CannotSample(
            f"`{path.name}` isn't a whole Arrow file: {error}", hint="get the file again"
        ) from error


def write_rows(table: ArrowTable, places: Sequence[int], target: Path, *, as_stream: bool) -> int:
    """Write rows with the same types and metadata; return how many bytes they take in memory."""
    pa = pyarrow()
    new = ipc().new_stream if as_stream else ipc().new_file
    size = 0
    pieces = table.pieces(range(len(table.columns)))
    with (
        pa.OSFile(arrow_path(target), "wb") as file,
        new(file, table.schema, options=_options(table)) as writer,
    ):
        for rows in gathered(_placed(pieces), places):
            writer.write_table(rows)
            size += rows.nbytes
    return size


def _placed(pieces: Iterable[Any]) -> Iterator[tuple[int, Any]]:
    """Yield batches with the place of their first row."""
    begin = 0
    for batch in pieces:
        yield begin, batch
        begin += batch.num_rows


def _options(table: ArrowTable) -> Any:
    return ipc().IpcWriteOptions(compression=_codec_of(table.paths[0]), unify_dictionaries=True)


def _codec_of(path: Path) -> str | None:
    """Return the codec that the first batch of a file is compressed with, which pyarrow doesn't say."""
    pa = pyarrow()
    with pa.memory_map(arrow_path(path)) as file:
        if not is_stream(path):
            file.seek(_AFTER_MAGIC)
        with suppress(StopIteration, pa.ArrowException):
            for message in ipc().MessageReader.open_stream(file):
                if message.type == "record batch":
                    return _codec_in(message.metadata.to_pybytes())
    return None


def _codec_in(message: bytes) -> str | None:
    """Return the codec that the metadata of a batch names: a flatbuffer, `Message.fbs` of Arrow."""
    root = _number(message, 0, 4)
    header = _field(message, root, _HEADER)
    compression = _field(message, header, _COMPRESSION) if header else 0
    if not compression:
        return None
    codec = _field(message, compression, _CODEC, is_offset=False)
    return _CODECS.get(message[codec] if codec else 0)


def _field(message: bytes, table: int, number: int, *, is_offset: bool = True) -> int:
    """Return where a field of a flatbuffer's table is; 0: it isn't there."""
    fields = table - int.from_bytes(message[table : table + 4], "little", signed=True)
    place = 4 + 2 * number
    if place >= _number(message, fields, 2):
        return 0
    offset = _number(message, fields + place, 2)
    if not offset:
        return 0
    return table + offset + (_number(message, table + offset, 4) if is_offset else 0)


def _number(message: bytes, place: int, size: int) -> int:
    return int.from_bytes(message[place : place + size], "little")


class ArrowFile:
    """A file or a stream of Arrow; a `Source`."""

    def __init__(self, path: Path, name: str) -> None:
        """Read its schema.

        Raises:
            CannotSample: if it isn't whole.
        """
        self._path = path
        self._name = name
        self._table = ArrowTable((path,), name, schema_of(path))

    @property
    def kind(self) -> str:
        """What it is."""
        return "Arrow stream" if is_stream(self._path) else "Arrow"

    @property
    def tables(self) -> Sequence[Table]:
        """Its one table."""
        return (self._table,)

    def links(self) -> Sequence[Link]:
        """Return nothing: it refers to no other."""
        return ()

    def write(self, chosen: Mapping[str, Sequence[int]], target: Path) -> None:
        """Write the rows, with the same types and metadata."""
        write_rows(self._table, chosen[self._name], target, as_stream=is_stream(self._path))
