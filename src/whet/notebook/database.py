"""One SQLite file, used by many threads and many whets at once."""

import os
import sqlite3
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

from whet import __version__
from whet.core.errors import (
    CannotWrite,
    DiskFull,
    HostFailure,
    NotebookBusy,
    WhetError,
)
from whet.core.text.record import JsonObject
from whet.host.files.files import storage_error
from whet.host.files.foreign_database import harden
from whet.host.files.refused import limits_of_files
from whet.notebook.migrations import MIGRATIONS, Migration, check_version, migrate
from whet.notebook.place import check_place, damaged, make_notebook

SqlValue: TypeAlias = str | int | float | None

_PATIENCE_SECONDS = 30.0
"""A write takes under a millisecond; a process that waits this long waits for a stuck one."""

_CLOSING_SECONDS = 1.0
_RETRY_SECONDS = 0.005
_PRIMARY = 0xFF  # the low byte of an extended result code is the primary one
_NEARLY_FULL_BYTES = 256 * 1024  # SQLite grows its files by less than this at a time

_UNKNOWN_FORMAT = "unsupported file format"
"""SQLite's message about a header with an unknown number, which has no code of its own."""

_NOT_WRITABLE = frozenset(
    {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH}
)


class Database:
    """A connection that threads take turns with. A forked child must open its own."""

    def __init__(
        self,
        path: Path,
        migrations: Sequence[Migration] = MIGRATIONS,
        patience_seconds: float = _PATIENCE_SECONDS,
    ) -> None:
        """Open the file, make it if there is none, and bring it up to date.

        Raises:
            NotebookTooNew, NotebookDamaged, NotebookBusy, CannotWrite, DiskFull: as they say.
        """
        self.path = path
        self._patience_seconds = patience_seconds
        self._lock = threading.RLock()
        with self._translated():
            self._find(migrations)
            self._connection = sqlite3.connect(
                path, timeout=patience_seconds, isolation_level=None, check_same_thread=False
            )
        try:
            with self._translated():
                harden(self._connection)
                self._set_up(migrations)
        except BaseException:
            self._connection.close()
            raise

    def _find(self, migrations: Sequence[Migration]) -> None:
        try:
            make_notebook(self.path, migrations, self._patience_seconds, now=utc_now())
            check_place(self.path, len(migrations))
        except OSError as error:
            raise storage_error(error, self.path) from error

    def _set_up(self, migrations: Sequence[Migration]) -> None:
        if check_version(self._execute, self.path, len(migrations)) != len(migrations):
            # An older whet may have been killed before it came to this.
            self._execute("PRAGMA journal_mode = WAL")
            migrate(
                self._connection,
                self.path,
                migrations,
                lambda: self._execute("BEGIN IMMEDIATE"),
                now=utc_now(),
                whet_version=__version__,
            )
        # With WAL this is safe against SIGKILL at any moment. A power cut may take the trials since
        # the WAL was last folded, which each whet does at its end, but never damages the file.
        # FULL would cost an fsync per trial (15 times more).
        self._connection.execute("PRAGMA synchronous = NORMAL")
        self._connection.execute("PRAGMA foreign_keys = ON")

    def query(self, sql: str, values: Sequence[SqlValue] = ()) -> list[JsonObject]:
        """Return all rows of a SELECT, each as a mapping from column to value."""
        with self._lock, self._translated():
            cursor = self._execute(sql, values)
            names = [column[0] for column in cursor.description]
            return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    @contextmanager
    def transaction(self) -> Generator["Transaction", None, None]:
        """Hold the file for writing: all of the block's inserts are kept, or none."""
        with self._lock, self._translated():
            # IMMEDIATE: a transaction that reads first and writes later can't wait its turn.
            self._execute("BEGIN IMMEDIATE")
            try:
                yield Transaction(self._connection)
                self._execute("COMMIT")
            except BaseException:
                self._connection.rollback()  # nothing to do where SQLite did so itself
                raise

    def replace_with(self, path: Path) -> None:
        """Make the file hold what another notebook holds, whole or not at all."""
        source = sqlite3.connect(path)
        try:
            with self._lock, self._translated():
                source.backup(self._connection)
        finally:
            source.close()

    def close(self) -> None:
        """Close the file; the last one to do so folds the WAL into it.

        Where a thread doesn't end its work, the file is left as a SIGKILL leaves it.
        """
        if self._lock.acquire(timeout=_CLOSING_SECONDS):
            try:
                self._connection.close()
            finally:
                self._lock.release()

    def _execute(self, sql: str, values: Sequence[SqlValue] = ()) -> sqlite3.Cursor:
        deadline = time.monotonic() + self._patience_seconds
        while True:
            try:
                return self._connection.execute(sql, values)
            except sqlite3.OperationalError as error:
                # SQLite waits on its own, but not where it fears a deadlock: switching to WAL
                # and recovering a WAL answer "busy" at once.
                is_busy = _code(error) & _PRIMARY == sqlite3.SQLITE_BUSY
                if not is_busy or time.monotonic() >= deadline:
                    raise
            time.sleep(_RETRY_SECONDS)

    @contextmanager
    def _translated(self) -> Generator[None, None, None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            # Others, such as a number that no SQLite integer can hold, are the caller's.
            translated = _whet_error(error, self.path)
            if translated is None:
                raise
            raise translated from error


class Transaction:
    """What may be done while the file is held: adding rows."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def insert(self, table: str, **values: SqlValue) -> int:
        """Add a row and return its number."""
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        row = [_storable(value) for value in values.values()]
        cursor = self._connection.execute(
            f"INSERT INTO {table} ({names}) VALUES ({marks})",  # noqa: S608 - names from the code
            row,
        )
        number = cursor.lastrowid
        assert number is not None
        return number

    def holds(self, table: str, column: str, value: SqlValue) -> bool:
        """Whether a row has this value in this column."""
        sql = f"SELECT 1 FROM {table} WHERE {column} = ?"  # noqa: S608 - names from the code
        return self._connection.execute(sql, (value,)).fetchone() is not None


def utc_now() -> str:
    """Return the time, such as ``2026-08-21T09:30:00.123456Z``."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    day_and_time = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{day_and_time}.{nanoseconds // 1000:06d}Z"


def _storable(value: SqlValue) -> SqlValue:
    # Words from a command line may hold bytes that are no UTF-8, as lone surrogates; SQLite
    # takes no such text. JSON has its own way to write them.
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return value


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0)


def _whet_error(error: sqlite3.DatabaseError, path: Path) -> WhetError | None:
    code = _code(error) & _PRIMARY
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB} or str(error) == _UNKNOWN_FORMAT:
        return damaged(path, str(error))
    if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return NotebookBusy(
            f"another process has locked `{path}` and doesn't release it",
            hint=f"`fuser -v {path}` names it; or set `WHET_DIR` to use another notebook",
        )
    # SQLite doesn't tell why the system refused: a full disk shows as several codes.
    if code == sqlite3.SQLITE_FULL or (
        code in {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN} and _is_nearly_full(path.parent)
    ):
        return DiskFull(
            f"no space left to write `{path}`",
            hint="free some space (`df -h`, `df -i`), or set `WHET_DIR` to a folder with space",
        )
    if code in _NOT_WRITABLE:
        return CannotWrite(
            f"whet can't write `{path}`: {error}",
            hint="set `WHET_DIR` to a folder that you can write to",
        )
    if code == sqlite3.SQLITE_IOERR:
        return HostFailure(
            f"the system can't read or write `{path}`: {error.sqlite_errorname}{limits_of_files()}",
            hint="check `ulimit -a` and the system's log (`dmesg`), or set `WHET_DIR` to another disk",
        )
    return None


def _is_nearly_full(folder: Path) -> bool:
    try:
        disk = os.statvfs(folder)
    except OSError:
        return False
    return disk.f_bavail * disk.f_frsize < _NEARLY_FULL_BYTES or disk.f_favail == 0 < disk.f_files
