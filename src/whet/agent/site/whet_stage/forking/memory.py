"""What is mapped into this process: libraries, shared memory, the stacks of threads.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os

from ..hiding.private import private_import
from ..hiding.unfiltered_calls import MAGIC_FOLDER, whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BRANCHES = ((0xFC000000, 0x94000000), (0xFFFFFC1F, 0xD63F0000))  # BL and BLR of Arm
# Instructions of x86-64: the call of a place, and by a register or a word in memory, with its forms.
_CALL, _CALL_BY, _CALL_FORM, _SIZES_OF_CALL_BY, _LONGEST_CALL = 0xE8, 0xFF, 2, (2, 3, 4, 6, 7), 7
_EIO = 5
_DELETED, _MOST_SHARED_BYTES = " (deleted)", 64 << 20
_FIELDS = 6  # of a line in /proc/PID/maps that names a file; proc(5)


class SharedMemory:
    """Memory that no other process has: where it is, and which part of which file without a name.

    Attributes:
        descriptor: one of the file's; -1: it isn't open.
    """

    def __init__(self, start: int, end: int, offset: int, name: str, file: list[bytes]) -> None:
        self.start, self.end, self.offset = start, end, offset
        self._name, self._file = name, file
        self.descriptor = -1

    def is_of(self, name: str, number: int) -> bool:
        """Whether it is memory of the file that a descriptor leads to."""
        found = os.fstat(number)
        device = b"%02x:%02x" % (os.major(found.st_dev), os.minor(found.st_dev))
        return (name, [device, b"%d" % found.st_ino]) == (self._name, self._file)


class Memory:
    """The mappings of this process, as they are when this is made.

    A process with torch has a thousand of them, of which few matter: lines are looked for, not
    taken apart one by one.
    """

    def __init__(self) -> None:
        self._text = whole("/proc/self/maps")
        self._all = self._text.splitlines()
        self._bisect: Callable[[list[int], int], int] = private_import("_bisect").bisect_right
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

    def shared(self) -> tuple[str, list[SharedMemory]]:
        """Return memory that is written to and shared with others; and what is shared with none.

        What has no name any more can be had by those alone who have it already: by this process,
        if it has no children. Where it is mapped twice, one place shows what is written to the other.

        Returns:
            its name, empty if there is none; and the rest.
        """
        own: list[SharedMemory] = []
        left = _MOST_SHARED_BYTES
        for flags in (b"w-s ", b"wxs "):
            for words in self._lines(flags):
                name = _name(words)
                file = b" ".join(words[3:5]) + b" "
                start, end = (int(each, 16) for each in words[0].split(b"-"))
                left -= end - start
                is_own = name.endswith(_DELETED) and self._text.count(file) == 1
                if flags == b"wxs " or not is_own or name.startswith("/SYSV") or left < 0:
                    return name or "without a name", []
                own.append(SharedMemory(start, end, int(words[2], 16), name, words[3:5]))
        return "", own

    def holds(self, path: str) -> bool:
        """Whether a file is mapped; one without a name is named as its descriptor is."""
        return self._text.find(b" " + os.fsencode(path) + b"\n") >= 0

    def libraries(self) -> set[str]:
        """Return the files that hold code."""
        return {name for name in self._names if name.startswith("/")}

    def code_at(self, address: int) -> str | None:
        """Return the file whose code an address is in, or None; empty: code in no file."""
        at = self._bisect(self._starts, address) - 1
        return self._names[at] if at >= 0 and address < self._ends[at] else None

    def end_of(self, address: int) -> int:
        """Return the end of the mapping that an address is in; the address if it is in none."""
        low, high = 0, len(self._all)
        while low < high:
            middle = (low + high) // 2
            start, end = _range(self._all[middle])
            if start <= address < end:
                return end
            low, high = (middle + 1, high) if end <= address else (low, middle)
        return address

    def stack_ends(self) -> Iterator[int]:
        """Yield the ends of what may be threads' stacks: they lie above a page that none may use."""
        for index, line in enumerate(self._all[:-1]):
            if line.find(b" ---p ", 0, 60) >= 0:
                above = self._all[index + 1]
                (_, end), (start, top) = _range(line), _range(above)
                if start == end and above.find(b" rw-p ", 0, 60) >= 0:
                    yield top


def _range(line: bytes) -> tuple[int, int]:
    start, _, end = line[: line.index(b" ")].partition(b"-")
    return int(start, 16), int(end, 16)


def bytes_at(start: int, end: int) -> bytes:
    """Return a part of this process's memory; nothing if it is none any more."""
    memory = os.open("/proc/self/mem", os.O_RDONLY | os.O_CLOEXEC, dir_fd=MAGIC_FOLDER)
    try:
        return os.pread(memory, end - start, start)
    except OSError as error:
        if error.errno != _EIO:
            raise
        return b""  # a thread has ended since, and its stack with it
    finally:
        os.close(memory)


def is_return(address: int) -> bool:
    """Whether a function may return to an address in code: a call stands before it."""
    try:
        before = bytes_at(address - _LONGEST_CALL, address)
    except OSError:
        return False
    if len(before) < _LONGEST_CALL:
        return False
    if os.uname().machine == "aarch64":
        word = int.from_bytes(before[-4:], "little")
        return any(word & mask == value for mask, value in _BRANCHES)
    if before[-5] == _CALL:
        return True
    return any(
        before[-size] == _CALL_BY and before[1 - size] >> 3 & 7 == _CALL_FORM
        for size in _SIZES_OF_CALL_BY
    )


def words_of(data: bytes) -> list[int]:
    """Return a part of memory as addresses."""
    return memoryview(data[: len(data) & -8]).cast("Q").tolist()


def _name(words: list[bytes]) -> str:
    return os.fsdecode(words[_FIELDS - 1]) if len(words) == _FIELDS else ""
