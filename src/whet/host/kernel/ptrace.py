"""Following other processes from call to call with ptrace(2): attached, and stopped only briefly.

One thread makes all of these calls, because the kernel accepts only the thread that attached.
"""

import ctypes
import os
import struct

from whet.core.value_class import value_class
from whet.host.kernel.syscalls import machine

# linux/ptrace.h, sys/wait.h
_CONT, _DETACH, _SYSCALL = 7, 17, 24
_GETREGS, _GETEVENTMSG = 12, 0x4201
_SEIZE, _INTERRUPT, _LISTEN, _CALL_INFO = 0x4206, 0x4207, 0x4208, 0x420E
_GOOD, _FORK, _VFORK, _CLONE, _EXEC, _SECCOMP = 1, 2, 4, 8, 16, 128
_EXITKILL = 1 << 20
_WALL, _WNOTHREAD = 0x40000000, 0x20000000
_STOPPED = 0x7F

EVENT_FORK, EVENT_VFORK, EVENT_CLONE, EVENT_EXEC, EVENT_SECCOMP = 1, 2, 3, 4, 7
EVENT_STOP = 128
CALL_STOP = 0x85
"""Signal number of a stop at the border of a system call."""

BEGINS = EVENT_SECCOMP << 16 | 5 << 8 | _STOPPED
ENDS = CALL_STOP << 8 | _STOPPED
"""A filtered thread's status where a call starts (signal 5 is SIGTRAP), and where it ends."""

_INFO_BYTES = 88
_HEAD = struct.Struct("=B3xIQQ")  # what it is, architecture, where in the program, stack
_ENTRY = struct.Struct("=7Q")  # number, arguments
_EXIT = struct.Struct("=qB")  # value, whether it is an error
_IS_ENTRY, _IS_EXIT, _IS_SECCOMP = 1, 2, 3

# struct user_regs_struct of x86_64: rax has place 10, and orig_rax place 15.
_REGISTERS, _RESULT = struct.Struct("=27Q"), struct.Struct("=q32xq")
_RAX = 10 * 8
_ARGUMENTS = (14, 13, 12, 7, 9, 8)


@value_class
class Call:
    """A system call: its number, -1 for none, and its arguments."""

    number: int
    arguments: tuple[int, ...]


class Tracer:
    """The processes that one thread follows.

    Attributes:
        is_filtered: calls announce themselves by a seccomp filter of the process's own; otherwise
            it is stopped at each of its calls.
    """

    def __init__(
        self, *, is_filtered: bool, kills_at_end: bool, reads_registers: bool | None = None
    ) -> None:
        """Make a tracer.

        Args:
            is_filtered: processes announce their calls by a filter of their own.
            kills_at_end: whatever is followed ends with this process.
            reads_registers: at the end of a call they tell all of it, in half the time; None: where
                that is so.
        """
        self.is_filtered = is_filtered
        self._reads_registers = (
            machine() == "x86_64" if reads_registers is None else reads_registers
        )
        self._options = _GOOD | _FORK | _VFORK | _CLONE | _EXEC | _SECCOMP
        self._options |= _EXITKILL if kills_at_end else 0
        library = ctypes.CDLL(None, use_errno=True)
        library.ptrace.argtypes = [ctypes.c_long] * 4
        library.ptrace.restype = ctypes.c_long
        self._ptrace = library.ptrace
        # For what is done at each stop: no lock is let go of for it, and no error is asked for.
        quick = ctypes.PyDLL(None)
        quick.ptrace.argtypes = [ctypes.c_long] * 4
        quick.ptrace.restype = ctypes.c_long
        self._quick = quick.ptrace
        self._buffer = ctypes.create_string_buffer(max(_REGISTERS.size, _INFO_BYTES))
        self._address = ctypes.addressof(self._buffer)
        self._begun: dict[int, Call] = {}
        self._last: tuple[int, ...] = ()

    def seize(self, tid: int) -> None:
        """Follow a thread, and all threads and processes that it starts from now on.

        Raises:
            OSError: if the system refuses it.
        """
        if self._ptrace(_SEIZE, tid, 0, self._options):
            error = ctypes.get_errno()
            raise OSError(error, os.strerror(error), "ptrace")

    def interrupt(self, tid: int) -> bool:
        """Stop a thread soon; return whether it is there."""
        return not self._ptrace(_INTERRUPT, tid, 0, 0)

    def detach(self, tid: int, signal: int = 0) -> bool:
        """Follow a stopped thread no longer; return whether it was stopped."""
        return not self._ptrace(_DETACH, tid, 0, signal)

    def wait(self) -> tuple[int, int] | None:
        """Return the next thread that stopped or ended and its status; None: there is none left."""
        try:
            return os.waitpid(-1, _WALL | _WNOTHREAD)
        except ChildProcessError:
            return None

    def go_on(self, tid: int, *, to_border: bool, signal: int = 0) -> None:
        """Let a thread run to its next stop; to the border of a system call if asked.

        It ignores one that is gone: `wait` reports its end.
        """
        self._quick(_SYSCALL if to_border else _CONT, tid, 0, signal)

    def listen(self, tid: int) -> None:
        """Leave a thread stopped that a signal has stopped, until another one wakes it."""
        self._ptrace(_LISTEN, tid, 0, 0)

    def event_number(self, tid: int) -> int:
        """Return what an event is about: the thread that was started, or that was there before."""
        message = ctypes.c_ulong()
        self._ptrace(_GETEVENTMSG, tid, 0, ctypes.addressof(message))
        return message.value

    def begun(self, tid: int) -> Call | None:
        """Return the call that a thread stopped at the beginning of; None: it is at an end."""
        self._ptrace(_CALL_INFO, tid, _INFO_BYTES, self._address)
        kind = self._buffer.raw[0]
        if kind not in {_IS_ENTRY, _IS_SECCOMP}:
            return None
        number, *arguments = _ENTRY.unpack_from(self._buffer, _HEAD.size)
        return Call(number, tuple(arguments))

    def note_begin(self, tid: int) -> None:
        """At the beginning of a call: keep what doesn't exist any more at its end."""
        if not self._reads_registers:
            call = self.begun(tid)
            if call is not None:
                self._begun[tid] = call

    def ended(self, tid: int) -> tuple[int, int]:
        """At the end of a call: return its number and its value, negative for an error.

        Of no call, as at the end of a signal's handler, the number is -1.
        """
        if not self._reads_registers:
            return self._ended_by_info(tid)
        if self._quick(_GETREGS, tid, 0, self._address):
            return -1, 0
        value, number = _RESULT.unpack_from(self._buffer, _RAX)
        return number, value

    def arguments(self) -> tuple[int, ...]:
        """Return the arguments of the call that `ended` reported last."""
        if not self._reads_registers:
            return self._last
        registers = _REGISTERS.unpack_from(self._buffer)
        return tuple(registers[place] for place in _ARGUMENTS)

    def _ended_by_info(self, tid: int) -> tuple[int, int]:
        call = self._begun.pop(tid, None)
        self._ptrace(_CALL_INFO, tid, _INFO_BYTES, self._address)
        if call is None or self._buffer.raw[0] != _IS_EXIT:
            return -1, 0
        self._last = call.arguments
        value, _ = _EXIT.unpack_from(self._buffer, _HEAD.size)
        return call.number, value


def stop_of(status: int) -> tuple[int, int] | None:
    """Return signal and event of a stop; None: the thread has ended."""
    if status & 0xFF != _STOPPED:
        return None
    return (status >> 8) & 0xFF, status >> 16
