"""Memory and CPU time of this process, as the kernel says them.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import time

from .descriptors import Descriptor, opened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from resource import struct_rusage

    Read = Callable[[], tuple[int, int]]

UNKNOWN = -1
_SELF, _CHILDREN = 0, -1  # RUSAGE_SELF, RUSAGE_CHILDREN
_SLACK_BYTES, _SLACK_SHARE = 128 << 10, 512


def _find_usage() -> Callable[[int], struct_rusage] | None:
    try:
        from resource import getrusage
    except ImportError:  # a system without it
        return None
    return getrusage


_usage = _find_usage()


class Peaks:
    """The most that memory was while each of several sections was open.

    The kernel keeps one high-water mark. It is put back to the level of the moment where a section
    begins below it; what it was until then is remembered for those that are open.

    Attributes:
        highest: the highest mark ever seen.
    """

    def __init__(self, read: Read, reset: Callable[[], bool]) -> None:
        """Make it.

        Args:
            read: returns the level and the high-water mark; below zero: unknown.
            reset: puts the mark back to the level; False: that can't be done.
        """
        self._read = read
        self._reset = reset
        self._can_reset = True
        self._stretch = 0
        self._maxima: list[tuple[int, int]] = []  # number of a stretch, mark; higher ones first
        self._mark = UNKNOWN
        self.highest = UNKNOWN

    def begin(self, *, is_alone: bool) -> tuple[tuple[int, int], int]:
        """Begin to look; return what `end` needs, and the level."""
        level, mark = self._look()
        if is_alone:
            self._maxima.clear()
        if mark - level > max(_SLACK_BYTES, level // _SLACK_SHARE) and self._can_reset:
            while self._maxima and self._maxima[-1][1] <= mark:
                self._maxima.pop()
            self._maxima.append((self._stretch, mark))
            self._can_reset = self._reset()
            self._stretch += 1
            self._mark = level
        return (self._stretch, UNKNOWN if self._can_reset else mark), level

    def end(self, began: tuple[int, int]) -> tuple[int, int]:
        """Return the level, and the most since `begin`; below zero: it is not known."""
        stretch, mark_before = began
        level, mark = self._look()
        if mark < 0 or mark_before >= mark:
            return level, UNKNOWN
        return level, next(
            (most for at, most in self._maxima if at >= stretch and most > mark), mark
        )

    def _look(self) -> tuple[int, int]:
        level, mark = self._read()
        # The kernel's figures are a little behind on each processor: a mark may seem to fall.
        self._mark = max(self._mark, mark)
        self.highest = max(self.highest, mark)
        return level, self._mark


class Resident:
    """How much memory of this process is in RAM, as the kernel says it."""

    def __init__(self) -> None:
        self._page_bytes = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
        self._statm = Descriptor("/proc/self/statm", os.O_RDONLY)
        self._floor_kilobytes = 0

    def read(self) -> tuple[int, int]:
        """Return how much it is, and how much it was at most since `reset`."""
        try:
            level = int(os.pread(self._statm.number(), 100, 0).split()[1]) * self._page_bytes
            kilobytes = _kilobytes_at_most()
        except (OSError, IndexError, ValueError):  # not Linux, or no `/proc`
            return UNKNOWN, UNKNOWN
        if kilobytes == self._floor_kilobytes:
            # What the process was before it became this program hides the mark.
            kilobytes = _mark_kilobytes()
        return level, max(level, kilobytes << 10)

    def reset(self) -> bool:
        """Put the high-water mark back to the level; False: it stays where it is."""
        try:
            descriptor = opened("/proc/self/clear_refs", os.O_WRONLY)
            try:
                os.write(descriptor, b"5")
            finally:
                os.close(descriptor)
        except OSError:
            return False
        kilobytes = _kilobytes_at_most()
        if kilobytes > _mark_kilobytes() > 0:
            self._floor_kilobytes = kilobytes
        return True

    def close(self) -> None:
        """Close what it reads."""
        self._statm.close()


def _kilobytes_at_most() -> int:
    return UNKNOWN if _usage is None else _usage(_SELF).ru_maxrss


def _mark_kilobytes() -> int:
    try:
        descriptor = opened("/proc/self/status", os.O_RDONLY)
        try:
            text = os.read(descriptor, 1 << 14)
        finally:
            os.close(descriptor)
        return int(text.partition(b"VmHWM:")[2].split(None, 1)[0])
    except (OSError, IndexError, ValueError):
        return UNKNOWN


def cpu_nanoseconds() -> int:
    """Return what this process, and children that it waited for, have used of processors."""
    if _usage is None:
        return time.process_time_ns()
    children = _usage(_CHILDREN)
    return time.process_time_ns() + int((children.ru_utime + children.ru_stime) * 1e9)
