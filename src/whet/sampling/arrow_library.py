"""pyarrow, which has no types of its own; each part is loaded when it is needed."""

import os
from functools import cache
from pathlib import Path
from typing import Any

from whet.core.errors import CannotSample


def pyarrow() -> Any:
    """Return the library."""
    import pyarrow as pa

    return pa


def compute() -> Any:
    """Return its functions over columns."""
    import pyarrow.compute

    return pyarrow.compute


def ipc() -> Any:
    """Return what reads and writes Arrow's own files."""
    from pyarrow import ipc

    return ipc


def parquet() -> Any:
    """Return what reads and writes Parquet."""
    from pyarrow import parquet

    return parquet


def csv_reader() -> Any:
    """Return what reads CSV."""
    from pyarrow import csv

    return csv


def check_pyarrow(shown: str) -> None:
    """Refuse a file that only pyarrow reads where it isn't installed.

    Raises:
        CannotSample: if it isn't.
    """
    try:
        pyarrow()
    except ImportError as error:
        raise CannotSample(
            f"whet reads `{shown}` with pyarrow, which isn't installed beside it",
            hint="`pip install 'whet[formats]'`",
        ) from error


def arrow_path(path: Path) -> str:
    """Return a file's path as Arrow can open it: it knows paths in UTF-8 alone."""
    text = str(path)
    try:
        text.encode()
    except UnicodeEncodeError:
        status = path.stat()
        return f"/proc/self/fd/{_held_open(text, status.st_dev, status.st_ino)}"
    return text


@cache
def _held_open(path: str, _device: int, _file: int) -> int:
    """Open a file until whet ends."""
    return os.open(path, (os.O_RDWR if os.access(path, os.W_OK) else os.O_RDONLY) | os.O_CLOEXEC)
