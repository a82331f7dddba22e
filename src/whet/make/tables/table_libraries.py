"""A table as the program's own library has it: pandas, polars, pyarrow, or a dict of lists."""

from importlib import import_module
from typing import Any

from whet.make.edges import LONE_SURROGATE
from whet.make.loaded import library_for
from whet.make.tables.columns import Column, FilledTable
from whet.make.tables.table_files import arrow_table

TABLE_LIBRARIES = ("pandas", "polars", "pyarrow", "dict")

_POLARS = {
    "bool": "Boolean",
    "str": "String",
    "date": "Date",
    "datetime": "Datetime",
    "bytes": "Binary",
}


def table_of_library(table: FilledTable, library: str | None) -> Any:
    """Return a table as a library has it.

    Args:
        table: what was made.
        library: its name; None: the one that the program has.

    Raises:
        BadUsage: if there is no such library.
        LibraryMissing: if it isn't installed.
    """
    chosen = library_for(library, TABLE_LIBRARIES)
    if chosen == "pyarrow":
        return arrow_table(table)
    if chosen == "polars":
        return _polars(table.without(LONE_SURROGATE))
    named = zip(table.columns, table.values, strict=True)
    if chosen == "dict":
        return {column.name: list(values) for column, values in named}
    pandas = import_module("pandas")
    held = zip(table.columns, table.without(LONE_SURROGATE).values, strict=True)
    return pandas.DataFrame(
        {
            column.name: pandas.Series(list(values), dtype=_pandas_type(column))
            for column, values in held
        }
    )


def _pandas_type(column: Column) -> str | None:
    if column.type == "datetime":
        return "datetime64[us]"
    dtype = column.dtype
    if dtype is None:
        return "object" if column.type in {"date", "bytes"} else "str"
    if not column.is_nullable or dtype.sort == "float":
        return dtype.name
    return {"bool": "boolean", "int": "Int", "uint": "UInt"}[dtype.sort] + dtype.name.lstrip(
        "abcdefghijklmnopqrstuvwxyz"
    )


def _polars(table: FilledTable) -> Any:
    polars = import_module("polars")
    types = {
        column.name: getattr(
            polars,
            _POLARS.get(
                column.type,
                column.type.replace("ui", "UI").replace("int", "Int").replace("fl", "Fl"),
            ),
        )
        for column in table.columns
    }
    values = {
        column.name: list(each) for column, each in zip(table.columns, table.values, strict=True)
    }
    return polars.DataFrame(values, schema=types)
