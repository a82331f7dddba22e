"""Files that stay open and are known to be ours: a program may close what it has not opened.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os

_MAGIC_FOLDER = 0x57686574  # tags what is whet's own, as in `whet_agent`
_HIGH_DESCRIPTORS = (900, 200, 50)  # where no program looks that counts or closes the first few
_CLOSED = -1


class Descriptor:
    """An open file that is known to be ours still: a program may close what it has not opened."""

    def __init__(self, path: str, flags: int) -> None:
        self._path = path
        self._flags = flags
        self._number = _CLOSED
        self._identity = (0, 0)

    def number(self, *, is_sure: bool = False) -> int:
        """Return it, opened once more if need be.

        Args:
            is_sure: the caller sees by what it reads whether it is the right one.

        Raises:
            OSError: if it can't be opened.
        """
        if self._number >= 0 and is_sure:
            return self._number
        if not self._is_ours():
            self._number = opened(self._path, self._flags, is_high=True)
            status = os.fstat(self._number)
            self._identity = status.st_dev, status.st_ino
        return self._number

    def forget(self) -> None:
        """Open it anew the next time."""
        self._number = _CLOSED

    def close(self) -> None:
        """Close it, unless it is something else by now."""
        if self._is_ours():
            os.close(self._number)
        self._number = _CLOSED

    def _is_ours(self) -> bool:
        if self._number < 0:
            return False
        try:
            status = os.fstat(self._number)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._identity


def opened(path: str, flags: int, *, is_high: bool = False) -> int:
    """Return the number of a file that is opened; `is_high`: out of the way of the program.

    Raises:
        OSError: if it can't be opened.
    """
    # Tagged: the program itself doesn't look there.
    low = os.open(path, flags | os.O_CLOEXEC, 0o600, dir_fd=_MAGIC_FOLDER)
    if not is_high:
        return low
    fcntl = __import__("fcntl")
    for least in _HIGH_DESCRIPTORS:
        try:
            high: int = fcntl.fcntl(low, fcntl.F_DUPFD_CLOEXEC, least)
        except OSError:
            continue
        os.close(low)
        return high
    return low
