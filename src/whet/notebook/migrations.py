"""Bringing a notebook of an older whet up to date, each step whole or not at all."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from whet.core.errors import NotebookDamaged, NotebookTooNew
from whet.core.value_class import value_class
from whet.notebook.schema import APPLICATION_ID, FIRST_SCHEMA, MADE, RESOURCE_USE


@value_class
class Migration:
    """One change of the schema. Its place in the list is the version it leads to.

    Attributes:
        description: what it changes, in a few words.
        sql: the statements. Once released it is never edited: notebooks have run it.
    """

    description: str
    sql: str


MIGRATIONS: Sequence[Migration] = (
    Migration("the first notebook", FIRST_SCHEMA),
    Migration("what trials used while they ran", RESOURCE_USE),
    Migration("the payloads that `whet make` has made", MADE),
)


# One statement, so that it sees one moment: another whet may be making the notebook just now.
_STATE = """
SELECT (SELECT user_version FROM pragma_user_version),
       (SELECT application_id FROM pragma_application_id),
       EXISTS (SELECT 1 FROM sqlite_master)
"""


def check_version(execute: Callable[[str], sqlite3.Cursor], path: Path, newest: int) -> int:
    """Return the version of the notebook, 0 for a file with nothing in it.

    Args:
        execute: runs a statement.
        path: for messages.
        newest: the newest version that is known here.

    Raises:
        NotebookTooNew: if a newer whet wrote it.
        NotebookDamaged: if another program wrote it.
        sqlite3.DatabaseError: if it is no database.
    """
    version, owner, has_tables = execute(_STATE).fetchone()
    assert isinstance(version, int)
    if owner != APPLICATION_ID and (version or owner or has_tables):
        raise another_programs(path)
    if version > newest:
        raise NotebookTooNew(
            f"`{path}` has version {version} of the notebook; this whet knows {newest}",
            hint="upgrade whet, or set `WHET_DIR` to start another notebook",
        )
    return version


def another_programs(path: Path) -> NotebookDamaged:
    """Return the error for a database that another program wrote."""
    return NotebookDamaged(
        f"`{path}` is a database of another program, not a notebook",
        hint=f"move it away ({moved_away(path)}), or set `WHET_DIR`",
    )


def moved_away(path: Path) -> str:
    """Return the command that moves a database away with what belongs to it."""
    aside = path.with_name("moved-away")
    return f"`mkdir {aside}; mv {path}* {aside}`"


def migrate(
    connection: sqlite3.Connection,
    path: Path,
    migrations: Sequence[Migration],
    begin: Callable[[], object],
    *,
    now: str,
    whet_version: str,
) -> None:
    """Apply the migrations that the notebook lacks; another whet may be doing the same.

    Args:
        connection: in autocommit mode.
        path: for messages.
        migrations: all there are.
        begin: starts a transaction that may write.
        now: written down with each.
        whet_version: written down with each.
    """
    is_done = False
    while not is_done:
        begin()
        try:
            # Asked again inside the transaction: another whet may have been faster.
            version = check_version(connection.execute, path, len(migrations))
            is_done = version == len(migrations)
            if not is_done:
                _apply(connection, migrations[version], version + 1, now, whet_version)
            connection.execute("COMMIT")
        except BaseException:
            connection.rollback()
            raise


def statements(sql: str) -> Iterator[str]:
    """Yield the statements of ``sql`` one by one.

    `Connection.executescript` would commit the transaction that is to hold them all.
    """
    rest = ""
    for line in sql.splitlines(keepends=True):
        rest += line
        if sqlite3.complete_statement(rest):
            yield rest
            rest = ""
    assert not rest.strip(), f"unfinished statement: {rest}"


def _apply(
    connection: sqlite3.Connection, migration: Migration, version: int, now: str, whet_version: str
) -> None:
    for statement in statements(migration.sql):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO migration (version, description, applied_at, whet_version)"
        " VALUES (?, ?, ?, ?)",
        (version, migration.description, now, whet_version),
    )
    # The two numbers are in the file's header and change with the transaction, or not at all.
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {version}")
