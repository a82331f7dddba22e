"""The columns of a real file, so that a table from nothing has the same ones."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, cast

from whet.core.errors import PayloadMissing, PayloadUnreadable, UnknownFormat
from whet.core.text.record import items_of
from whet.make.tables.columns import TYPES, Column
from whet.make.tables.sqlite_file import read_beginning
from whet.make.tables.table_files import arrow_library

_LOOKED_AT = 1000
"""Rows of a text file that decide on the types of its columns."""

_DECLARED = (
    ("INT", "int64"), ("REAL", "float64"), ("FLOA", "float64"), ("DOUB", "float64"),
    ("BLOB", "bytes"), ("DATETIME", "datetime"), ("TIMESTAMP", "datetime"), ("DATE", "date"),
    ("BOOL", "bool"),
)  # fmt: skip
DATABASES = frozenset({".db", ".sqlite", ".sqlite3"})

_ARROW_TYPES = {
    "string": "str", "large_string": "str", "string_view": "str", "binary": "bytes",
    "large_binary": "bytes", "double": "float64", "float": "float32", "halffloat": "float16",
    "date32[day]": "date", "date64[ms]": "date",
}  # fmt: skip


def columns_like(path: Path) -> list[Column]:
    """Return columns with the names and types of those in a file; of text, its first rows decide.

    Raises:
        PayloadMissing, PayloadUnreadable: if the file can't be read.
        UnknownFormat: if it is no table, or whet doesn't know its ending.
    """
    file, table = _named_table(path)
    read = _READERS.get(path.suffix.lower())
    if file is not None:
        read, path = partial(_sqlite, table=table), file
    if read is None:
        raise UnknownFormat(
            f"whet can't tell the columns of `{path}` by its ending",
            hint=f"give a file that ends in {', '.join(_READERS)}, or name the columns: `--columns`",
        )
    try:
        columns = read(path)
    except FileNotFoundError as error:
        raise PayloadMissing(f"there is no file `{path}`", hint="check the path") from error
    except OSError as error:
        raise PayloadUnreadable(
            f"whet can't read `{path}`: {error.strerror or error}",
            hint=f"`ls -l {path}` shows more",
        ) from error
    except (ValueError, TypeError, RecursionError, csv.Error) as error:
        raise UnknownFormat(
            f"`{path}` isn't the table that its ending promises: {error}",
            hint="check the file, or name the columns: `--columns`",
        ) from error
    if not columns:
        raise UnknownFormat(f"`{path}` has no columns", hint="name them: `--columns id:int64`")
    return columns


def _named_table(path: Path) -> tuple[Path | None, str]:
    """Return a database and the table that ``data.db:orders`` names, if it is one."""
    if path.suffix.lower() in DATABASES:
        return path, ""
    name, _, table = path.name.rpartition(":")
    if table and Path(name).suffix.lower() in DATABASES and not path.exists():
        return path.with_name(name), table
    return None, ""


def _sqlite(path: Path, table: str) -> list[Column]:
    found = read_beginning(path, table, rows=_LOOKED_AT)
    return [
        Column(
            name=name,
            type=_type_of_cells([row[at] for row in found.rows], found.declared[at]),
            is_nullable=any(row[at] is None for row in found.rows),
        )
        for at, name in enumerate(found.names)
    ]


def _type_of_cells(values: Sequence[object], declared: str) -> str:
    """Return the type of a column by its values; where there is none, by what its table says."""
    held = [each for each in values if each is not None]
    if not held:
        return next((name for word, name in _DECLARED if word in declared.upper()), "str")
    return "bytes" if all(isinstance(each, bytes) for each in held) else _type_of_values(held)


def _csv(path: Path) -> list[Column]:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        header, *rows = [*islice(csv.reader(file, delimiter=delimiter), _LOOKED_AT + 1)] or [[]]
    held = [[row[at] if at < len(row) else "" for row in rows] for at in range(len(header))]
    return [
        Column(name=name, type=_type_of_texts(texts), is_nullable="" in texts)
        for name, texts in zip(_apart(header), held, strict=True)
    ]


def _apart(names: Sequence[str]) -> Iterator[str]:
    """Yield names so that none comes twice and none is empty."""
    taken = set[str]()
    for at, name in enumerate(names):
        kept = name or f"column{at}"
        while kept in taken:
            kept += "_"
        taken.add(kept)
        yield kept


_READ_AS: Sequence[tuple[str, Callable[[str], object]]] = (
    ("int64", int),
    ("float64", float),
    ("date", date.fromisoformat),
    ("datetime", datetime.fromisoformat),
)


def _type_of_texts(texts: Iterable[str]) -> str:
    held = {each for each in texts if each}
    if held and held <= {"true", "false", "True", "False"}:
        return "bool"
    for name, read in _READ_AS:
        with suppress(ValueError):
            if [read(each) for each in held]:
                return name
    return "str"


def _jsonl(path: Path) -> list[Column]:
    with path.open(encoding="utf-8-sig") as file:
        return _of_records([json.loads(line) for line in islice(file, _LOOKED_AT) if line.strip()])


def _json(path: Path) -> list[Column]:
    found: object = json.loads(path.read_text("utf-8-sig"))
    return _of_records(items_of(found) or [found])


def _of_records(records: Sequence[object]) -> list[Column]:
    names: dict[str, list[object]] = {}
    for each in records:
        if not isinstance(each, dict):
            raise TypeError("its rows aren't objects")
        for name, value in cast("dict[str, object]", each).items():
            names.setdefault(name, []).append(value)
    return [
        Column(
            name=name,
            type=_type_of_values(values),
            real=_nested(values),
            is_nullable=None in values or len(values) < len(records),
        )
        for name, values in names.items()
    ]


def _nested(values: Sequence[object]) -> str:
    if any(isinstance(each, dict) for each in values):
        return "an object"
    return "a list" if any(isinstance(each, list) for each in values) else ""


def _type_of_values(values: Sequence[object]) -> str:
    held = [each for each in values if each is not None]
    kinds = {type(each) for each in held}
    if not held:
        return "str"
    if kinds <= {bool}:
        return "bool"
    if kinds <= {int}:
        return "int64"
    if kinds <= {int, float}:
        return "float64"
    texts = [each for each in held if isinstance(each, str)]
    found = _type_of_texts(texts) if len(texts) == len(held) else "str"
    return found if found in {"date", "datetime"} else "str"


def _arrow(path: Path) -> list[Column]:
    batches: list[Any] = []
    if path.suffix.lower() == ".parquet":
        with (
            path.open("rb") as source,
            arrow_library("pyarrow.parquet").ParquetFile(source) as file,
        ):
            schema: Any = file.schema_arrow
            batches += islice(file.iter_batches(_LOOKED_AT), 1)
    else:
        with path.open("rb") as source:  # Arrow itself opens paths in UTF-8 alone
            reader = arrow_library("pyarrow.ipc").open_file(source)
            schema = reader.schema
            batches += [reader.get_batch(0)] if reader.num_record_batches else []
    return [
        Column(
            name=str(each.name),
            type=_of_arrow(each.type) or "str",
            real="" if _of_arrow(each.type) else str(each.type),
            is_nullable=any(int(batch.column(at).null_count) for batch in batches),
        )
        for at, each in enumerate(schema)
    ]


def _of_arrow(kind: Any) -> str:
    """Return the type of a column; empty: it has none here, as of a list."""
    name = str(getattr(kind, "value_type", kind)) if "dictionary" in str(kind) else str(kind)
    if name.startswith("timestamp"):
        return "datetime"
    if name.startswith("decimal"):
        return "float64"
    found = _ARROW_TYPES.get(name, name)
    return found if found in TYPES else ""


_READERS: dict[str, Callable[[Path], list[Column]]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".json": _json,
    ".parquet": _arrow,
    ".arrow": _arrow,
    ".feather": _arrow,
}
