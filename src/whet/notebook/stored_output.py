"""A captured stream that lies in the blob store; it is read when somebody asks."""

import mmap
import re
from dataclasses import dataclass
from pathlib import Path

from whet.core.errors import NotebookDamaged


@dataclass(frozen=True, slots=True)
class StoredOutput:
    """A stream in a file. A gigabyte of it is searched without being held in memory.

    Attributes:
        digest: SHA-256 of the stream, in hexadecimal.
        size_bytes: length of the stream.
        path: the file.
    """

    digest: str
    size_bytes: int
    path: Path

    def head(self, max_bytes: int, /) -> bytes:
        """Return the first bytes of the stream.

        Raises:
            NotebookDamaged: if the file is gone.
        """
        return self._read(0, max_bytes)

    def tail(self, max_bytes: int, /) -> bytes:
        """Return the last bytes of the stream.

        Raises:
            NotebookDamaged: if the file is gone.
        """
        return self._read(max(0, self.size_bytes - max_bytes), max_bytes)

    def search(self, pattern: re.Pattern[bytes], /) -> bytes | None:
        """Return the first match anywhere in the stream.

        Raises:
            NotebookDamaged: if the file is gone.
        """
        found = pattern.search(self._mapped())
        return None if found is None else _captured(found)

    def search_last(self, pattern: re.Pattern[bytes], /) -> bytes | None:
        """Return the last match anywhere in the stream.

        Raises:
            NotebookDamaged: if the file is gone.
        """
        captured = None
        for found in pattern.finditer(self._mapped()):
            captured = _captured(found)
        return captured

    def _read(self, start: int, max_bytes: int) -> bytes:
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                return file.read(max_bytes)
        except FileNotFoundError as error:
            raise blob_missing(self.path) from error

    def _mapped(self) -> mmap.mmap | bytes:
        if self.size_bytes == 0:
            return b""  # there is no mapping of nothing
        try:
            with self.path.open("rb") as file:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError as error:
            raise blob_missing(self.path) from error


def blob_missing(path: Path) -> NotebookDamaged:
    """Return the error for a blob that a trial names and that is not there."""
    return NotebookDamaged(
        f"`{path}` is gone, though a trial names it",
        hint="bring `.whet/blobs` back from a backup, or run the trial once more: `whet again`",
    )


def _captured(found: re.Match[bytes]) -> bytes:
    group = found.group(1) if found.re.groups else found.group()
    return b"" if group is None else bytes(group)
