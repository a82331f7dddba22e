"""Calls of the C library and of the kernel for which Python has no function.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os

from ..hiding.private import private_import
from ..hiding.typed import cast
from ..hiding.unfiltered_calls import MAGIC_FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_MEMORY = "/proc/self/mem"
_PTRACE = {"x86_64": 101}.get(os.uname().machine, -1)
_written_to = os.pwrite  # the program may put something else in its place


class KernelCalls:
    """What calls them; each argument is a whole number or a buffer."""

    def __init__(self) -> None:
        """Find them.

        Raises:
            OSError: if this Python can't call them.
        """
        try:
            ctypes = private_import("_ctypes")
            simple: type = vars(ctypes)["_SimpleCData"]
            self._call: Callable[[int, tuple[object, ...]], int] = vars(ctypes)["call_function"]
            self._find: Callable[[int, str], int] = vars(ctypes)["dlsym"]
            self._library: int = vars(ctypes)["dlopen"](None, os.RTLD_NOW)
            # `ctypes` itself takes long to import.
            self._word = type("word", (simple,), {"_type_": "P"})
        except (ImportError, TypeError, KeyError) as error:
            raise OSError(f"this Python can't call C libraries: {error}") from None
        self._syscall = self.find("syscall")

    def find(self, name: str) -> int:
        """Return the address of a function of the C library.

        Raises:
            OSError: if it has none of that name.
        """
        return self._find(self._library, name)

    def at(self, function: int, *arguments: int | bytes) -> int:
        """Call the function at an address; return its result, cut to 32 bits."""
        word = cast("Callable[[int], object]", self._word)
        given = (each if isinstance(each, bytes) else word(each) for each in arguments)
        return self._call(function, tuple(given))

    def kernel(self, number: int, *arguments: int | bytes) -> int:
        """Make a system call; return its result, -1 if it has failed."""
        return self.at(self._syscall, number, *arguments)

    def trace(self, request: int, thread: int, what: int | bytes, to: int | bytes) -> int:
        """Make a request of ptrace(2), tagged as whet's own.

        Raises:
            OSError: if the kernel refuses.
        """
        found = self.kernel(_PTRACE, request, thread, what, to, MAGIC_FOLDER)
        if found < 0:
            raise OSError(f"the kernel doesn't show its threads (ptrace request {request})")
        return found


def buffer(size: int) -> bytes:
    """Return memory to which the kernel writes: of its own, as no two others are."""
    return bytes(bytearray(size))


def address_of(data: bytes) -> int:
    """Return where a buffer is; the caller keeps it alive."""
    return id(data) + bytes.__basicsize__ - 1


def write_at(address: int, data: bytes) -> None:
    """Write into this process's own memory.

    Raises:
        OSError: if there is none.
    """
    memory = os.open(_MEMORY, os.O_RDWR | os.O_CLOEXEC, dir_fd=MAGIC_FOLDER)
    try:
        if _written_to(memory, data, address) != len(data):
            raise OSError("a thread has no space on its stack")
    finally:
        os.close(memory)
