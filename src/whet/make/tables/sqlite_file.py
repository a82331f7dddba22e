"""A database of SQLite from nothing."""

import sqlite3
from datetime import date

from whet.make.edges import LONE_SURROGATE
from whet.make.tables.columns import Column, FilledTable, Value

_TYPES = {"str": "TEXT", "date": "TEXT", "datetime": "TEXT", "bytes": "BLOB", "bool": "INTEGER"}
_MOST = 2**63
_WRITER = slice(96, 100)
"""Where a database names the version of SQLite that wrote it; readers don't look at it."""

_VERSION = (3_037_000).to_bytes(4, "big")


def sqlite_bytes(table: FilledTable, name: str) -> bytes:
    """Return the file of a database with one table; nothing in it is of this machine's SQLite."""
    with open_sqlite(table, name) as connection:
        content = bytearray(connection.serialize())
    connection.close()
    content[_WRITER] = _VERSION
    return bytes(content)


def open_sqlite(table: FilledTable, name: str) -> sqlite3.Connection:
    """Return an open database in memory with one table."""
    connection = sqlite3.connect(":memory:")
    columns = ", ".join(f"{_quoted(each.name)} {_type(each)}" for each in table.columns)
    places = f"({', '.join('?' * len(table.columns))})"
    connection.execute(f"CREATE TABLE {_quoted(name)} ({columns})")
    rows = table.without(LONE_SURROGATE).rows
    stored = ([_stored(each) for each in row] for row in rows)
    connection.executemany(" ".join(("INSERT INTO", _quoted(name), "VALUES", places)), stored)
    connection.commit()
    return connection


def sql_text(table: FilledTable, name: str) -> str:
    """Return the statements that make the database."""
    connection = open_sqlite(table, name)
    try:
        return "\n".join(connection.iterdump())
    finally:
        connection.close()


def _type(column: Column) -> str:
    name = _TYPES.get(column.type, "REAL" if column.type.startswith("float") else "INTEGER")
    return name if column.is_nullable or name == "REAL" else f"{name} NOT NULL"  # NaN is NULL


def _stored(value: Value) -> object:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, int) and not -_MOST <= value < _MOST:
        return float(value)  # as SQLite itself does with a number of more than 64 bits
    return value


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
