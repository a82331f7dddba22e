"""What the kernel and the processor count of a program: perf_event_open(2)."""

import os
import struct
import sys

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from ctypes import CDLL

INSTRUCTIONS, PAGE_FAULTS = "instructions", "page_faults"

_HARDWARE, _SOFTWARE = 0, 1
_EVENTS = {INSTRUCTIONS: (_HARDWARE, 1), PAGE_FAULTS: (_SOFTWARE, 2)}  # linux/perf_event.h
COUNTED = tuple(_EVENTS)
"""The names of what can be counted."""

_NUMBERS = {"x86_64": 298, "aarch64": 241}
# type, size, config, sample period and type, read format, flags; all that is newer stays zero
_ATTRIBUTES = struct.Struct("=IIQQQQQ")
_SIZE = 64  # of the first version of the structure, which every kernel takes
_TIMES = 1 | 2  # how long the event was enabled, and how long it was counted
_DISABLED, _INHERIT, _EXCLUDE_KERNEL = 1 << 0, 1 << 1, 1 << 5
_EXCLUDE_HYPERVISOR, _ENABLE_ON_EXEC = 1 << 6, 1 << 12
_ANY_PROCESSOR, _NO_GROUP, _CLOSE_ON_EXEC = -1, -1, 8
_READ = struct.Struct("=QQQ")
_PARANOID = "/proc/sys/kernel/perf_event_paranoid"


class Counter:
    """Counts one event in every program that a child of this process becomes, and all that it starts.

    A fork inherits the counter, and `execve` turns it on: so neither this process is counted, nor
    what the child does before it is the program.
    """

    def __init__(self, name: str) -> None:
        """Open it; only children forked from now on are counted.

        Raises:
            OSError: if this machine doesn't count that, or not for this user.
        """
        import ctypes  # takes longer than all other imports of a spawner

        kind, config = _EVENTS[name]
        flags = _DISABLED | _INHERIT | _EXCLUDE_KERNEL | _EXCLUDE_HYPERVISOR | _ENABLE_ON_EXEC
        attributes = _ATTRIBUTES.pack(kind, _SIZE, config, 0, 0, _TIMES, flags).ljust(_SIZE, b"\0")
        library: CDLL = ctypes.CDLL(None, use_errno=True)
        self._descriptor: int = library.syscall(
            ctypes.c_long(_number()), attributes, 0, _ANY_PROCESSOR, _NO_GROUP,
            ctypes.c_ulong(_CLOSE_ON_EXEC),
        )  # fmt: skip
        if self._descriptor < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))

    def close(self) -> int | None:
        """Return the number, and count no longer.

        None: nothing ran, or the processor counted only for a part of the time, as it had others to count.
        """
        try:
            count, enabled, counted = _READ.unpack(os.read(self._descriptor, _READ.size))
        finally:
            os.close(self._descriptor)
        return int(count) if enabled and counted == enabled else None


def why_not_counted(name: str) -> str:
    """Return why something can't be counted here, to go after a colon; empty: it can."""
    try:
        Counter(name).close()
    except PermissionError as error:
        setting = f"perf_event_paranoid is {_paranoia()}"
        return f"the system forbids to count them (perf_event_open: {error.strerror}; {setting})"
    except OSError as error:
        return f"this machine doesn't count them (perf_event_open: {error.strerror})"
    return ""


def _number() -> int:
    """Return the number of the system call; -1, which no kernel has: the machine isn't known."""
    return _NUMBERS.get(os.uname().machine, -1) if sys.maxsize > 1 << 32 else -1


def _paranoia() -> str:
    try:
        with open(_PARANOID, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return "not readable"
