"""Text by its lines, JSON lines by their keys, CSV by its records; copied byte for byte."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, BinaryIO, cast

from whet.core.errors import CannotSample
from whet.core.value_class import value_class
from whet.sampling.arrow_texts import WORTH_BYTES, ArrowTexts, arrow_texts, has_arrow
from whet.sampling.columns import check_columns, column_missing
from whet.sampling.record_groups import (
    BLOCK_BYTES,
    MOST_QUOTED_BYTES,
    Group,
    Groups,
    blocks_like,
    csv_groups,
    json_groups,
    line_groups,
)
from whet.sampling.streams import created, opened
from whet.sampling.table import Batch, Link, Rows, Table

_BOM = b"\xef\xbb\xbf"
_HEAD_BYTES = 1 << 16
_HEAD_RECORDS = 1000
_DELIMITERS = b",;\t|"
_read_json: Callable[[str, int], tuple[Any, int]] = json.JSONDecoder().raw_decode
_JSON_SPACE = " \t\r\n"
_FEW_BYTES = 1 << 13
"""Read on from a record where only that one may be wanted."""


@value_class
class RecordFormat:
    """How a text file is divided.

    Attributes:
        kind: what it is, such as ``CSV``.
        unit: one record, such as ``row``.
        groups: yields the records from where a stream stands.
        skip: where the first record is: behind what every sample begins with.
        columns: the names of its columns, as far as its start tells.
        cells: returns the values of some columns in some records; None: they have none that all share.
        arrow: returns the same as Arrow has them; None: it can't.
        is_open: later records may have other columns.
    """

    kind: str
    unit: str
    groups: Groups
    skip: int = 0
    columns: tuple[str, ...] = ()
    cells: Callable[[Sequence[bytes], Sequence[str]], Mapping[str, Sequence[object]]] | None = None
    arrow: Callable[[Group, Sequence[str]], ArrowTexts | None] | None = None
    is_open: bool = False

    def records(self, stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
        """Yield each record with its place, from where a stream stands."""
        for group in self.groups(stream, _FEW_BYTES):
            yield from zip(group.places, group.records, strict=True)


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
        is_large = self.path.stat().st_size > WORTH_BYTES
        arrow = self.format.arrow if is_large and has_arrow() else None
        with opened(self.path) as stream:
            stream.seek(self.format.skip)
            for group in self.format.groups(stream, BLOCK_BYTES):
                if columns is not None and not columns:
                    yield Rows(group.places, {})
                elif self.format.is_open:
                    rows = _json_rows(group.records)
                    seen.update(*rows)
                    missing -= {name for name in missing if any(_has(row, name) for row in rows)}
                    names = sorted(seen) if columns is None else columns
                    yield Rows(group.places, {name: _values(rows, name) for name in names})
                elif self.format.cells is None:
                    yield Rows(group.places, {})
                else:
                    names = self.columns if columns is None else columns
                    texts = None if arrow is None else arrow(group, names)
                    yield texts or Rows(group.places, self.format.cells(group.records, names))
        for name in sorted(missing):
            raise column_missing(name, seen, f"`{self.path.name}`")


def _has(row: Mapping[str, object], name: str) -> bool:
    return name in row or _value(row, name) is not None


def _values(rows: Sequence[Mapping[str, object]], name: str) -> Sequence[object]:
    if "." in name:
        return [_value(row, name) for row in rows]
    return [row.get(name) for row in rows]


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
    groups = partial(line_groups, blocks=blocks_like(head))
    format_ = RecordFormat("text", "line", groups, skip, columns=("line",), cells=_lines_of)
    return RecordFile(path, name, format_)


def _lines_of(records: Sequence[bytes], names: Sequence[str]) -> Mapping[str, Sequence[object]]:
    """Return the text of each line; an empty one is a missing value."""
    texts = [record.decode("utf-8", "surrogateescape").rstrip("\r\n") for record in records]
    return {name: [text or None for text in texts] for name in names}


def json_lines(path: Path, name: str) -> RecordFile:
    """Return JSON lines by their keys."""
    head = _head_of(path)
    skip = len(_BOM) if head.startswith(_BOM) else 0
    format_ = RecordFormat(
        "JSON lines", "row", partial(json_groups, blocks=blocks_like(head)), skip, is_open=True
    )
    columns: dict[str, None] = {}
    with opened(path) as stream:
        stream.seek(skip)
        for _, record in islice(format_.records(stream), _HEAD_RECORDS):
            columns.update(dict.fromkeys(_json_cells(record)))
    return RecordFile(path, name, replace(format_, columns=tuple(columns)))


def _json_rows(records: Sequence[bytes]) -> Sequence[Mapping[str, object]]:
    """Return the values of some lines by key."""
    with suppress(ValueError, RecursionError):
        rows: list[Any] = []
        for record in records:
            line = record.decode()
            value, end = _read_json(line, 0)
            if type(value) is not dict or line[end:].strip(_JSON_SPACE):
                break
            rows.append(value)
        else:
            return rows
    return [_json_cells(record) for record in records]


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
    csv.field_size_limit(MOST_QUOTED_BYTES * 2)
    head = _head_of(path)
    delimiter = _delimiter_of(path, head)
    groups = partial(csv_groups, blocks=blocks_like(head), delimiter=delimiter)
    kind = "TSV" if delimiter == b"\t" else "CSV"
    begin = len(_BOM) if head.startswith(_BOM) else 0
    format_ = RecordFormat(kind, "row", groups, begin)
    with opened(path) as stream:
        stream.seek(begin)
        place, first = next(format_.records(stream), (begin, b""))
    cells = _cells_of(first, delimiter)
    names = cells if has_header else [f"c{number}" for number in range(1, len(cells) + 1)]
    format_ = replace(
        format_,
        skip=place + len(first) if has_header else begin,
        columns=tuple(dict.fromkeys(names)),
        cells=partial(_columns_of, all_names=names, delimiter=delimiter),
        arrow=partial(arrow_texts, all_names=names, delimiter=delimiter),
    )
    return RecordFile(path, name, format_)


def _columns_of(
    records: Sequence[bytes], names: Sequence[str], *, all_names: Sequence[str], delimiter: bytes
) -> Mapping[str, Sequence[object]]:
    """Return the values of some columns; a record without that many cells has none in the last ones."""
    width = len(all_names)
    places = [all_names.index(name) for name in names]
    together = b"".join(records)
    if _is_plain(together, records, delimiter, width):
        bar = delimiter.decode("ascii")
        text = together.decode("utf-8", "surrogateescape").removesuffix("\n")
        flat = text.replace("\n", bar).split(bar)
        columns: list[Sequence[str]] = [flat[place::width] for place in places]
    else:
        rows = _rows_of(together, records, delimiter)
        if {*map(len, rows)} != {width}:
            rows = [(*row, *[""] * (width - len(row)))[:width] for row in rows]
        columns = [[*map(itemgetter(place), rows)] for place in places]
    return {
        name: [cell or None for cell in column] if "" in column else column
        for name, column in zip(names, columns, strict=True)
    }


def _is_plain(together: bytes, records: Sequence[bytes], delimiter: bytes, width: int) -> bool:
    """Whether nothing but line ends and delimiters is between the cells, as many in each record."""
    return (
        b'"' not in together
        and b"\r" not in together
        and {record.count(delimiter) for record in records} == {width - 1}
    )


def _rows_of(
    together: bytes, records: Sequence[bytes], delimiter: bytes
) -> Sequence[Sequence[str]]:
    """Return the cells of some records, read together if each of them is sound."""
    texts = together.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    if len(texts) != len(records) or b"\r" in together:
        texts = [record.decode("utf-8", "surrogateescape").rstrip("\r\n") for record in records]
    with suppress(csv.Error):
        rows = [*csv.reader(texts, delimiter=delimiter.decode("ascii"))]
        if len(rows) == len(texts):  # a quote that isn't closed would take in the next record
            return rows
    return [_cells_of(record, delimiter) for record in records]


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
