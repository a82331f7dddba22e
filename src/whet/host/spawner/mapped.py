"""Files that a program has created and mapped into its memory, and later changes of them.

A written private mapping holds the program's own pages, and the kernel drops them when anyone shortens
the file. A file with another inode number isn't one that the program has mapped.
"""

import os

_FIELDS = 6  # of a line in /proc/PID/maps that names a file; proc(5)
_WRITTEN = b"w"


class Mapped:
    """A file that a frozen copy has mapped, as it was when that was taken."""

    def __init__(self, path: str, found: os.stat_result, *, is_written: bool) -> None:
        """Note how it is.

        Args:
            path: where it is.
            found: what the system says of it.
            is_written: whether the copy may have pages of its own in place of the file's.
        """
        self._path = path
        self._found = found
        self._is_written = is_written

    def stands(self) -> bool:
        """Whether it is unchanged since."""
        now = self._now()
        return now is not None and now.st_ctime_ns == self._found.st_ctime_ns

    def may_be_written_again(self) -> bool:
        """Whether the copy would see all writes to it, and lose nothing."""
        return self._now() is not None and not self._is_written

    def _now(self) -> os.stat_result | None:
        """Return what the system says of it now; None if it is another file."""
        try:
            now = os.lstat(self._path)
        except OSError:
            return None
        return now if os.path.samestat(now, self._found) else None


def files_mapped_by(pid: int) -> dict[str, bool]:
    """Return what files a process has mapped, and whether it may write to its pages of each.

    Raises:
        OSError: if the process is gone, or may not be looked into.
    """
    with open(f"/proc/{pid}/maps", "rb") as file:
        text = file.read()
    files: dict[str, bool] = {}
    for line in text.splitlines():
        words = line.split(None, _FIELDS - 1)
        if len(words) == _FIELDS and words[-1].startswith(b"/"):
            path = os.fsdecode(words[-1])
            files[path] = files.get(path, False) or _WRITTEN in words[1]
    return files
