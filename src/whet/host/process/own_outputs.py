"""The files that receive whet's own output, directly or through a shell pipeline."""

import math
import os
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from whet.host.process.process_facts import all_pids, with_those_above

_LASTING_SECONDS = 1.0
"""How long whet trusts what it knows of a pipeline: each check takes milliseconds."""

_Number = tuple[int, int]
"""A file's numbers: the device's, and the inode's."""


@dataclass(slots=True)
class _Ends:
    """What a process has open.

    Attributes:
        read: the pipes that it reads.
        written: the pipes that it writes.
        files: the files that it writes.
    """

    read: set[_Number]
    written: set[_Number]
    files: set[_Number]


class OwnOutputs:
    """Says of a file whether what this process writes goes there: ``> out``, ``| tee out``.

    Whoever has started whet may read what it says, and be an editor that saves files: those are no
    output, nor are those of a program above it.
    """

    def __init__(self, streams: Sequence[int] = (1, 2)) -> None:
        """Look where standard output and error lead."""
        self._files = set[_Number]()
        self._pipes = set[_Number]()
        self._looked_at = -math.inf
        for stream in streams:
            with suppress(OSError):  # it may be closed: `>&-`
                status = os.fstat(stream)
                if stat.S_ISREG(status.st_mode):
                    self._files.add(_number(status))
                elif stat.S_ISFIFO(status.st_mode):
                    self._pipes.add(_number(status))

    def has(self, path: str) -> bool:
        """Whether a file is one of them."""
        if not self._files and not self._pipes:
            return False
        try:
            number = _number(os.stat(path))
        except OSError:
            return False
        if number not in self._files and self._pipes and self._is_to_look():
            self._files |= _files_behind(self._pipes)
        return number in self._files

    def _is_to_look(self) -> bool:
        now = time.monotonic()
        is_so = now - self._looked_at > _LASTING_SECONDS
        self._looked_at = now if is_so else self._looked_at
        return is_so


def _files_behind(pipes: set[_Number]) -> set[_Number]:
    """Return what is written by those that read some pipes, and by those that read theirs."""
    files, readers = set[_Number](), list(_readers())
    pipes, count = set(pipes), 0
    while len(pipes) > count:
        count = len(pipes)
        for each in readers:
            if not each.read.isdisjoint(pipes):
                pipes |= each.written
                files |= each.files
    return files


def _readers() -> Iterator[_Ends]:
    """Yield what each process has open that reads a pipe."""
    mine = with_those_above(os.getpid())
    for pid in all_pids():
        ends = None if pid in mine else _ends_of(pid)
        if ends is not None and ends.read:
            yield ends


def _ends_of(pid: int) -> _Ends | None:
    """Return what a process has open; None: it is gone, or another user's."""
    ends = _Ends(set[_Number](), set[_Number](), set[_Number]())
    try:
        files = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return None
    for file in files:
        with suppress(OSError):
            status = os.stat(f"/proc/{pid}/fd/{file}")
            if stat.S_ISFIFO(status.st_mode):
                (ends.written if _is_written(pid, file) else ends.read).add(_number(status))
            elif stat.S_ISREG(status.st_mode) and _is_written(pid, file):
                ends.files.add(_number(status))
    return ends


def _is_written(pid: int, file: str) -> bool:
    """Whether a process may write to what it has open. Source: proc_pid_fdinfo(5)."""
    with open(f"/proc/{pid}/fdinfo/{file}", "rb") as facts:
        flags = next(line for line in facts if line.startswith(b"flags:"))
    return int(flags.split()[1], 8) & os.O_ACCMODE != os.O_RDONLY


def _number(status: os.stat_result) -> _Number:
    return status.st_dev, status.st_ino
