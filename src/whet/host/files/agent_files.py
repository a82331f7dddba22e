"""The files that agents leave, such as `7.failures` and `7-0.torch.json`. A program may leave others.

whet reads them with rights that a program in a sandbox doesn't have, so it follows no link there, and
waits for no pipe.
"""

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from whet.host.files.below import held_folder

_MOST_BYTES = 64 << 20

_PROCESS = re.compile(r"([0-9]{1,9})(?![0-9])")


def process_of(path: Path) -> int:
    """Return the process that wrote a file of the agent's folder; 0: its name has no number."""
    number = _PROCESS.match(path.name)
    return int(number[1]) if number else 0


def report_at(path: Path, *, start: int = 0, most_bytes: int = _MOST_BYTES) -> bytes:
    """Return what an agent has written to a file; of a large one, the beginning.

    Args:
        path: the file.
        start: how much to leave out.
        most_bytes: how much to read.

    Raises:
        OSError: if it can't be read, or is no file of the user's.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
    with held_folder(path.parent) as folder:
        descriptor = os.open(path.name, flags, dir_fd=folder)
    with open(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid not in {0, os.geteuid()}:
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        file.seek(start)
        return file.read(max(0, min(status.st_size - start, most_bytes)))


def reports_in(
    folder: Path, suffix: str, *, most_bytes: int = _MOST_BYTES
) -> Iterator[tuple[Path, bytes]]:
    """Yield each file with an ending, by its process, and what `report_at` reads of it."""
    paths = folder.glob(f"*{suffix}")
    for path in sorted(paths, key=lambda path: (process_of(path), path.name)):
        with suppress(OSError):
            yield path, report_at(path, most_bytes=most_bytes)
