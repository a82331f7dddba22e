"""A database of SQLite from nothing."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import date
from pathlib import Path

from whet.core.errors import UnknownFormat
from whet.core.text.quantity import listed, shown_count
from whet.core.value_class import value_class
from whet.host.files.foreign_database import open_foreign_database
from whet.make.edges import LONE_SURROGATE
from whet.make.tables.columns import Column, FilledTable, Value

_TYPES = {"str": "TEXT", "date": "TEXT", "datetime": "TEXT", "bytes": "BLOB", "bool": "INTEGER"}
_SELECT = "SELECT * FROM"
_MOST = 2**63
_MOST_BYTES = 64 << 20
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


@value_class
class Beginning:
    """The first rows of a table of a database.

    Attributes:
        names: those of its columns.
        declared: what the table says of their types.
        rows: the rows.
    """

    names: Sequence[str]
    declared: Sequence[str]
    rows: Sequence[tuple[object, ...]]


def read_beginning(path: Path, table: str, *, rows: int) -> Beginning:
    """Return the first rows of a table.

    Args:
        path: the database.
        table: the table; empty: the only one.
        rows: how many rows at most.

    Raises:
        OSError: if there is no such file.
        ValueError: if it is no database.
        UnknownFormat: if it has no such table, or more than one and none is named.
    """
    if not path.is_file():
        raise FileNotFoundError(path)
    try:
        with closing(open_foreign_database(path)) as database:
            name = _chosen(database, path, table)
            select = f"{_SELECT} {_quoted(name)} LIMIT ?"
            held: list[tuple[object, ...]] = []
            size = 0
            for row in database.execute(select, (rows,)):
                held.append(row)
                size += sum(len(each) for each in row if isinstance(each, bytes | str))
                if size > _MOST_BYTES:  # these rows say enough
                    break
            columns = database.execute(
                "SELECT name, type FROM pragma_table_xinfo(?) WHERE hidden != 1", (name,)
            )
            names, declared = zip(*columns.fetchall(), strict=True)
    except sqlite3.Error as error:
        raise ValueError(str(error)) from error
    return Beginning(names, declared, held)


def _chosen(database: sqlite3.Connection, path: Path, table: str) -> str:
    found = database.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        " AND name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    names = [row[0] for row in found]
    chosen = table or (names[0] if len(names) == 1 else "")
    if chosen in names:
        return chosen
    has = f"has no table `{table}`" if table else f"has {shown_count(len(names), 'table')}"
    raise UnknownFormat(
        f"`{path}` {has}",
        hint=f"name one: `--like {path}:{names[0]}`; it has {listed(names)}"
        if names
        else "name the columns: `--columns`",
    )
