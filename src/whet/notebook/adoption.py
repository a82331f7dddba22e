"""A notebook from elsewhere: looked at without believing it, and taken over as data.

It may come with a clone or an archive. Only a copy of it is opened, no link is followed, and it
must have exactly the tables, indices and triggers of ours: anything else in it could act.
"""

import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path

from whet.core.errors import FolderNotFound
from whet.core.output import digest_of
from whet.host.files.foreign_database import harden
from whet.notebook.blobs import BlobStore
from whet.notebook.database import Database
from whet.notebook.entry import Entry
from whet.notebook.migrations import MIGRATIONS, check_version, statements
from whet.notebook.notebook import FILE_NAME, Notebook
from whet.notebook.place import damaged
from whet.notebook.reading import RecordedTrials
from whet.notebook.sealed_secrets import FOLDER as SEALED

_MOST_BYTES = 16 << 30
_MOST_IN_A_BLOB = 512 << 20
_MOST_IN_A_VALUE = 256 << 20
_PIECE = 1 << 20
_SHARED = ("-wal",)
"""The file's write-ahead log: the last writes, if the process that had it open was killed."""


class ForeignNotebook:
    """A copy of a notebook from elsewhere.

    Attributes:
        folder: where it comes from.
        entries: its trials, the newest first; each was read whole.
    """

    def __init__(self, folder: Path, scratch: Path) -> None:
        """Copy it into a folder and check it.

        Args:
            folder: what holds `notebook.db` and `blobs`.
            scratch: an empty folder that nobody else may enter.

        Raises:
            FolderNotFound: if there is no notebook, or it is behind a link.
            NotebookDamaged: if it isn't one, or holds what a notebook doesn't.
            NotebookTooNew: if a newer whet wrote it.
        """
        self.folder = folder
        self._path = scratch / FILE_NAME
        with _opened(folder) as top:
            if not _copy(top, FILE_NAME, self._path):
                raise FolderNotFound(
                    f"`{folder}` holds no notebook: a folder with a file `{FILE_NAME}`,"
                    " and neither behind a link",
                    hint="`find . -name notebook.db` can find it",
                )
            for each in _SHARED:
                _copy(top, FILE_NAME + each, scratch / (FILE_NAME + each))
        _check(self._path, shown=folder / FILE_NAME)
        self._database = Database(self._path)
        blobs = BlobStore(scratch / "blobs")
        try:
            self.entries: tuple[Entry, ...] = tuple(RecordedTrials(self._database, blobs).entries())
        except BaseException:
            self._database.close()
            raise

    def take_over(self, notebook: Notebook) -> int:
        """Make a notebook without trials this one, with the payloads and streams that are whole.

        Of the secrets beside it those come along that this user has sealed: a stranger's would
        start something else than was shown.

        Returns:
            How many blobs came along.
        """
        count = 0
        for data in self._blobs():  # first: whoever is killed on the way can do it all again
            notebook.blobs.put_bytes(data)
            count += 1
        with _opened(self.folder) as top, _below(top, SEALED) as sealed:
            for name in _names(sealed):
                notebook.seals.take(name, _read(sealed, name) or b"")
        notebook.replace_with(self._path)
        return count

    def close(self) -> None:
        """Close the copy."""
        self._database.close()

    def _blobs(self) -> Iterator[bytes]:
        """Yield what files hold whose names are the digests of it; all others are left behind."""
        with _opened(self.folder) as top, _below(top, "blobs") as blobs:
            for start in _names(blobs):
                with _below(blobs, start) as inner:
                    for rest in _names(inner):
                        data = _read(inner, rest)
                        if data is not None and digest_of(data) == start + rest:
                            yield data


class _Folder:
    """A folder by its descriptor, opened without following a link; None: there is none."""

    def __init__(self, name: str | Path, below: int | None = None) -> None:
        self._name = name
        self._below = below
        self._descriptor: int | None = None

    def __enter__(self) -> int | None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            self._descriptor = os.open(self._name, flags, dir_fd=self._below)
        except OSError:
            return None
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)


def _opened(folder: Path) -> _Folder:
    return _Folder(folder)


def _below(top: int | None, name: str) -> _Folder:
    return _Folder("") if top is None else _Folder(name, top)


def _names(folder: int | None) -> list[str]:
    if folder is None:
        return []
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries)


def _file(top: int | None, name: str) -> int | None:
    """Return a descriptor of a real file; None: there is none of a size that can be right."""
    if top is None:
        return None
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        descriptor = os.open(name, flags, dir_fd=top)
    except OSError:
        return None
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
        os.close(descriptor)
        return None
    return descriptor


def _copy(top: int | None, name: str, target: Path) -> bool:
    descriptor = _file(top, name)
    if descriptor is None:
        return False
    with os.fdopen(descriptor, "rb") as file, target.open("xb") as copy:
        while data := file.read(_PIECE):
            copy.write(data)
    return True


def _read(top: int | None, name: str) -> bytes | None:
    descriptor = _file(top, name)
    if descriptor is None:
        return None
    with os.fdopen(descriptor, "rb") as file:
        is_small = os.fstat(descriptor).st_size <= _MOST_IN_A_BLOB
        return file.read() if is_small else None


def _check(path: Path, *, shown: Path) -> None:
    """Check that a file is a notebook and nothing more.

    Raises:
        NotebookDamaged, NotebookTooNew: if it isn't.
    """
    try:
        connection = sqlite3.connect(path, isolation_level=None)
        try:
            harden(connection)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_IN_A_VALUE)
            version = check_version(connection.execute, shown, len(MIGRATIONS))
            if not version:
                raise damaged(shown, "it is empty")
            if _schema(connection) != _schema_of(version):
                raise damaged(shown, "its tables and triggers aren't a notebook's")
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                raise damaged(shown, str(found))
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise damaged(shown, str(error)) from error


def _schema(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    rows = connection.execute(
        "SELECT type, name, coalesce(sql, '') FROM sqlite_master"
        " WHERE name NOT LIKE 'sqlite_autoindex_%' ORDER BY type, name"
    )
    return [(str(kind), str(name), str(sql)) for kind, name, sql in rows]


def _schema_of(version: int) -> list[tuple[str, str, str]]:
    """Return what a notebook of a version has in it."""
    connection = sqlite3.connect(":memory:")
    try:
        for migration in MIGRATIONS[:version]:
            for statement in statements(migration.sql):
                connection.execute(statement)
        return _schema(connection)
    finally:
        connection.close()
