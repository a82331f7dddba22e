"""Asks the kernel so that nobody asks what is asked: calls that are whet's own are tagged.

The kernel ignores a folder's descriptor where the path is absolute, and the filter of a watched
program lets what names this one pass (`whet.host.kernel.seccomp`).

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os

MAGIC_FOLDER = 0x57686574
"""As of `whet.host.kernel.syscalls`: a folder descriptor that tags what is whet's own."""

KIND_FOLDER = 0x57686575
"""As of `whet.host.kernel.syscalls`, too: it tags a look-up of a file's kind, which is asked about."""

_PART = 1 << 16
_KIND_BITS = 0o170000

# A test may put something else in their place for a while.
close, pread = os.close, os.pread
_open, _read, _listdir, _readlink = os.open, os.read, os.listdir, os.readlink
_stat = os.stat


def open_unfiltered(path: str, flags: int = 0) -> int:
    """Open a file or folder to read it; return its descriptor.

    Raises:
        OSError: if it can't be opened.
    """
    return _open(path, os.O_RDONLY | os.O_CLOEXEC | flags, dir_fd=MAGIC_FOLDER)


def whole(path: str) -> bytes:
    """Return what a file holds, which one of `/proc` gives a page at a time.

    Raises:
        OSError: if it can't be read.
    """
    file = open_unfiltered(path)
    try:
        # Its size isn't asked for: that would be one more question.
        part = _read(file, _PART)
        parts = [part]
        while part:
            part = _read(file, _PART)
            parts.append(part)
    finally:
        close(file)
    return b"".join(parts)


def entries(path: str) -> list[str]:
    """Return the names in a folder.

    Raises:
        OSError: if it can't be read.
    """
    folder = open_unfiltered(path, os.O_DIRECTORY)
    try:
        return _listdir(folder)
    finally:
        close(folder)


def link_at(path: str) -> str:
    """Return where a link leads.

    Raises:
        OSError: if there is none.
    """
    return _readlink(path, dir_fd=MAGIC_FOLDER)


def status_at(path: str) -> os.stat_result:
    """Return what the kernel says of a file, links followed.

    Raises:
        OSError: if it can't be looked up.
    """
    return _stat(path, dir_fd=MAGIC_FOLDER)


def kind_at(path: str) -> int:
    """Return of which kind a file is, links followed; the call counts as having seen no more of it.

    Raises:
        OSError: if it can't be looked up.
    """
    return _stat(path, dir_fd=KIND_FOLDER).st_mode & _KIND_BITS


def announce(word: str) -> None:
    """Look up a path that can't be there and that tells whet something."""
    try:
        _stat(word)
    except (OSError, ValueError):
        pass


def is_stat_replaced() -> bool:
    """Whether somebody has put something else instead of `os.stat`."""
    return os.stat is not _stat
