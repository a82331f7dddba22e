"""SQLite databases, table by table; what one refers to in another comes along."""

import errno
import os
import re
import sqlite3
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path

from whet.core.errors import CannotSample
from whet.core.value_class import value_class
from whet.host.files.foreign_database import open_foreign_database
from whet.sampling.columns import check_columns
from whet.sampling.table import BATCH_ROWS, Batch, Link, Rows, Table

MAGIC = b"SQLite format 3\0"
_ROW_NUMBERS = ("rowid", "oid", "_rowid_")
_HIDDEN = "shadow"
_PAGES_BYTES = 16 << 20
_ROWS_AT_ONCE = 500
_MODULE = re.compile(r"\bUSING\s+[\"'`\[]?(\w+)", re.IGNORECASE)
_TEXT_SEARCH = re.compile(r"fts\d$")
_CONTENT = re.compile(
    r"""[(,]\s*content\s*=\s*(?:'(?P<a>[^']*)'|"(?P<b>[^"]*)"|\[(?P<c>[^]]*)]|(?P<d>\w*))""",
    re.IGNORECASE,
)
_WITH_ROWS = re.compile(r"(fts\d|rtree(_i32)?|geopoly)$")


@value_class
class DatabaseTable:
    """The rows of a table; a `Table`.

    Attributes:
        path: the database.
        name: the table's.
        columns: the names of its columns.
        stored: those of them that aren't computed.
        row_number: what SQLite calls a row's number here; empty: the table has none.
    """

    path: Path
    name: str
    columns: Sequence[str]
    stored: Sequence[str]
    row_number: str

    @property
    def unit(self) -> str:
        """One of them."""
        return "row"

    @property
    def count(self) -> int | None:
        """Counting takes a look at all."""
        return None

    @property
    def is_open(self) -> bool:
        """Whether later rows may have other columns."""
        return False

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that it doesn't have."""
        check_columns(columns, self.columns, f"table `{self.name}`")

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        """Yield all rows."""
        names = self.columns if columns is None else columns
        with _read(self.path) as database:
            found = database.execute(self._query(names))
            number = 0
            is_narrow = len(names) < _ROWS_AT_ONCE and len(self.stored) == len(self.columns)
            while rows := found.fetchmany(BATCH_ROWS if is_narrow else 1):
                places = (
                    [row[0] for row in rows]
                    if self.row_number
                    else range(number, number + len(rows))
                )
                number += len(rows)
                yield Rows(
                    places,
                    {name: [row[1 + at] for row in rows] for at, name in enumerate(names)},
                )

    def rows(self, places: Sequence[int]) -> Iterator[tuple[object, ...]]:
        """Yield rows with their stored columns, the row's number first."""
        with _read(self.path) as database:
            if not self.row_number:
                wanted = set(places)
                found = database.execute(self._query(self.stored))
                yield from (row for number, row in enumerate(found) if number in wanted)
                return
            query = f"{self._query(self.stored, ordered=False)} WHERE {self.row_number} = ?"
            for place in places:
                yield from database.execute(query, (place,))

    def _query(self, names: Sequence[str], *, ordered: bool = True) -> str:
        words = ", ".join([self.row_number or "NULL", *map(_quoted, names)])
        order = f" ORDER BY {self.row_number}" if self.row_number and ordered else ""
        return f"SELECT {words} FROM {_quoted(self.name)}{order}"


@value_class
class _VirtualTable:
    """A table that an extension of SQLite keeps.

    Attributes:
        module: the extension, such as ``fts5``.
        content: for a text search: the table with its rows; empty: none has them; None: it has them itself.
    """

    module: str
    content: str | None

    @staticmethod
    def parse(statement: str) -> "_VirtualTable":
        """Return what the statement that makes a virtual table says."""
        module = _MODULE.search(statement)
        name = "" if module is None else module.group(1).lower()
        found = _CONTENT.search(statement) if _TEXT_SEARCH.match(name) else None
        content = None if found is None else next(filter(None, found.groups()), "")
        return _VirtualTable(name, content)

    @property
    def has_rows(self) -> bool:
        """Whether its rows can be read, and written to another one."""
        return bool(_WITH_ROWS.match(self.module)) and self.content is None


class Database:
    """A SQLite database; a `Source`."""

    kind = "SQLite"

    def __init__(self, path: Path) -> None:
        """Read its schema.

        Raises:
            CannotSample: if it is damaged or locked.
        """
        self._path = path
        self._left: list[str] = []
        with _read(path) as database:
            self._schema = database.execute(
                "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid"
            ).fetchall()
            kinds = {row[1]: row[2] for row in database.execute("PRAGMA main.table_list")}
            self._virtual = {
                name: _VirtualTable.parse(statement)
                for type_, name, _, statement in self._schema
                if type_ == "table" and kinds[name] == "virtual"
            }
            self._unknown = {name for name in self._virtual if not _can_read(database, name)}
            self._names = [
                name
                for type_, name, _, _ in self._schema
                if type_ == "table" and (kinds[name] == "table" or self._has_rows(name))
            ]
            self._shadows = {name for name, kind in kinds.items() if kind == _HIDDEN}

    def _has_rows(self, name: str) -> bool:
        return name in self._virtual and name not in self._unknown and self._virtual[name].has_rows

    def left_out(self) -> Sequence[str]:
        """Return what the last sample doesn't have, in sentences."""
        return self._left

    @property
    def tables(self) -> Sequence[Table]:
        """Its tables."""
        return self._tables

    @cached_property
    def _tables(self) -> Sequence[DatabaseTable]:
        with _read(self._path) as database:
            return tuple(
                _table(database, self._path, name)
                for name in self._names
                if not name.startswith("sqlite_")
            )

    def links(self) -> Sequence[Link]:
        """Return the foreign keys that its tables declare."""
        found: list[Link] = []
        with _read(self._path) as database:
            for table in self._tables:
                keys: dict[int, list[tuple[str, str, str | None]]] = {}
                for row in database.execute(f"PRAGMA foreign_key_list({_quoted(table.name)})"):
                    keys.setdefault(row[0], []).append((row[2], row[3], row[4]))
                found += filter(None, (self._link(table, key) for key in keys.values()))
        return found

    def _link(
        self, table: DatabaseTable, key: Sequence[tuple[str, str, str | None]]
    ) -> Link | None:
        named = {each.name.lower(): each for each in self._tables}
        other = named.get(key[0][0].lower())
        if other is None:
            return None
        with _read(self._path) as database:
            info = database.execute(f"PRAGMA table_info({_quoted(other.name)})").fetchall()
        primary = [row[1] for row in sorted(info, key=lambda row: row[5]) if row[5]]
        columns = [
            to or (primary[at] if at < len(primary) else "") for at, (_, _, to) in enumerate(key)
        ]
        mine, others = _spelled(table, [each for _, each, _ in key]), _spelled(other, columns)
        if mine is None or others is None:
            return None
        return Link(table.name, mine, other.name, others)

    def write(self, chosen: Mapping[str, Sequence[int]], target: Path) -> None:
        """Make a database with the same schema and header, and the chosen rows with their numbers."""
        with _written(), closing(sqlite3.connect(target, isolation_level=None)) as out:
            out.execute("PRAGMA trusted_schema = OFF")
            with _read(self._path) as database:
                for field in ("page_size", "encoding", "application_id", "user_version"):
                    (value,) = database.execute(f"PRAGMA {field}").fetchone()
                    out.execute(f"PRAGMA {field} = '{value}'")
            out.execute("PRAGMA journal_mode = OFF")  # the file is nobody's before it is whole
            out.execute("PRAGMA synchronous = OFF")
            out.execute("PRAGMA ignore_check_constraints = ON")
            out.execute("BEGIN")
            self._left = []
            self._make(out, "table")
            for table in self._tables:
                self._fill(out, table, chosen[table.name])
            self._keep_counters(out)
            for kind in ("index", "view", "trigger"):
                self._make(out, kind)
            self._fill_searches(out)
            out.execute("COMMIT")

    def _make(self, out: sqlite3.Connection, kind: str) -> None:
        for type_, name, _, statement in self._schema:
            if type_ != kind or name.startswith("sqlite_") or name in self._shadows:
                continue
            if name in self._unknown:
                module = self._virtual[name].module
                self._left.append(f"table `{name}` isn't in the sample: it needs `{module}`")
                continue
            try:
                out.execute(statement)
            except sqlite3.OperationalError as error:
                if kind == "table" or not _is_of_schema(error):
                    raise
                self._left.append(f"{kind} `{name}` isn't in the sample: {error}")

    def _fill_searches(self, out: sqlite3.Connection) -> None:
        """Index the rows of the sample for the text searches that have no rows of their own."""
        for name, virtual in self._virtual.items():
            if virtual.content is None or name in self._unknown:
                continue
            if not virtual.content:
                self._left.append(f"table `{name}` is empty: the database doesn't have its text")
                continue
            quoted = _quoted(name)
            try:
                out.execute(f"INSERT INTO {quoted} ({quoted}) VALUES ('rebuild')")
            except sqlite3.OperationalError as error:
                if not _is_of_schema(error):
                    raise
                self._left.append(f"table `{name}` is empty: {error}")

    def _fill(self, out: sqlite3.Connection, table: DatabaseTable, places: Sequence[int]) -> None:
        names = [*([table.row_number] if table.row_number else []), *map(_quoted, table.stored)]
        first = 0 if table.row_number else 1
        statement = (
            f"INSERT INTO {_quoted(table.name)} ({', '.join(names)})"
            f" VALUES ({', '.join('?' * len(names))})"
        )
        rows = table.rows(places)
        while batch := [row[first:] for row in islice(rows, BATCH_ROWS)]:
            out.executemany(statement, [row for row in batch if not any(map(_is_odd, row))])
            for row in batch:
                if any(map(_is_odd, row)):  # Python hands over no text that isn't UTF-8
                    marks = ", ".join("CAST(? AS TEXT)" if _is_odd(each) else "?" for each in row)
                    values = [
                        str(each).encode("utf-8", "surrogateescape") if _is_odd(each) else each
                        for each in row
                    ]
                    out.execute(f"{statement.partition(' VALUES ')[0]} VALUES ({marks})", values)

    def _keep_counters(self, out: sqlite3.Connection) -> None:
        """Let `AUTOINCREMENT` continue where it is."""
        if not any(name == "sqlite_sequence" for name in self._names):
            return
        with _read(self._path) as database:
            rows = database.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
        out.execute("DELETE FROM sqlite_sequence")
        out.executemany("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", rows)


def _is_of_schema(error: sqlite3.Error) -> bool:
    """Whether something that a schema names isn't there: an extension, a function, an order."""
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_ERROR


def _can_read(database: sqlite3.Connection, name: str) -> bool:
    """Whether this SQLite has the extension that keeps a table."""
    try:
        database.execute(f"SELECT * FROM {_quoted(name)} LIMIT 0")
    except sqlite3.OperationalError as error:
        if not _is_of_schema(error):
            raise
        return False
    return True


def _table(database: sqlite3.Connection, path: Path, name: str) -> DatabaseTable:
    info = database.execute(f"PRAGMA table_xinfo({_quoted(name)})").fetchall()
    columns = [row[1] for row in info if row[6] != 1]
    stored = [row[1] for row in info if row[6] == 0]
    taken = {each.lower() for each in columns}
    row_number = next((word for word in _ROW_NUMBERS if word not in taken), "")
    if row_number:
        try:
            database.execute(f"SELECT {row_number} FROM {_quoted(name)} LIMIT 0")
        except sqlite3.OperationalError:  # WITHOUT ROWID
            row_number = ""
    return DatabaseTable(path, name, columns, stored, row_number)


def _spelled(table: DatabaseTable, names: Sequence[str]) -> tuple[str, ...] | None:
    """Return the names of columns as the table spells them; None: it doesn't have them."""
    there = {each.lower(): each for each in table.columns}
    found = [there.get(name.lower()) for name in names]
    return None if None in found else tuple(name for name in found if name is not None)


def _is_odd(value: object) -> bool:
    """Whether it is a text that isn't UTF-8."""
    return (
        isinstance(value, str)
        and not value.isascii()
        and any("\ud800" <= each <= "\udfff" for each in value)
    )


@contextmanager
def _read(path: Path) -> Generator[sqlite3.Connection]:
    """Open a database to read.

    Raises:
        CannotSample: if it is damaged, locked or of another kind.
    """
    try:
        with closing(open_foreign_database(path)) as database:
            database.execute(f"PRAGMA cache_size = -{_PAGES_BYTES >> 10}")
            yield database
    except (sqlite3.Error, UnicodeError) as error:  # names or complaints may be no UTF-8
        raise CannotSample(
            f"SQLite can't read `{path.name}`: {error}",
            hint=f"`sqlite3 {path.name} .recover` may save what is left of a damaged one",
        ) from error


@contextmanager
def _written() -> Generator[None]:
    """Say as the system does that there is no space left.

    Raises:
        OSError: if a database couldn't be written.
    """
    try:
        yield
    except UnicodeEncodeError as error:
        raise CannotSample(
            "the schema of the database isn't UTF-8", hint="dump it and load it again as UTF-8"
        ) from error
    except sqlite3.OperationalError as error:
        if error.sqlite_errorname.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        raise


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
