"""A captured stream that is in the blob store; it is read when somebody asks."""

import hashlib
import os
import re
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

from whet.core.errors import NotebookDamaged, OutputNotKept
from whet.core.text.record import MalformedRecordError, as_record, decoded, integer
from whet.core.value_class import value_class
from whet.host.trial.capture import FileOutput

PRUNED = "pruned"
"""The file beside the blobs that says how many were removed on purpose; its time: when whet last looked."""


@value_class
class StoredOutput:
    """A stream in a blob's file. Each method raises `NotebookDamaged` if that is gone or not whole."""

    file: FileOutput

    @property
    def digest(self) -> str:
        """SHA-256 of the stream, in hexadecimal."""
        return self.file.digest

    @property
    def size_bytes(self) -> int:
        """Length of the stream."""
        return self.file.size_bytes

    def head(self, max_bytes: int, /) -> bytes:
        """Return the first bytes of the stream."""
        with reading(self.file.path):
            check_whole(self.file.path, self.digest)
            return self.file.head(max_bytes)

    def tail(self, max_bytes: int, /) -> bytes:
        """Return the last bytes of the stream."""
        with reading(self.file.path):
            check_whole(self.file.path, self.digest)
            return self.file.tail(max_bytes)

    def search(self, pattern: re.Pattern[bytes], /) -> bytes | None:
        """Return the first match anywhere in the stream."""
        with reading(self.file.path):
            check_whole(self.file.path, self.digest)
            return self.file.search(pattern)

    def search_last(self, pattern: re.Pattern[bytes], /) -> bytes | None:
        """Return the last match anywhere in the stream."""
        with reading(self.file.path):
            check_whole(self.file.path, self.digest)
            return self.file.search_last(pattern)


@contextmanager
def reading(path: Path) -> Generator[None, None, None]:
    """Read a blob in the block.

    Raises:
        NotebookDamaged: if it doesn't exist.
        OutputNotKept: if it may have been removed, as its trial is old.
    """
    try:
        yield
    except FileNotFoundError as error:
        if removed_so_far(path.parents[2] / PRUNED):
            raise OutputNotKept(
                "an output or a payload of this old trial is no longer kept",
                hint="run it once more: `whet again`; `notebook_bytes` and `notebook_days` in your"
                " settings say how much is kept",
            ) from error
        raise lost(path, "is gone, but a trial needs it") from error


@lru_cache(maxsize=4096)
def check_whole(path: Path, digest: str) -> None:
    """Check that a blob holds what its name says, once: nobody writes to it.

    A power cut may leave the name with a part of the content, or with zeros.

    Raises:
        NotebookDamaged: if it doesn't.
        FileNotFoundError: if it doesn't exist.
    """
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != digest:
            raise lost(path)


def removed_so_far(mark: Path) -> int:
    """Return how many files whet itself has removed; 0 if the note of it doesn't exist or isn't whole."""
    with suppress(OSError, MalformedRecordError):
        return integer(as_record(decoded(mark.read_bytes()), "note"), "files")
    return 0


def put_off(state: Path) -> None:
    """Have nobody look for a day: a new project has nothing that is old."""
    with suppress(OSError), open(state / PRUNED, "xb", opener=_for_the_user_alone) as file:
        file.write(b'{"files": 0}')


def _for_the_user_alone(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def make_due(state: Path) -> None:
    """Have it looked for at the next end of a whet: much was kept just now."""
    with suppress(OSError):
        os.utime(state / PRUNED, (0, 0))


def lost(path: Path, what: str = "doesn't match its digest") -> NotebookDamaged:
    """Return the error for a blob that doesn't exist, or isn't whole."""
    return NotebookDamaged(
        f"`{path}` {what}",
        hint="restore the folder `blobs` next to the notebook from a backup, or run the trial again: `whet again`",
    )
