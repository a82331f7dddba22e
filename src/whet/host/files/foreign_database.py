"""Opens an SQLite database that somebody else made: nothing in it may act, or take more than it is."""

import os
import sqlite3
import sys
from pathlib import Path
from urllib.parse import quote

_LEAST_VALUE_BYTES, _MOST_VALUE_BYTES = 1 << 16, 2**31 - 1


def open_foreign_database(path: Path) -> sqlite3.Connection:
    """Open a database to read; text that isn't UTF-8 comes with surrogates.

    Raises:
        OSError: if there is no such file.
        sqlite3.Error: if SQLite can't open it.
    """
    # No stored value is larger than the file; a column that is worked out can be.
    most = max(path.stat().st_size, _LEAST_VALUE_BYTES)
    connection = sqlite3.connect(f"file:{quote(os.fsencode(path))}?mode=ro", uri=True)
    try:
        harden(connection)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(most, _MOST_VALUE_BYTES))
    except BaseException:
        connection.close()
        raise
    connection.text_factory = _text
    return connection


def harden(connection: sqlite3.Connection) -> None:
    """Let the schema of a database call no function that acts, and let no statement break its file.

    Python 3.12 and later can set the defensive mode. Source: "Defense Against The Dark Arts" in
    SQLite's documentation.
    """
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
