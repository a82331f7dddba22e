"""What a reader of somebody else's bytes is to `benchmarks/faults/fuzz.py`."""

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.faults.mutator import Shape

Seeds = Callable[[], Sequence[bytes]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reader:
    """A reader.

    Attributes:
        name: what it reads.
        seeds: what it is given when all is well.
        read: reads an example.
        shape: how seeds are taken apart.
        most_seconds: of CPU, for one example.
        refuses: what it raises by its own documentation, beside errors of whet's.
    """

    name: str
    seeds: Seeds
    read: Callable[[bytes], object]
    shape: Shape = Shape.BYTES
    refuses: tuple[type[Exception], ...] = ()
    most_seconds: float = 2.0


@cache
def scratch() -> Path:
    """Return a folder of this process's own; who started it removes it, or Python when it ends."""
    return Path(os.environ.get("WHET_FUZZ_SCRATCH") or _own_folder().name)


@cache
def _own_folder() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="fuzz-")


def placed(name: str, data: bytes) -> Path:
    """Return a file that holds an example, the only one in its folder."""
    path = scratch() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def text(data: bytes) -> str:
    """Return an example as whet has the text of a program or a file."""
    return data.decode("utf-8", "surrogateescape")
