"""Gets a waiting copy the pages of its own that a run from the same snapshot wrote to before.

A forked process shares each page until one of the two writes to it. Then the kernel stops it, and
copies that page: thousands of times in the first milliseconds of a run. A copy that waits to run on
can have that done while nobody waits for it. What the pages hold does not change.

Linux 5.14 or later; where the kernel cannot do it, nothing is done. Standard library only, Python
3.9 or later.
"""

from __future__ import annotations

import os

from .private import private_import
from .unheld import MAGIC_FOLDER, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_PAGES = 8192
"""A copy that waits takes no more than so many: 32 MiB."""

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_ENTRY_BYTES = 8  # of /proc/PID/pagemap
_OWN = b"\x81"  # the highest byte of one: in memory, and mapped by no other process
_STRETCHES = 64  # so many take a third of a millisecond
_POPULATE_WRITE = 23  # MADV_POPULATE_WRITE, madvise(2)


def pages_written() -> list[int]:
    """Return the pages that this process has alone, each stretch as its first address and its end.

    Nothing if there are more than are worth it, or the kernel does not tell.
    """
    found: list[int] = []
    left = MOST_PAGES
    stretches = private_import("re").compile(_OWN + b"+").finditer
    try:
        pagemap = os.open("/proc/self/pagemap", os.O_RDONLY | os.O_CLOEXEC, dir_fd=MAGIC_FOLDER)
    except OSError:
        return []
    try:
        for start, end in _private_memory():
            count = (end - start) // _PAGE_BYTES * _ENTRY_BYTES
            entries = os.pread(pagemap, count, start // _PAGE_BYTES * _ENTRY_BYTES)
            for stretch in stretches(entries[_ENTRY_BYTES - 1 :: _ENTRY_BYTES]):
                first, last = stretch.span()
                left -= last - first
                if left < 0:
                    return []
                found += (start + first * _PAGE_BYTES, start + last * _PAGE_BYTES)
    except OSError:
        return []
    finally:
        os.close(pagemap)
    return found


def prefault(pages: list[int], is_wanted: Callable[[], bool]) -> None:
    """Get this process pages of its own, those that it has; stop when it is wanted elsewhere.

    Args:
        pages: as `pages_written` returns them.
        is_wanted: whether it is.
    """
    if not pages:
        return
    ctypes = private_import("_ctypes")
    address = type("address", (ctypes._SimpleCData,), {"_type_": "P"})
    try:
        library: int = ctypes.dlopen(None, os.RTLD_NOW)
        advise: int = ctypes.dlsym(library, "madvise")
    except OSError:
        return
    memory = list(_private_memory())
    at = 0
    for number, (first, last) in enumerate(zip(pages[::2], pages[1::2])):
        while at < len(memory) and memory[at][1] <= first:
            at += 1
        # What has been mapped since, or is shared, is none of this process's own.
        if at == len(memory):
            return
        start, end = max(first, memory[at][0]), min(last, memory[at][1])
        if start < end:
            ctypes.call_function(advise, (address(start), address(end - start), _POPULATE_WRITE))
        if not number % _STRETCHES and is_wanted():
            return


def _private_memory() -> Iterator[tuple[int, int]]:
    """Yield the start and end of what this process may write to, and shares with none."""
    for line in whole("/proc/self/maps").splitlines():
        words = line.split(None, 2)
        if words[1] == b"rw-p":
            start, _, end = words[0].partition(b"-")
            yield int(start, 16), int(end, 16)
