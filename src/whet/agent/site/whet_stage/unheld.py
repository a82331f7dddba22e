"""Asks the kernel so that nobody asks what is asked: calls that are whet's own are tagged.

The kernel ignores a folder's descriptor where the path is absolute, and the filter of a watched
program lets what names this one pass (`whet.host.seccomp`).

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os

MAGIC_FOLDER = 0x57686574
"""As of `whet.host.syscalls`: a folder descriptor that tags what is whet's own."""

_PART = 1 << 16


def whole(path: str) -> bytes:
    """Return what a file holds, which one of `/proc` gives a page at a time.

    Raises:
        OSError: if it cannot be read.
    """
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC, dir_fd=MAGIC_FOLDER)
    try:
        # Its size is not asked for: that would be one more question.
        part = os.read(file, _PART)
        parts = [part]
        while part:
            part = os.read(file, _PART)
            parts.append(part)
    finally:
        os.close(file)
    return b"".join(parts)


def entries(path: str) -> list[str]:
    """Return the names in a folder.

    Raises:
        OSError: if it cannot be read.
    """
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=MAGIC_FOLDER)
    try:
        return os.listdir(folder)
    finally:
        os.close(folder)


def link_at(path: str) -> str:
    """Return where a link leads.

    Raises:
        OSError: if there is none.
    """
    return os.readlink(path, dir_fd=MAGIC_FOLDER)
