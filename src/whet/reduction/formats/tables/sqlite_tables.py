"""SQLite databases, through the library of the standard library, in memory alone.

Each table is a sheet. What else a database has (indexes, views, triggers, numbers in its header)
are sheets without columns, so that each of them can go on its own. A candidate is a new file: no
free pages, no rows in an order that nobody asked for. A statement that a table was made with is
kept while the table has all of its columns, and then made again of those that are left.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TypeAlias

from whet.core.value_class import value_class
from whet.reduction.formats.tables.tables import Cells, Sheet, TableLayout

_MAGIC = b"SQLite format 3\0"
_VERSIONS = slice(18, 20)
_ROLLBACK = b"\1\1"
"""A database that is written ahead to a log can't be read from memory; its header says so here."""

_SMALLEST_PAGE = 512
_NUMBERS = {
    "page_size": _SMALLEST_PAGE,
    "encoding": "UTF-8",
    "user_version": 0,
    "application_id": 0,
}
"""The header's fields, each with its plainest value."""

_NUMBER = "PRAGMA "

_MOST_BYTES = 1 << 28
"""No text, blob or row is longer: a schema can ask for a gigabyte of zeros."""

_MOST_STEPS = 50_000_000
_STEPS_AT_ONCE = 1_000_000
"""A damaged file can describe an infinite table."""

Row: TypeAlias = tuple[object, ...]


@value_class
class Column:
    """A column.

    Attributes:
        name: that.
        type_name: as it was declared; empty: without one.
        rules: what else is declared, such as ``NOT NULL``.
        key: its place in the primary key, from 1 on; 0: it isn't in it.
    """

    name: str
    type_name: str
    rules: str = ""
    key: int = 0

    @property
    def declared(self) -> str:
        """What is in the statement that makes the table."""
        return " ".join(part for part in (_quoted(self.name), self.type_name, self.rules) if part)


@value_class
class DatabaseTable:
    """A table; a `Sheet`.

    Attributes:
        name: that.
        columns: its columns.
        cells: its rows.
        statement: what it was made with; empty: what `columns` say.
    """

    name: str
    columns: tuple[Column, ...]
    cells: tuple[Row, ...]
    statement: str

    @property
    def heads(self) -> Sequence[str]:
        """The columns as they are declared."""
        return [each.declared for each in self.columns]

    @property
    def rows(self) -> int:
        """How many there are."""
        return len(self.cells)

    @property
    def strangeness(self) -> int:
        """A type, a rule, and a statement of its own are each less plain than none."""
        declared = sum(len(each.type_name) + len(each.rules) + each.key for each in self.columns)
        return declared + len(self.statement)

    @property
    def notes(self) -> Sequence[str]:
        """The statement, if it says more than the columns."""
        return [self.statement] if self.statement else []

    def with_rows(self, blocks: Sequence[range]) -> Sheet:
        """Return it with these rows alone."""
        return replace(self, cells=tuple(self.cells[row] for block in blocks for row in block))

    def with_columns(self, columns: Sequence[int]) -> Sheet:
        """Return it with these columns alone."""
        return replace(
            self,
            columns=tuple(self.columns[column] for column in columns),
            cells=tuple(tuple(row[column] for column in columns) for row in self.cells),
            statement=self.statement if len(columns) == len(self.columns) else "",
        )

    def column(self, column: int) -> Cells:
        """Return the cells of a column."""
        return [row[column] for row in self.cells]

    def with_column(self, column: int, cells: Cells) -> Sheet:
        """Return it with other cells in a column."""
        rows = (
            (*row[:column], cell, *row[column + 1 :])
            for row, cell in zip(self.cells, cells, strict=True)
        )
        return replace(self, cells=tuple(rows))

    def stored_plainly(self) -> list[Sheet]:
        """Return it without rules, then without a statement of its own."""
        free = tuple(replace(each, rules="", key=0) for each in self.columns)
        found = (
            replace(self, columns=free, statement=""),
            replace(self, statement=""),
        )
        return [each for each in found if each.strangeness < self.strangeness]

    def plainer(self) -> list[Sheet]:
        """Return it with a column less of a type, or of a rule."""
        return list(self._plainer())

    def _plainer(self) -> Iterator[Sheet]:
        for place, column in enumerate(self.columns):
            for other in (
                Column(column.name, ""),
                replace(column, type_name=""),
                replace(column, rules="", key=0),
            ):
                if other != column:
                    columns = (*self.columns[:place], other, *self.columns[place + 1 :])
                    yield replace(self, columns=columns, statement="")

    def created(self) -> str:
        """Return the statement that makes it."""
        if self.statement:
            return self.statement
        keyed = sorted((each for each in self.columns if each.key), key=lambda each: each.key)
        keys = ", ".join(_quoted(each.name) for each in keyed)
        parts = [*(self.heads), *([f"PRIMARY KEY ({keys})"] if keys else [])]
        return f"CREATE TABLE {_quoted(self.name)} ({', '.join(parts)})"


@value_class
class Statement:
    """What is no table, such as an index or a number in the header; a `Sheet` without columns.

    Attributes:
        text: what makes it.
    """

    text: str
    name: str = ""
    heads: Sequence[str] = ()
    rows: int = 0

    @property
    def strangeness(self) -> int:
        """The longer, the stranger."""
        return len(self.text)

    @property
    def notes(self) -> Sequence[str]:
        """The statement."""
        return [self.text]

    def with_rows(self, _blocks: Sequence[range]) -> Sheet:
        """Return it: it has none."""
        return self

    def with_columns(self, _columns: Sequence[int]) -> Sheet:
        """Return it: it has none."""
        return self

    def column(self, _column: int) -> Cells:
        """Return nothing."""
        return []

    def with_column(self, _column: int, _cells: Cells) -> Sheet:
        """Return it: it has none."""
        return self

    def stored_plainly(self) -> list[Sheet]:
        """Return nothing: it can only go."""
        return []

    def plainer(self) -> list[Sheet]:
        """Return nothing: it can only go."""
        return []


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _opened() -> sqlite3.Connection:
    """Return a database in memory that opens no file and takes no endless time, whatever it holds."""
    steps = 0

    def is_too_long() -> bool:
        nonlocal steps
        steps += _STEPS_AT_ONCE
        return steps > _MOST_STEPS

    database = sqlite3.connect(":memory:", isolation_level=None)
    database.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)  # no statement of a payload opens a file
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    database.set_progress_handler(is_too_long, _STEPS_AT_ONCE)
    database.text_factory = _text
    database.execute("PRAGMA trusted_schema = OFF")
    return database


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _read(payload: bytes) -> list[Sheet]:
    with closing(_opened()) as database:
        database.deserialize(payload[: _VERSIONS.start] + _ROLLBACK + payload[_VERSIONS.stop :])
        return list(_sheets(database))


def _sheets(database: sqlite3.Connection) -> Iterator[Sheet]:
    found = database.execute("SELECT type, name, sql FROM sqlite_master ORDER BY rowid").fetchall()
    for name, plainest in _NUMBERS.items():  # known only once something was read
        [(value,)] = database.execute(f"PRAGMA {name}")
        if value != plainest:
            yield Statement(f"{_NUMBER}{name} = {value!r}")
    shadows = {row[1] for row in database.execute("PRAGMA table_list") if row[2] == "shadow"}
    for what, name, text in found:
        if what == "table" and name not in shadows and not name.startswith("sqlite_"):
            yield _table(database, name, text)
    for what, _name, text in found:
        if what != "table" and text:
            yield Statement(text)


def _table(database: sqlite3.Connection, name: str, statement: str) -> DatabaseTable:
    declared = database.execute(f"PRAGMA table_info({_quoted(name)})").fetchall()
    columns = tuple(
        Column(each[1], each[2], _rules(each[3], each[4]), each[5]) for each in declared
    )
    chosen = ", ".join(_quoted(each.name) for each in columns)
    cells = database.execute(" ".join(("SELECT", chosen, "FROM", _quoted(name)))).fetchall()
    table = DatabaseTable(name, columns, tuple(cells), "")
    return table if table.created() == statement else replace(table, statement=statement)


def _rules(is_needed: int, default: str | None) -> str:
    rules = ["NOT NULL"] if is_needed else []
    return " ".join(rules if default is None else [*rules, f"DEFAULT ({default})"])


def _write(sheets: Sequence[Sheet]) -> bytes:
    try:
        with closing(_opened()) as database:
            _fill(database, sheets)
            return database.serialize()
    except sqlite3.Error as error:
        raise ValueError("no database holds this") from error


def _fill(database: sqlite3.Connection, sheets: Sequence[Sheet]) -> None:
    tables = [each for each in sheets if isinstance(each, DatabaseTable)]
    others = [each for each in sheets if isinstance(each, Statement)]
    database.execute(f"PRAGMA page_size = {_SMALLEST_PAGE}")
    for each in others:
        if each.text.startswith(_NUMBER):
            database.execute(each.text)
    database.execute("BEGIN")
    for table in tables:
        database.execute(table.created())
        _insert(database, table)
    for each in others:
        if not each.text.startswith(_NUMBER):
            database.execute(each.text)
    database.execute("COMMIT")


def _insert(database: sqlite3.Connection, table: DatabaseTable) -> None:
    names = ", ".join(_quoted(each.name) for each in table.columns)
    into = f"INSERT INTO {_quoted(table.name)} ({names}) VALUES"
    for row in table.cells:
        # Text that is none is bound as bytes and called text.
        texts = [isinstance(cell, str) and not _is_text(cell) for cell in row]
        marks = ", ".join("CAST(? AS TEXT)" if is_odd else "?" for is_odd in texts)
        cells = [
            str(cell).encode("utf-8", "surrogateescape") if is_odd else cell
            for cell, is_odd in zip(row, texts, strict=True)
        ]
        database.execute(f"{into} ({marks})", cells)


def _is_text(cell: str) -> bool:
    return not any("\udc80" <= each <= "\udcff" for each in cell)


SQLITE = TableLayout(
    name="sqlite",
    library="sqlite3",
    claims=lambda payload: payload.startswith(_MAGIC),
    read=_read,
    write=_write,
)
