"""Files of tables: CSV and JSON with the standard library, Parquet and Arrow with pyarrow."""

import csv
import io
import json
from collections.abc import Callable
from datetime import date
from importlib import import_module
from typing import Any

from whet.core.errors import LibraryMissing
from whet.make.edges import LONE_SURROGATE
from whet.make.tables.columns import FilledTable, Value

_ARROW_TYPES = {
    "bool": "bool_", "str": "string", "date": "date32", "bytes": "binary",
    "float32": "float32", "float64": "float64", "float16": "float16",
}  # fmt: skip


def csv_text(table: FilledTable, delimiter: str = ",") -> str:
    """Return a table as CSV; what is missing is empty."""
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow([each.name for each in table.columns])
    writer.writerows([_as_text(each) for each in row] for row in table.rows)
    return stream.getvalue()


def _as_text(value: Value) -> object:
    if isinstance(value, bytes):
        return value.hex()
    return value.isoformat() if isinstance(value, date) else value


def _as_json(value: Value) -> object:
    return value if isinstance(value, bool | int | float | None) else _as_text(value)


def _records(table: FilledTable) -> list[dict[str, object]]:
    names = [each.name for each in table.columns]
    return [dict(zip(names, map(_as_json, row), strict=True)) for row in table.rows]


def _csv(table: FilledTable) -> bytes:
    return csv_text(table).encode("utf-8", "surrogatepass")


def _tsv(table: FilledTable) -> bytes:
    return csv_text(table, "\t").encode("utf-8", "surrogatepass")


def _jsonl(table: FilledTable) -> bytes:
    return "".join(f"{json.dumps(each)}\n" for each in _records(table)).encode()


def _json(table: FilledTable) -> bytes:
    return f"{json.dumps(_records(table), indent=1)}\n".encode()


def arrow_table(table: FilledTable) -> Any:
    """Return a table of pyarrow.

    Raises:
        LibraryMissing: if pyarrow isn't installed.
    """
    pyarrow = arrow_library("pyarrow")
    held = table.without(LONE_SURROGATE)
    arrays = [
        pyarrow.array(values, _arrow_type(pyarrow, column.type))
        for column, values in zip(held.columns, held.values, strict=True)
    ]
    return pyarrow.table(arrays, names=[each.name for each in held.columns])


def arrow_library(name: str) -> Any:
    """Return a module of pyarrow.

    Raises:
        LibraryMissing: if it isn't installed.
    """
    try:
        return import_module(name)
    except ImportError as error:
        raise LibraryMissing(
            "whet reads and writes Parquet and Arrow with pyarrow, which isn't installed here",
            hint="`pip install 'whet[formats]'`, or choose `.csv` or `.jsonl`",
        ) from error


def _arrow_type(pyarrow: Any, name: str) -> Any:
    if name == "datetime":
        return pyarrow.timestamp("us")
    return getattr(pyarrow, _ARROW_TYPES.get(name, name))()


def _parquet(table: FilledTable) -> bytes:
    stream = io.BytesIO()
    arrow_library("pyarrow.parquet").write_table(arrow_table(table), stream)
    return stream.getvalue()


def _arrow(table: FilledTable) -> bytes:
    stream, made = io.BytesIO(), arrow_table(table)
    with arrow_library("pyarrow.ipc").new_file(stream, made.schema) as writer:
        writer.write_table(made)
    return stream.getvalue()


TABLE_FILES: dict[str, Callable[[FilledTable], bytes]] = {
    ".csv": _csv,
    ".tsv": _tsv,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".json": _json,
    ".parquet": _parquet,
    ".arrow": _arrow,
    ".feather": _arrow,
}
"""The files that there are, by their endings."""
