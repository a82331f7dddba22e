"""The notebook's place: made whole or not at all, and nothing else that is there is touched."""

import os
import sqlite3
import stat
import time
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from whet import __version__
from whet.core.errors import NotebookBusy, NotebookDamaged
from whet.host.files.files import lock_file, sync
from whet.notebook.migrations import Migration, another_programs, check_version, migrate, moved_away
from whet.notebook.schema import APPLICATION_ID

_MAGIC = b"SQLite format 3\0"
_OWNER = slice(68, 72)
"""Where a database's header has `PRAGMA application_id`."""

_BESIDE = ("", "-journal", "-wal", "-shm")
_RETRY_SECONDS = 0.005


def make_notebook(
    path: Path, migrations: Sequence[Migration], patience_seconds: float, *, now: str
) -> None:
    """Make a notebook where there is nothing; whoever is killed on the way leaves none.

    Raises:
        NotebookDamaged: if what was written to a notebook last is there, and it isn't.
        NotebookBusy: if another process is making it and doesn't end.
        sqlite3.Error, OSError: if it can't be written.
    """
    if os.path.lexists(path) or not path.parent.is_dir():
        return
    with _alone(path, patience_seconds):
        has_wal = os.path.lexists(f"{path}-wal")
        if os.path.lexists(path):
            return
        if has_wal:
            raise NotebookDamaged(
                f"`{path}` is gone, but `{path}-wal`, with its last changes, remains",
                hint=f"restore it, or move the rest away: {moved_away(path)}",
            )
        part = path.with_name(f".{path.name}.part")
        for each in _BESIDE:
            with suppress(FileNotFoundError):
                Path(f"{part}{each}").unlink()
        # What SQLite makes beside it has the same mode.
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        _make(part, migrations, now)
        part.rename(path)
        sync(path.parent)  # before there is a WAL, which would stand there alone


def check_place(path: Path, newest: int) -> None:
    """Refuse what is no notebook of ours. Nothing in the place is written to.

    Raises:
        NotebookDamaged, NotebookTooNew: if it isn't.
        sqlite3.Error: if SQLite can't read it.
    """
    try:
        status = path.stat()
    except FileNotFoundError:
        if path.is_symlink():
            raise _stranger(path, "is a link to a file that doesn't exist") from None
        return
    if not stat.S_ISREG(status.st_mode):
        raise _stranger(path, "is a folder" if stat.S_ISDIR(status.st_mode) else "is not a file")
    with path.open("rb") as file:
        header = file.read(100)
    if not header:
        raise _stranger(path, "is empty")
    if header[: len(_MAGIC)] != _MAGIC:
        raise damaged(path, "file is not a database")
    if header[_OWNER] != APPLICATION_ID.to_bytes(4, "big"):
        # An older whet that was killed may have written that to the WAL alone. SQLite writes to
        # a database that it opens, be it to bring it to an end that another program began.
        try:
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as look:
                check_version(look.execute, path, newest)
        except sqlite3.OperationalError as error:
            raise another_programs(path) from error


def damaged(path: Path, why: str) -> NotebookDamaged:
    """Return the error that says what is wrong with the file ``path``."""
    return NotebookDamaged(
        f"`{path}` is damaged: {why}",
        hint=f"move it away to start a new notebook: {moved_away(path)};"
        " `sqlite3 FILE .recover` can recover the old one",
    )


def _stranger(path: Path, what: str) -> NotebookDamaged:
    return NotebookDamaged(
        f"`{path}` {what}, not a notebook",
        hint=f"restore the notebook, or move this away to start a new one: {moved_away(path)}",
    )


@contextmanager
def _alone(path: Path, patience_seconds: float) -> Generator[None, None, None]:
    lock = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        deadline = time.monotonic() + patience_seconds
        while not lock_file(lock, waits=False):
            if time.monotonic() >= deadline:
                raise NotebookBusy(
                    f"another process is creating `{path}` and doesn't finish",
                    hint=f"`fuser -v {path.parent}` names it; or set `WHET_DIR` to use another notebook",
                )
            time.sleep(_RETRY_SECONDS)
        yield
    finally:
        os.close(lock)


def _make(part: Path, migrations: Sequence[Migration], now: str) -> None:
    with closing(sqlite3.connect(part, isolation_level=None)) as connection:
        # Nobody else sees it yet: that it is whole on the disk is seen to once, at the end.
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA synchronous = OFF")
        migrate(
            connection,
            part,
            migrations,
            lambda: connection.execute("BEGIN IMMEDIATE"),
            now=now,
            whet_version=__version__,
        )
        # WAL: readers and a writer don't wait for each other. The file remembers it.
        connection.execute("PRAGMA journal_mode = WAL")
    sync(part)
