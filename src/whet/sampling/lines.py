"""Text by its lines, JSON lines by their keys, CSV by its records; copied byte for byte."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias, cast

from whet.core.errors import CannotSample
from whet.core.value_class import value_class
from whet.sampling.columns import check_columns, column_missing
from whet.sampling.streams import created, opened
from whet.sampling.table import BATCH_BYTES, BATCH_ROWS, Batch, Link, Rows, Table

Record: TypeAlias = tuple[int, bytes]
"""Where it begins, and its bytes with its line end."""

_BOM = b"\xef\xbb\xbf"
_HEAD_BYTES = 1 << 16
_HEAD_RECORDS = 1000
_DELIMITERS = b",;\t|"
_MOST_QUOTED_BYTES = 16 << 20
"""A quoted cell is no longer: its closing quote is missing."""


Lines: TypeAlias = Callable[[BinaryIO], Iterator[bytes]]
"""Yields the lines of a stream from where it stands."""


def _by_newline(stream: BinaryIO) -> Iterator[bytes]:
    """Yield lines that LF or CR LF ends."""
    while line := stream.readline():
        yield line


def _by_return(stream: BinaryIO) -> Iterator[bytes]:
    """Yield lines that CR alone ends."""
    rest = b""
    while block := stream.read(_HEAD_BYTES):
        *whole, rest = (rest + block).split(b"\r")
        yield from (line + b"\r" for line in whole)
    if rest:
        yield rest


def _lines_like(head: bytes) -> Lines:
    return _by_return if b"\r" in head and b"\n" not in head else _by_newline


def line_records(stream: BinaryIO, lines: Lines) -> Iterator[Record]:
    """Yield the lines with their places."""
    place = stream.tell()
    for line in lines(stream):
        yield place, line
        place += len(line)


def json_records(stream: BinaryIO, lines: Lines) -> Iterator[Record]:
    """Yield the lines that aren't blank."""
    return (record for record in line_records(stream, lines) if not record[1].isspace())


def csv_records(stream: BinaryIO, lines: Lines, delimiter: bytes) -> Iterator[Record]:
    """Yield the records of a CSV file; a quoted cell may hold line ends."""
    bar = re.escape(delimiter)
    cell = re.compile(
        rb'(?:"[^"]*(?:""[^"]*)*"[^"\r\n' + bar + rb']*|[^"\r\n' + bar + rb"][^\r\n" + bar + rb"]*|)"
        rb"(?:" + bar + rb"|\r?\n|\r|\Z)"
    )  # fmt: skip
    place = stream.tell()
    following = lines(stream)
    held: list[bytes] = []
    while (line := held.pop(0) if held else next(following, None)) is not None:
        record = line
        if line.count(b'"') % 2 and _is_open(line, cell):
            record += b"".join(_rest_of_record(following, held))
        if record.strip(b"\r\n"):
            yield place, record
        place += len(record)


def _is_open(line: bytes, cell: re.Pattern[bytes]) -> bool:
    """Whether a quoted cell of a line isn't closed in it."""
    position = 0
    while position < len(line):
        found = cell.match(line, position)
        if found is None or found.end() == position:
            return line[position : position + 1] == b'"'
        position = found.end()
    return False


def _rest_of_record(lines: Iterator[bytes], held: list[bytes]) -> list[bytes]:
    """Return the lines up to the closing quote; none where there isn't one, and they are held back."""
    more: list[bytes] = []
    size = 0
    while size < _MOST_QUOTED_BYTES:
        line = held.pop(0) if held else next(lines, None)
        if line is None:
            break
        more.append(line)
        size += len(line)
        if line.count(b'"') % 2:
            return more
    held[:0] = more
    return []


@value_class
class RecordFormat:
    """How a text file is divided.

    Attributes:
        kind: what it is, such as ``CSV``.
        unit: one record, such as ``row``.
        records: yields the records from where a stream stands.
        skip: where the first record is: behind what every sample begins with.
        columns: the names of its columns, as far as its start tells.
        cells: returns the values of a record by column; None: records have no columns.
        is_open: later records may have other columns.
    """

    kind: str
    unit: str
    records: Callable[[BinaryIO], Iterator[Record]]
    skip: int = 0
    columns: tuple[str, ...] = ()
    cells: Callable[[bytes], Mapping[str, object]] | None = None
    is_open: bool = False


@value_class
class Records:
    """The records of a text file; a `Table`.

    Attributes:
        path: the file.
        name: what ``--keys`` calls it.
        format: how it is divided.
    """

    path: Path
    name: str
    format: RecordFormat

    @property
    def unit(self) -> str:
        """One of them."""
        return self.format.unit

    @property
    def columns(self) -> Sequence[str]:
        """The names of its columns."""
        return self.format.columns

    @property
    def count(self) -> int | None:
        """Nobody knows before all of it is read."""
        return None

    @property
    def is_open(self) -> bool:
        """Whether later rows may have other columns."""
        return self.format.is_open

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that it doesn't have; JSON lines are asked at their end."""
        if not self.format.is_open:
            check_columns(columns, self.columns, f"`{self.path.name}`")

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        """Yield all records."""
        missing = set(columns or ()) - set(self.columns)
        seen = set(self.columns)
        with opened(self.path) as stream:
            stream.seek(self.format.skip)
            records = self.format.records(stream)
            while batch := list(_some(records)):
                places = [place for place, _ in batch]
                if self.format.cells is None or (columns is not None and not columns):
                    yield Rows(places, {})
                    continue
                rows = [self.format.cells(record) for _, record in batch]
                names: Sequence[str] = self.columns if columns is None else columns
                if self.format.is_open:
                    seen.update(*rows)
                    missing -= {name for name in missing if any(_has(row, name) for row in rows)}
                    names = sorted(seen) if columns is None else columns
                yield Rows(places, {name: [_value(row, name) for row in rows] for name in names})
        for name in sorted(missing):
            raise column_missing(name, seen, f"`{self.path.name}`")


def _some(records: Iterator[Record]) -> Iterator[Record]:
    """Yield records until they are enough for a batch."""
    size = 0
    for record in islice(records, BATCH_ROWS):
        yield record
        size += len(record[1])
        if size > BATCH_BYTES:
            return


def _has(row: Mapping[str, object], name: str) -> bool:
    return name in row or _value(row, name) is not None


def _value(row: Mapping[str, object], name: str) -> object:
    """Return a value of a row; `a.b` is that of `b` in `a`."""
    if name in row or "." not in name:
        return row.get(name)
    value: Any = row
    for key in name.split("."):
        if not isinstance(value, Mapping):
            return None
        value = cast("Mapping[str, object]", value).get(key)
    return value


class RecordFile:
    """A text file of records; a `Source`."""

    def __init__(self, path: Path, name: str, format_: RecordFormat) -> None:
        self._path = path
        self._name = name
        self._format = format_

    @property
    def kind(self) -> str:
        """What it is."""
        return self._format.kind

    @property
    def tables(self) -> Sequence[Table]:
        """Its one table."""
        return (Records(self._path, self._name, self._format),)

    def links(self) -> Sequence[Link]:
        """Return nothing: text says of nothing what it refers to."""
        return ()

    def write(self, chosen: Mapping[str, Sequence[int]], target: Path) -> None:
        """Copy what every sample begins with, and the chosen records, byte for byte."""
        with opened(self._path) as stream, created(target, self._path) as out:
            out.write(stream.read(self._format.skip))
            following = self._format.records(stream)
            expected = self._format.skip
            for place in chosen[self._name]:
                if place != expected:
                    stream.seek(place)
                    following = self._format.records(stream)
                begin, record = next(following)
                out.write(record)
                expected = begin + len(record)


def text_file(path: Path, name: str) -> RecordFile:
    """Return text by its lines."""
    head = _head_of(path)
    skip = len(_BOM) if head.startswith(_BOM) else 0
    records = partial(line_records, lines=_lines_like(head))
    return RecordFile(path, name, RecordFormat("text", "line", records, skip))


def json_lines(path: Path, name: str) -> RecordFile:
    """Return JSON lines by their keys."""
    head = _head_of(path)
    skip = len(_BOM) if head.startswith(_BOM) else 0
    records = partial(json_records, lines=_lines_like(head))
    columns: dict[str, None] = {}
    with opened(path) as stream:
        stream.seek(skip)
        for _, record in islice(records(stream), _HEAD_RECORDS):
            columns.update(dict.fromkeys(_json_cells(record)))
    format_ = RecordFormat(
        "JSON lines", "row", records, skip, tuple(columns), _json_cells, is_open=True
    )
    return RecordFile(path, name, format_)


def _json_cells(record: bytes) -> Mapping[str, object]:
    """Return an object's values by key; a line that holds none has no values."""
    with suppress(ValueError, RecursionError):
        value: Any = json.loads(record)
        if isinstance(value, dict):
            return cast("Mapping[str, object]", value)
    return {}


def csv_file(path: Path, name: str, *, has_header: bool = True) -> RecordFile:
    """Return a CSV file by its records.

    Raises:
        CannotSample: if it has none.
    """
    csv.field_size_limit(_MOST_QUOTED_BYTES * 2)
    head = _head_of(path)
    delimiter = _delimiter_of(path, head)
    records = partial(csv_records, lines=_lines_like(head), delimiter=delimiter)
    begin = len(_BOM) if head.startswith(_BOM) else 0
    with opened(path) as stream:
        stream.seek(begin)
        place, first = next(records(stream), (begin, b""))
    cells = _cells_of(first, delimiter)
    names = cells if has_header else [f"c{number}" for number in range(1, len(cells) + 1)]
    skip = place + len(first) if has_header else begin

    def read(record: bytes) -> Mapping[str, object]:
        row = _cells_of(record, delimiter)
        row += [""] * (len(names) - len(row))
        return {
            key: cell or None
            for key, cell in zip(reversed(names), reversed(row[: len(names)]), strict=True)
        }

    format_ = RecordFormat(
        "TSV" if delimiter == b"\t" else "CSV",
        "row",
        records,
        skip,
        tuple(dict.fromkeys(names)),
        read,
    )
    return RecordFile(path, name, format_)


def _cells_of(record: bytes, delimiter: bytes) -> list[str]:
    text = record.decode("utf-8", "surrogateescape").rstrip("\r\n")
    try:
        return next(csv.reader((text,), delimiter=delimiter.decode("ascii")), list[str]())
    except csv.Error:  # a NUL, or a line end where none may be
        return text.split(delimiter.decode("ascii"))


def _delimiter_of(path: Path, head: bytes) -> bytes:
    """Return what stands between the cells of the first line, outside of quotes."""
    first = re.split(rb"[\r\n]", head.removeprefix(_BOM), maxsplit=1)[0]
    bare = re.sub(rb'"[^"]*"', b"", first)
    if ".tsv" in path.suffixes:
        return b"\t"
    return max((bytes([each]) for each in _DELIMITERS), key=bare.count)


def is_csv(head: bytes) -> bool:
    """Whether the first lines of a text have equally many cells, at least two."""
    lines = [line for line in re.split(rb"\r\n|\n|\r", head.removeprefix(_BOM))[:-1] if line][:20]
    for delimiter in _DELIMITERS:
        counts = {len(_cells_of(line, bytes([delimiter]))) for line in lines}
        if len(lines) > 1 and len(counts) == 1 and counts != {1}:
            return True
    return False


def is_json_lines(head: bytes) -> bool:
    """Whether each of the first lines of a text is a JSON object."""
    lines = [line for line in head.removeprefix(_BOM).split(b"\n") if line.strip()]
    whole = lines[:-1][:20] if len(head) >= _HEAD_BYTES else lines[:20]
    return bool(whole) and all(
        line.lstrip().startswith(b"{") and _json_cells(line) for line in whole
    )


def head_of(path: Path) -> bytes:
    """Return the first bytes of a file, decompressed.

    Raises:
        CannotSample: if they can't be read.
    """
    return _head_of(path)


def _head_of(path: Path) -> bytes:
    with opened(path) as stream:
        head = stream.read(_HEAD_BYTES)
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise CannotSample(
            f"`{path.name}` is UTF-16 text",
            hint=f"convert it first: `iconv -f UTF-16 -t UTF-8 {path.name} > utf8-{path.name}`",
        )
    return head
