"""What a program wrote, however long, without holding it in memory."""

import hashlib
import re
from typing import Protocol

from whet.core.value_class import value_class


def digest_of(data: bytes) -> str:
    """Return the name of ``data`` in the blob store: its SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


class Output(Protocol):
    """One captured stream. A long one lives in a file and is searched there."""

    @property
    def digest(self) -> str:
        """SHA-256 of the whole stream, in hexadecimal."""
        ...

    @property
    def size_bytes(self) -> int:
        """Length of the whole stream."""
        ...

    def head(self, max_bytes: int, /) -> bytes:
        """Return the first bytes of the stream."""
        ...

    def tail(self, max_bytes: int, /) -> bytes:
        """Return the last bytes of the stream."""
        ...

    def search(self, pattern: re.Pattern[bytes], /) -> bytes | None:
        """Return the first match anywhere in the stream (its first group if it has one)."""
        ...

    def search_last(self, pattern: re.Pattern[bytes], /) -> bytes | None:
        """Return the last match anywhere in the stream (its first group if it has one)."""
        ...


def first_match(pattern: re.Pattern[bytes], data: bytes) -> bytes | None:
    """Return what ``pattern`` finds first in ``data``: its first group, or all of the match."""
    found = pattern.search(data)
    return None if found is None else _captured(found)


def last_match(pattern: re.Pattern[bytes], data: bytes) -> bytes | None:
    """Return what ``pattern`` finds last in ``data``: its first group, or all of the match."""
    captured = None
    for found in pattern.finditer(data):
        captured = _captured(found)
    return captured


def _captured(found: re.Match[bytes]) -> bytes:
    group = found.group(1) if found.re.groups else found.group()
    return b"" if group is None else bytes(group)


@value_class
class BytesOutput:
    """A stream that is small enough to be held in memory."""

    data: bytes = b""

    @property
    def digest(self) -> str:
        """SHA-256 of the stream, in hexadecimal."""
        return digest_of(self.data)

    @property
    def size_bytes(self) -> int:
        """Length of the stream."""
        return len(self.data)

    def head(self, max_bytes: int, /) -> bytes:
        """Return the first bytes of the stream."""
        return self.data[:max_bytes]

    def tail(self, max_bytes: int, /) -> bytes:
        """Return the last bytes of the stream."""
        return self.data[-max_bytes:] if max_bytes else b""

    def search(self, pattern: re.Pattern[bytes], /) -> bytes | None:
        """Return the first match anywhere in the stream."""
        return first_match(pattern, self.data)

    def search_last(self, pattern: re.Pattern[bytes], /) -> bytes | None:
        """Return the last match anywhere in the stream."""
        return last_match(pattern, self.data)


NO_OUTPUT = BytesOutput()
