"""Gets a waiting copy the pages of its own that a run from the same snapshot wrote to before.

A forked process shares each page until one of the two writes to it. Then the kernel stops it, and
copies that page: thousands of times in the first milliseconds of a run. A copy that waits to run on
can have that done while nobody waits for it. What the pages hold doesn't change.

Linux 5.14 or later; where the kernel can't do it, nothing is done. Standard library only, Python
3.9 or later.
"""

from __future__ import annotations

import os
import sys

from ..hiding.private import private_import
from ..hiding.unfiltered_calls import close, open_unfiltered, pread, whole
from .memory import words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_MOST_PAGES = 8192  # a copy that waits takes no more: 32 MiB
_FIELDS = 6  # of a line in /proc/PID/maps that names a file; proc(5)
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ENTRY_BYTES = 8  # of /proc/PID/pagemap
_OWN = 0x81  # the highest byte of one: in memory, and mapped by no other process
_ALONE, _NOT = b"\1", b"\0"
_WHICH = bytes(each == _OWN for each in range(256))
_NEAR_BYTES = 1 << 20
_PART_BYTES = 64 << 20  # looked through at once
_MOST_BYTES = 2 << 30  # takes 6 ms
_POPULATE_WRITE, _SINCE = 23, (5, 14)  # MADV_POPULATE_WRITE, madvise(2)
_STRETCHES = 64  # take a third of a millisecond


class Pages:
    """Which pages runs from one snapshot write to; made in the snapshot.

    Each stretch of them is two words of memory: its first address and its end.
    """

    def __init__(self) -> None:
        self._private = list(_private_memory())
        self._call: Callable[[int, tuple[object, ...]], int]
        self._advise = 0
        self._advice: list[tuple[object, ...]] = []

    def written(self) -> bytes:
        """Return what this process has alone, of what the snapshot has too.

        Nothing if it is more than is worth it, or the kernel doesn't tell.
        """
        try:
            pagemap = open_unfiltered("/proc/self/pagemap")
        except OSError:  # the program may open nothing more, or has become another user
            return b""
        found: list[bytes] = []
        left = _MOST_PAGES
        try:
            for start, end in _joined(_worth_a_look(self._private)):
                for first, last in _alone(pagemap, start, end):
                    left -= (last - first) // _PAGE_BYTES
                    if left < 0:
                        return b""
                    found += map(_word, (first, last))
            return b"".join(found)
        except (OSError, MemoryError):  # it has set itself limits
            return b""
        finally:
            close(pagemap)

    def expect(self, pages: bytes) -> None:
        """Note, in the snapshot, what the next runs will write to."""
        if not _can_populate():
            return
        try:
            ctypes = private_import("_ctypes")
            simple: type = vars(ctypes)["_SimpleCData"]
            self._call = vars(ctypes)["call_function"]
            self._advise = vars(ctypes)["dlsym"](
                vars(ctypes)["dlopen"](None, os.RTLD_NOW), "madvise"
            )
        except (ImportError, TypeError, KeyError, OSError):
            return  # this Python has none, or the program has something else of that name
        word = type("word", (simple,), {"_type_": "P"})  # `ctypes` itself takes long to import
        self._advice = [
            (word(start), word(end - start), _POPULATE_WRITE)
            for start, end in _within(words_of(pages), self._private)
        ]

    def prefault(self, is_wanted: Callable[[], bool]) -> None:
        """Get this process pages of its own; stop when it is wanted elsewhere."""
        for number, advice in enumerate(self._advice):
            if not number % _STRETCHES and is_wanted():
                return
            self._call(self._advise, advice)  # what can't be had now is had when it is written to


def _word(number: int) -> bytes:
    return number.to_bytes(_ENTRY_BYTES, sys.byteorder)


def _can_populate() -> bool:
    numbers = os.uname().release.split("-")[0].split(".")[:2]
    return all(map(str.isdigit, numbers)) and tuple(map(int, numbers)) >= _SINCE


def _private_memory() -> Iterator[tuple[int, int]]:
    """Yield the start and end of what this process may write to, and shares with none.

    Of files, those with code alone: in another one a page that nobody has written to yet shows
    what somebody writes to the file, and a page of one's own doesn't.
    """
    lines = [line.split(None, _FIELDS - 1) for line in whole("/proc/self/maps").splitlines()]
    code = {words[-1] for words in lines if b"x" in words[1]}
    for words in lines:
        if words[1] == b"rw-p" and (not words[-1].startswith(b"/") or words[-1] in code):
            start, _, end = words[0].partition(b"-")
            yield int(start, 16), int(end, 16)


def _worth_a_look(ranges: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the ranges that can be looked through in little time: a mapped file may be of 1 TB."""
    left = _MOST_BYTES
    for start, end in ranges:
        if end - start <= left:
            left -= end - start
            yield start, end


def _alone(pagemap: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield which stretches of a range no other process has."""
    for at in range(start, end, _PART_BYTES):
        count = (min(end, at + _PART_BYTES) - at) // _PAGE_BYTES * _ENTRY_BYTES
        entries = pread(pagemap, count, at // _PAGE_BYTES * _ENTRY_BYTES)
        for first, last in _stretches(entries[_ENTRY_BYTES - 1 :: _ENTRY_BYTES]):
            yield at + first * _PAGE_BYTES, at + last * _PAGE_BYTES


def _joined(ranges: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield ranges of which those that lie near each other are one."""
    start = end = 0
    for first, last in ranges:
        if first - end > _NEAR_BYTES:
            if end:
                yield start, end
            start = first
        end = last
    if end:
        yield start, end


def _stretches(highest: bytes) -> Iterator[tuple[int, int]]:
    """Yield which of some pages, one after the other, are alone, by the highest bytes of all."""
    pages = highest.translate(_WHICH)
    start = pages.find(_ALONE)
    while start >= 0:
        end = pages.find(_NOT, start)
        end = len(pages) if end < 0 else end
        yield start, end
        start = pages.find(_ALONE, end)


def _within(pages: list[int], ranges: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield what of some stretches is in ranges; both ascend."""
    at = 0
    for number in range(0, len(pages), 2):
        start, end = pages[number : number + 2]
        while at < len(ranges) and ranges[at][1] <= start:
            at += 1
        while at < len(ranges) and ranges[at][0] < end:
            yield max(start, ranges[at][0]), min(end, ranges[at][1])
            if ranges[at][1] >= end:
                break
            at += 1
