"""Forks a process whose parent is this one's own parent, in one step.

`whet_stage.freeze.fork_away` comes to the same by two forks, the first of which ends at once: each
takes milliseconds where a process holds much memory. Here the kernel is asked itself (clone3(2),
CLONE_PARENT), behind the back of the C library and of Python, neither of which prepares anything.
So it is for a process that has been prepared already: one that was forked itself, has had one
thread alone since, and has run nothing but whet's own code.

Linux with glibc; elsewhere, and where the kernel forbids it, there is none. Standard library only,
Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys

from .atfork import note_forked
from .private import private_import
from .unheld import entries

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CLONE3 = 435  # on every machine
_ROBUST_LISTS = {"x86_64": (274, 273), "aarch64": (100, 99)}  # get and set, on those of 64 bits
_FLAGS = 0x8000 | 0x200000 | 0x1000000  # CLONE_PARENT, CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID
_ARGUMENTS = 11  # words of struct clone_args, with Linux 5.7
_CHILD_TID = 2  # which of them
_WORD_BYTES = 8
_GET_TID_ADDRESS = 40  # prctl(2), PR_GET_TID_ADDRESS
_OLDEST_GLIBC = (2, 31)  # before 2.25 it remembers what number a process has


class Siblings:
    """Forks siblings of this process, made ready once."""

    def __init__(self) -> None:
        self._fork: Callable[[], int] | None = None
        if _is_glibc() and os.uname().machine in _ROBUST_LISTS and sys.maxsize > 1 << 32:
            try:
                self._fork = _clone()
            except (OSError, ImportError, AttributeError):
                self._fork = None

    def fork(self) -> int:
        """Fork one.

        Returns:
            its number; 0 in the new process, -1 if there is none: `fork_away` may do it.
        """
        if self._fork is None or len(entries("/proc/self/task")) > 1:
            return -1
        pid = self._fork()
        if pid == 0:
            note_forked()
        return pid


def _is_glibc() -> bool:
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        numbers = tuple(map(int, version.split(".")[:2]))
    except (OSError, ValueError):
        return False
    return name == "glibc" and numbers >= _OLDEST_GLIBC


def _clone() -> Callable[[], int]:
    """Return what clones this process.

    Raises:
        OSError: if the kernel or the C library does not tell what is needed.
    """
    ctypes = private_import("_ctypes")
    simple = ctypes._SimpleCData  # noqa: SLF001 - `ctypes` itself takes long to import
    word = type("word", (simple,), {"_type_": "P"})
    library: int = ctypes.dlopen(None, os.RTLD_NOW)
    prctl: int = ctypes.dlsym(library, "prctl")
    syscall: int = ctypes.dlsym(library, "syscall")
    call: Callable[[int, tuple[object, ...]], int] = ctypes.call_function
    get_robust_list, set_robust_list = _ROBUST_LISTS[os.uname().machine]

    head, length, number = word(), word(), word()
    place: Callable[[object], int] = ctypes.addressof
    if call(prctl, (_GET_TID_ADDRESS, word(place(number)), word(0), word(0), word(0))):
        raise OSError
    if call(syscall, (get_robust_list, 0, word(place(head)), word(place(length)))):
        raise OSError
    words = [0] * _ARGUMENTS
    # Where the C library keeps the number of its thread; the kernel knows it to clear it.
    words[0], words[_CHILD_TID] = _FLAGS, number.value or 0
    packed = b"".join(each.to_bytes(_WORD_BYTES, "little") for each in words)
    array = type("array", (ctypes.Array,), {"_type_": _byte(simple), "_length_": len(packed)})
    arguments = array.from_buffer_copy(packed)
    given = (_CLONE3, word(place(arguments)), word(len(packed)))

    def clone() -> int:
        pid = call(syscall, given)
        if pid == 0:
            call(syscall, (set_robust_list, head, length))
        else:
            assert arguments  # it has to live as long as this function
        return pid

    return clone


def _byte(simple: type) -> type:
    return type("byte", (simple,), {"_type_": "B"})
