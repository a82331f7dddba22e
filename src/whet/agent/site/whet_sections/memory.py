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

UNKNOWN = -1
_SELF, _CHILDREN = 0, -1  # RUSAGE_SELF, RUSAGE_CHILDREN
_SLACK_BYTES, _SLACK_SHARE = 128 << 10, 512
_STATM_BYTES = 200


class Peaks:
    """The most that a level was while each of several sections was open.

    There is one high-water mark for all of them, such as the kernel's. It is put back to the level
    of the moment where a section begins below it; what it was until then is remembered for those
    that are open.

    Attributes:
        highest: the highest mark ever seen.
    """

    def __init__(self, reset: Callable[[], bool]) -> None:
        """Make it.

        Args:
            reset: puts the mark back to the level; False: that can't be done.
        """
        self._reset = reset
        self._can_reset = True
        self._stretch = 0
        self._maxima: list[tuple[int, int]] = []  # number of a stretch, mark; higher ones first
        self._mark = UNKNOWN
        self.highest = UNKNOWN

    def begin(self, level: int, mark: int, *, is_alone: bool) -> tuple[int, int]:
        """Begin to look, at this level and high-water mark; return what `end` needs."""
        mark = self._raised(mark)
        if is_alone:
            self._maxima.clear()
        if mark - level > max(_SLACK_BYTES, level // _SLACK_SHARE) and self._can_reset:
            while self._maxima and self._maxima[-1][1] <= mark:
                self._maxima.pop()
            self._maxima.append((self._stretch, mark))
            self._can_reset = self._reset()
            self._stretch += 1
            self._mark = level
        return self._stretch, UNKNOWN if self._can_reset else mark

    def end(self, began: tuple[int, int], mark: int) -> int:
        """Return the most since `begin`, with the mark of now; below zero: it is not known."""
        stretch, mark_before = began
        mark = self._raised(mark)
        if mark < 0 or mark_before >= mark:
            return UNKNOWN
        for at, most in self._maxima:
            if at >= stretch and most > mark:
                return most
        return mark

    def _raised(self, mark: int) -> int:
        # The kernel's figures are a little behind on each processor: a mark may seem to fall.
        if mark > self._mark:
            self._mark = mark
            self.highest = max(self.highest, mark)
        return self._mark


class Usage:
    """What this process uses: memory in RAM, and CPU time."""

    def __init__(self) -> None:
        self._page_bytes = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 0
        self._statm = Descriptor("/proc/self/statm", os.O_RDONLY)
        self._floor = self._faults = self._mark = UNKNOWN
        self._find_floor()

    def read(self) -> tuple[int, int, int]:
        """Return its memory in bytes, the most that it was since `reset`, and nanoseconds of CPU.

        The CPU time is that of all its threads, and of children that it has waited for.
        """
        if _rusage is None:
            return UNKNOWN, UNKNOWN, time.process_time_ns()
        own, children = _rusage(_SELF), _rusage(_CHILDREN)
        seconds = own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
        kilobytes = own.ru_maxrss
        if kilobytes == self._floor:
            kilobytes = self._hidden_mark(own.ru_minflt + own.ru_majflt)
        level = self._level()
        return level, UNKNOWN if level < 0 else max(level, kilobytes << 10), int(seconds * 1e9)

    def _hidden_mark(self, faults: int) -> int:
        if faults != self._faults:  # without a page fault no page has come, and the mark stays
            self._mark = _mark_kilobytes()
            self._faults = faults
        return self._mark

    def _level(self) -> int:
        for _ in range(2):
            try:
                data = os.pread(self._statm.number(is_sure=True), _STATM_BYTES, 0)
                _, pages, _, _, _, _, _ = map(int, data.split())
            except (OSError, ValueError):  # closed by the program, or no `/proc`
                self._statm.forget()
            else:
                return pages * self._page_bytes
        return UNKNOWN

    def close(self) -> None:
        """Close what it reads."""
        self._statm.close()

    def _find_floor(self) -> None:
        """Note what hides the mark: how large the process was before it became this program."""
        if _rusage is not None:
            kilobytes = _rusage(_SELF).ru_maxrss
            self._floor = kilobytes if kilobytes > _mark_kilobytes() else UNKNOWN

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
        self._find_floor()
        self._faults = UNKNOWN
        return True


def _find_rusage() -> Callable[[int], struct_rusage] | None:
    try:
        from resource import getrusage
    except ImportError:  # a system without it
        return None
    return getrusage


_rusage = _find_rusage()


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
