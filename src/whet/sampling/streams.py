"""Text files that may be compressed, read from any place on and written alike."""

import bz2
import gzip
import lzma
import shutil
import zipfile
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from whet.core.errors import CannotSample

_GZIP, _BZIP2, _XZ, _ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
_SIGNS = {".gz": _GZIP, ".tgz": _GZIP, ".bz2": _BZIP2, ".tbz2": _BZIP2, ".xz": _XZ, ".txz": _XZ}
_SUFFIXES = frozenset({".gz", ".bz2", ".xz"})
_UNKNOWN = frozenset({".zst", ".zstd", ".tzst", ".lz4", ".br", ".7z", ".rar"})
_BUFFER_BYTES = 1 << 20

BROKEN_STREAM = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)
"""What reading a damaged or cut file raises, beside an `OSError`."""
BROKEN_ZIP = (*BROKEN_STREAM, zipfile.BadZipFile, RuntimeError, ValueError)
"""What `zipfile` raises for a damaged archive, beside an `OSError`: `RuntimeError` for one with a password, and its
child `NotImplementedError` for a method or version that Python doesn't have; `ValueError` for a negative place."""


def plain_name(name: str) -> str:
    """Return a file's name without what says that it is compressed."""
    return Path(name).stem if is_compressed(name) else name


def is_compressed(name: str) -> bool:
    """Whether a file's name says that it is compressed."""
    return Path(name).suffix.lower() in _SUFFIXES


@contextmanager
def opened(path: Path) -> Generator[BinaryIO]:
    """Open a file to read, decompressed.

    Raises:
        CannotSample: if it is compressed in another way, or damaged.
    """
    with path.open("rb") as file:
        sign = file.read(6)
    if sign.startswith(_ZSTD):
        raise CannotSample(
            f"`{path.name}` is compressed with zstd",
            hint=f"decompress it first: `zstd -d {path.name}`",
        )
    with _reader(path, sign) as stream:
        try:
            yield stream
        except BROKEN_STREAM as error:
            raise CannotSample(
                f"`{path.name}` is damaged, or its end is missing: {error}",
                hint="get the whole file again",
            ) from error


def _reader(path: Path, sign: bytes) -> BinaryIO:
    if sign.startswith(_GZIP):
        return cast("BinaryIO", gzip.open(path, "rb"))
    if sign.startswith(_BZIP2):
        return cast("BinaryIO", bz2.open(path, "rb"))
    if sign.startswith(_XZ):
        return cast("BinaryIO", lzma.open(path, "rb"))
    return path.open("rb", buffering=_BUFFER_BYTES)


class _NamelessGzip(gzip.GzipFile):
    """A file to write that holds neither its name nor the time: the same bytes each time."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        super().__init__("", "wb", mtime=0, fileobj=self._file)

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._file.close()


def created(path: Path, like: Path) -> BinaryIO:
    """Open an empty file to write, compressed like another."""
    with like.open("rb") as file:
        return _writer(path, file.read(6))


def _writer(path: Path, sign: bytes) -> BinaryIO:
    if sign.startswith(_GZIP):
        return cast("BinaryIO", _NamelessGzip(path))
    if sign.startswith(_BZIP2):
        return cast("BinaryIO", bz2.open(path, "wb"))
    if sign.startswith(_XZ):
        return cast("BinaryIO", lzma.open(path, "wb"))
    return path.open("wb")


def unknown_compression(name: str) -> str:
    """Return the suffix of a name that promises a compression that whet doesn't write, or nothing."""
    suffix = Path(name).suffix.lower()
    return suffix if suffix in _UNKNOWN else ""


def repack(path: Path, target: Path, name: str) -> None:
    """Write a file's content to another one, compressed as that one's name says.

    Args:
        path: the file.
        target: the other one; nothing is there.
        name: what the other one will be called.
    """
    sign = _SIGNS.get(Path(name).suffix.lower(), b"")
    with opened(path) as stream, _writer(target, sign) as out:
        shutil.copyfileobj(stream, out, _BUFFER_BYTES)
    shutil.copymode(path, target)


def same_compression(name: str, other: str) -> bool:
    """Whether two names promise the same compression, or none."""
    first, second = (Path(each).suffix.lower() for each in (name, other))
    return _SIGNS.get(first) == _SIGNS.get(second)
