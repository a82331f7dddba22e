"""What is mapped into this process: libraries, shared memory, the stacks of threads.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_FIELDS = 6  # of a line in /proc/PID/maps that names a file; proc(5)
_PART = 1 << 16


class Memory:
    """The mappings of this process, as they are when this is made.

    A process with torch has a thousand of them, of which few matter: lines are looked for, not
    taken apart one by one.
    """

    def __init__(self) -> None:
        self._text = whole("/proc/self/maps")
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._names: list[str] = []
        for words in self._lines(b"xp "):
            start, _, end = words[0].partition(b"-")
            self._starts.append(int(start, 16))
            self._ends.append(int(end, 16))
            self._names.append(_name(words))

    def _lines(self, flags: bytes) -> Iterator[list[bytes]]:
        """Yield the fields of the mappings whose flags end so."""
        text = self._text
        at = text.find(flags)
        while at >= 0:
            start, end = text.rfind(b"\n", 0, at) + 1, text.find(b"\n", at)
            words = text[start:end].split(None, _FIELDS - 1)
            if words[1].endswith(flags.strip()):
                yield words
            at = text.find(flags, end)

    def shared(self) -> str:
        """Return the name of memory that is written to and shared; empty if there is none."""
        for flags in (b"w-s ", b"wxs "):
            for words in self._lines(flags):
                return _name(words) or "without a name"
        return ""

    def libraries(self) -> set[str]:
        """Return the files that hold code."""
        return {name for name in self._names if name.startswith("/")}

    def code_at(self, address: int) -> str | None:
        """Return the file whose code an address is in, or None; empty: code in no file."""
        low, high = 0, len(self._starts)
        while low < high:  # `bisect` is a module of its own
            middle = (low + high) // 2
            if self._starts[middle] <= address:
                low = middle + 1
            else:
                high = middle
        if low == 0 or address >= self._ends[low - 1]:
            return None
        return self._names[low - 1]

    def end_of(self, address: int) -> int:
        """Return the end of the mapping that an address is in; 0 if it is in none."""
        for line in self._text.splitlines():
            start, _, end = line[: line.index(b" ")].partition(b"-")
            if int(start, 16) <= address < int(end, 16):
                return int(end, 16)
        return 0

    def stack_ends(self) -> Iterator[int]:
        """Yield the ends of what may be threads' stacks: they lie above a page that none may use."""
        guard = b""
        for line in self._text.splitlines():
            start, _, end = line[: line.index(b" ")].partition(b"-")
            if start == guard and line.find(b" rw-p ", len(start)) >= 0:
                yield int(end, 16)
            guard = end if line.find(b" ---p ", len(start)) >= 0 else b""


def words_at(start: int, end: int) -> list[int]:
    """Return the words of this process's memory from an address on."""
    memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = os.pread(memory, end - start, start)
    finally:
        os.close(memory)
    return memoryview(data[: len(data) & -8]).cast("Q").tolist()


def whole(path: str) -> bytes:
    """Return a file of `/proc`, which gives a page at a time."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts: list[bytes] = []
        while part := os.read(file, _PART):
            parts.append(part)
    finally:
        os.close(file)
    return b"".join(parts)


def _name(words: list[bytes]) -> str:
    return os.fsdecode(words[_FIELDS - 1]) if len(words) == _FIELDS else ""
