"""Who owns the threads that run: a fork leaves all but one behind.

Some pools of threads make themselves again in a forked copy. Each one that is let through here
has a test that shows it.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys
import time

from ..hiding.unfiltered_calls import entries, whole
from .memory import Memory, bytes_at, is_return, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection

# Between a thread's owner and the kernel; never the owner itself.
_RUNTIME = (
    "libc.so", "libc-", "libpthread", "ld-linux", "ld-", "ld64", "libm.so", "libm-", "libstdc++",
    "libc++", "libgcc_s", "[vdso]", "[vsyscall]",
)  # fmt: skip
_FUTEX = {"x86_64": 202, "aarch64": 98}.get(os.uname().machine, -1)
_READ = {"x86_64": 0, "aarch64": 63}.get(os.uname().machine, -1)
# FUTEX_WAIT and FUTEX_WAIT_BITSET, private, and FUTEX_CLOCK_REALTIME: linux/futex.h
_WAITS, _WAIT_UNTIL, _REALTIME = {0x80, 0x89}, 0x89, 0x100
_LEAST_SECONDS = 0.05  # that a thread sleeps on, for it to be at rest
_time_of = time.clock_gettime  # the program may put something else in its place
_STACK_BYTES, _TOP_BYTES = 1 << 16, 1 << 13
_SYSCALL_FIELDS = 9  # number, six arguments, stack pointer, program counter; proc(5)
_WAKER_FRAMES = 3

OPENMP = ("libgomp", "libiomp", "libomp")
_OPENBLAS = ("libopenblas", "libscipy_openblas")


class NativeThread:
    """A thread that isn't Python's.

    Attributes:
        owner: the file whose code it runs; empty: nobody knows.
        descriptor: what it waits for to be readable; -1: it doesn't.
    """

    def __init__(self, number: str, memory: Memory) -> None:
        self.descriptor = -1
        self.owner = ""
        self._comm = os.fsdecode(whole(f"/proc/self/task/{number}/comm")).strip()
        self._call = -1
        self._frames = 0
        words = whole(f"/proc/self/task/{number}/syscall").split()
        if len(words) == _SYSCALL_FIELDS:
            self._call = int(words[0])
            if self._call == _READ:
                self.descriptor = int(words[1], 16)
            self._look_at_stack(int(words[-2], 16), memory)
        # On a processor where its stack ends isn't told; asleep in what it began with, nobody called.
        self.owner = self.owner or _started_in(int(number), memory)

    def _look_at_stack(self, pointer: int, memory: Memory) -> None:
        """The first library that is no runtime's is what has put the thread to sleep.

        Numbers that look like addresses lie on a stack, too, and addresses of functions.
        """
        end = min(memory.end_of(pointer), pointer + _STACK_BYTES)
        for word in words_of(bytes_at(pointer, end)):
            file = memory.code_at(word)
            if file is not None and not _is_runtime(file) and is_return(word):
                self.owner = self.owner or file
                self._frames += 1

    def is_of(self, libraries: tuple[str, ...]) -> bool:
        """Whether its owner is one of these libraries."""
        return os.path.basename(self.owner).startswith(libraries)

    def survives_fork(self) -> bool:
        """Whether its pool makes itself again in a forked copy, as it is now."""
        if self._comm == "jemalloc_bg_thd":
            return True
        if self.is_of(_OPENBLAS):
            return True  # Python waits for its work: between two statements there is none
        if self.is_of(("libarrow.",)):
            # What a worker had in hand would be lost: one waits for work if nothing but the
            # pool's own loop is on its stack. Another thread waits to be told of a signal.
            if self._call == _FUTEX:
                return self._frames == 1
            return self._call == _READ and self._frames <= _WAKER_FRAMES
        return False

    def __str__(self) -> str:
        name = os.path.basename(self.owner)
        if name.startswith(("libpython", "python")):
            return "one of Python's own threads runs"
        if name.startswith("tokenizers."):
            return "threads of tokenizers run (TOKENIZERS_PARALLELISM=false prevents them)"
        return f"a thread of {name or 'an unknown library'} runs: {self._comm}"


def native_threads(memory: Memory) -> list[NativeThread]:
    """Return all threads but the main one, if none of them is Python's."""
    found: list[NativeThread] = []
    me = str(os.getpid())
    for number in entries("/proc/self/task"):
        if number != me:
            try:
                found.append(NativeThread(number, memory))
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has ended
    return found


def are_all_at_rest() -> bool:
    """Whether no thread but this one does anything unless this one wants it to.

    Raises:
        OSError: if that can't be told.
    """
    others = set(entries("/proc/self/task")) - {str(os.getpid())}
    awake = [number for number in others if not _is_at_rest(number)]
    if not awake:
        return True
    memory = Memory()
    # Those look for more work for a while before they sleep.
    return all(NativeThread(number, memory).is_of(OPENMP + _OPENBLAS) for number in awake)


def _is_at_rest(number: str) -> bool:
    words = whole(f"/proc/self/task/{number}/syscall").split()
    if len(words) != _SYSCALL_FIELDS or int(words[0]) != _FUTEX:
        return False
    what, until = int(words[2], 16), int(words[4], 16)
    return what & 0xFF in _WAITS and not until


def rests(thread: int, descriptors: Collection[int]) -> bool:
    """Whether a thread sleeps, and will for a while if nobody wakes it.

    One that waits for Python's global lock sleeps for moments at a time.

    Args:
        thread: the kernel's number of it.
        descriptors: what it may wait for to be readable.

    Raises:
        OSError: if that can't be told.
    """
    words = whole(f"/proc/self/task/{thread}/syscall").split()
    if len(words) != _SYSCALL_FIELDS:
        return False
    if int(words[0]) == _READ:
        return int(words[1], 16) in descriptors
    what, until = int(words[2], 16), int(words[4], 16)
    if int(words[0]) != _FUTEX or what & 0xFF not in _WAITS:
        return False
    if not until:
        return True
    if what & 0xFF != _WAIT_UNTIL:
        return False  # it says how long, not until when
    seconds, nanoseconds = words_of(bytes_at(until, until + 16))
    now = _time_of(time.CLOCK_REALTIME if what & _REALTIME else time.CLOCK_MONOTONIC)
    return seconds + nanoseconds / 1e9 - now > max(_LEAST_SECONDS, 3 * sys.getswitchinterval())


def _is_runtime(file: str) -> bool:
    return os.path.basename(file).startswith(_RUNTIME)


def _started_in(number: int, memory: Memory) -> str:
    """Return the file of the function that a thread began with; empty if it isn't found.

    The C library keeps it above the thread's number, at the upper end of the thread's stack.
    """
    pattern = number.to_bytes(4, sys.byteorder)
    for end in memory.stack_ends():
        top = bytes_at(end - _TOP_BYTES, end)
        at = top.rfind(pattern)
        if at < 0:
            continue
        for word in words_of(top[(at + 8) & -8 :]):
            file = memory.code_at(word)
            if file is not None and not _is_runtime(file):
                return file
    return ""
