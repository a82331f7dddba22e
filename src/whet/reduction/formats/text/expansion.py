"""Unpacking data that may be a bomb: up to a limit, and broken data is refused."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable
from typing import Protocol

from whet.core.value_class import value_class

_ALWAYS_EXPANDED = 64 * 1024 * 1024
_MOST_TIMES = 100
_NEVER_EXPANDED = 1024 * 1024 * 1024
_MOST_DICTIONARY = 256 * 1024 * 1024

_MOST_STREAMS = 10_000
"""No one has a file with this many streams in a row: reading it would take forever."""


def most_expanded(size: int) -> int:
    """Return how large ``size`` packed bytes may be unpacked; more counts as a bomb.

    Text and tables of zeros pack to a hundredth. A small file may expand a thousand times, because
    it is still small then.
    """
    return min(_NEVER_EXPANDED, max(_ALWAYS_EXPANDED, _MOST_TIMES * size))


class _Stream(Protocol):
    """A decompressor of one stream."""

    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, _most: int, /) -> bytes: ...


@value_class(kw_only=True)
class Compression:
    """A way to pack one file.

    Attributes:
        name: one word.
        magic: what a packed file starts with.
        suffix: of its name.
        stream: makes a decompressor.
        compress: packs; the same bytes each time.
    """

    name: str
    magic: bytes
    suffix: str
    stream: Callable[[], _Stream]
    compress: Callable[[bytes], bytes]

    def expand(self, packed: bytes, limit: int) -> bytes | None:
        """Return what is packed; None if it is broken, or larger than ``limit``."""
        if not packed.startswith(self.magic):
            return None
        return expand(self.stream, packed, limit)


def expand(stream: Callable[[], _Stream], packed: bytes, limit: int) -> bytes | None:
    """Return what streams of a compression hold; None if one is broken or there is more."""
    pieces: list[bytes] = []
    left = limit
    for _ in range(_MOST_STREAMS):
        decompressor = stream()
        try:
            piece = decompressor.decompress(packed, left + 1)
        except (zlib.error, OSError, lzma.LZMAError, ValueError, EOFError):
            return None
        left -= len(piece)
        if left < 0 or not decompressor.eof:
            return None
        pieces.append(piece)
        packed = decompressor.unused_data
        if not packed:
            return b"".join(pieces)
    return None


def _gzip(content: bytes) -> bytes:
    return gzip.compress(content, 6, mtime=0)


COMPRESSIONS = (
    Compression(
        name="gzip",
        magic=b"\x1f\x8b\x08",
        suffix=".gz",
        stream=lambda: zlib.decompressobj(wbits=31),
        compress=_gzip,
    ),
    Compression(
        name="bz2",
        magic=b"BZh",
        suffix=".bz2",
        stream=bz2.BZ2Decompressor,
        compress=bz2.compress,
    ),
    Compression(
        name="xz",
        magic=b"\xfd7zXZ\x00",
        suffix=".xz",
        stream=lambda: lzma.LZMADecompressor(memlimit=_MOST_DICTIONARY),
        compress=lzma.compress,
    ),
)


def inflate(packed: bytes, size: int) -> bytes | None:
    """Return what a raw deflated stream holds if it is ``size`` bytes."""
    content = expand(lambda: zlib.decompressobj(wbits=-15), packed, size)
    return content if content is not None and len(content) == size else None


def deflate(content: bytes) -> bytes:
    """Return a raw deflated stream."""
    compressor = zlib.compressobj(6, zlib.DEFLATED, -15)
    return compressor.compress(content) + compressor.flush()
