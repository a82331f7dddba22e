"""Lets the kernel ask before each system call with which a program reads or changes files: seccomp(2).

The filter is a short program that the kernel runs at every system call. It lets most calls pass and
holds the others until the owner of the *listener* answers. It applies to the process that installs it
and to all of its children.
"""

import ctypes
import errno
import os
import struct

from whet.host.kernel.syscalls import (
    ARCHITECTURES,
    MAGIC_FLAGS,
    MAGIC_FOLDER,
    calls,
    machine,
    release,
    seccomp_number,
)

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from typing import TypeAlias

    Instruction: TypeAlias = tuple[int, int, int, int]

# linux/bpf_common.h, linux/seccomp.h, linux/prctl.h
_LOAD, _EQUAL, _NOT_BELOW, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _ASK, _TELL = 0x7FFF0000, 0x7FC00000, 0x7FF00000
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_SET_MODE_FILTER, _NEW_LISTENER, _WAIT_KILLABLE = 1, 1 << 3, 1 << 5
_PR_SET_NO_NEW_PRIVS = 38
_DONTFORK = 10  # madvise(2): a copy has nothing there
_X32 = 0x40000000


class Filter:
    """What a process installs; made ready in the process that forks it."""

    def __init__(self, program: "Sequence[Instruction] | bytes | None" = None) -> None:
        code = program if isinstance(program, bytes) else packed(program or instructions())
        # struct sock_fprog: how many instructions, and where they are.
        self._code = ctypes.create_string_buffer(code, len(code))
        self._program = struct.pack("HP", len(code) // 8, ctypes.addressof(self._code))
        self._call = ctypes.CDLL(None, use_errno=True).syscall
        self._control = ctypes.CDLL(None, use_errno=True).prctl

    def install(self, *, asks: bool = True) -> "tuple[int, int]":
        """Watch this process from now on, forever.

        Args:
            asks: the owner of the listener answers; otherwise a tracer gets it.

        Returns:
            the listener and 0; or -1 and the error number, when the kernel refuses.
        """
        flags = _NEW_LISTENER | _WAIT_KILLABLE if asks else 0
        listener = self._try(flags)
        if listener == -errno.EACCES:
            # Without CAP_SYS_ADMIN: only for a process whose programs gain no rights by `setuid`.
            self._control(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
            listener = self._try(flags)
        if listener == -errno.EINVAL:  # a kernel before 5.19
            listener = self._try(_NEW_LISTENER)
        return (listener, 0) if listener >= 0 else (-1, -listener)

    def _try(self, flags: int) -> int:
        listener: int = self._call(seccomp_number(), _SET_MODE_FILTER, flags, self._program)
        return listener if listener >= 0 else -ctypes.get_errno()


def packed(program: "Sequence[Instruction]") -> bytes:
    """Return a program as the kernel takes it."""
    return b"".join(
        operation.to_bytes(2, "little") + bytes((yes, no)) + value.to_bytes(4, "little")
        for operation, yes, no, value in program
    )


def why_not() -> str:
    """Return why no program can be watched here; empty if it is worth a try."""
    if machine() not in ARCHITECTURES:
        return f"whet doesn't know the system calls of {machine()}"
    return "" if release() >= (5, 5) else f"Linux {os.uname().release} is older than 5.5"


def instructions() -> "list[Instruction]":
    """Return the filter's program."""
    numbers = {call[0]: number for number, call in calls().items()}
    special = {
        numbers["newfstatat"]: _tagged(0, MAGIC_FOLDER),
        numbers["openat"]: _tagged(0, MAGIC_FOLDER),
        numbers["readlinkat"]: _tagged(0, MAGIC_FOLDER),
        numbers["sendmsg"]: _tagged(2, MAGIC_FLAGS),
        numbers["ptrace"]: _tagged(4, MAGIC_FOLDER),  # it has four arguments
        numbers["sendto"]: _addressed(),
        numbers["madvise"]: _tagged(2, _DONTFORK, asks=True),
    }
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, ARCHITECTURES[machine()]),
        (_RETURN, 0, 0, _ASK),  # whet can't decode a foreign call
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine() == "x86_64":
        program += [(_NOT_BELOW, 0, 1, _X32), (_RETURN, 0, 0, _ASK)]
    for number in calls():
        answer = special.get(number, [(_RETURN, 0, 0, _ASK)])
        program += [(_EQUAL, 0, len(answer), number), *answer]
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def holding(numbers: "Collection[int]") -> "list[Instruction]":
    """Return the program of a filter that holds these calls alone, made in this machine's own way."""
    return _answering(numbers, _ASK, {})


def telling(
    numbers: "Collection[int]", shortened: "Mapping[int, Sequence[Instruction]]"
) -> "list[Instruction]":
    """Return the program of a filter that stops a followed process at these calls (ptrace(2)).

    Args:
        numbers: of the calls, those of this machine's own way.
        shortened: what comes before the answer for some of them; it may let them pass.
    """
    return _answering(numbers, _TELL, shortened)


def _answering(
    numbers: "Collection[int]", answer: int, before: "Mapping[int, Sequence[Instruction]]"
) -> "list[Instruction]":
    program: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, ARCHITECTURES[machine()]),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _NUMBER),
    ]
    for number in numbers:
        steps = [*before.get(number, ()), (_RETURN, 0, 0, answer)]
        program += [(_EQUAL, 0, len(steps), number), *steps]
    return [*program, (_RETURN, 0, 0, _ALLOW)]


def passing(argument: int, values: "Sequence[int]") -> "list[Instruction]":
    """Return what lets a call pass whose argument is one of these."""
    program: list[Instruction] = [(_LOAD, 0, 0, _ARGUMENTS + 8 * argument)]
    for value in values:
        program += [(_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
    return program


def passing_below(argument: int, least: int) -> "list[Instruction]":
    """Return what lets a call pass whose argument is less."""
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * argument + 4),
        (_EQUAL, 0, 3, 0),
        (_LOAD, 0, 0, _ARGUMENTS + 8 * argument),
        (_NOT_BELOW, 1, 0, least),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _tagged(argument: int, tag: int, *, asks: bool = False) -> "list[Instruction]":
    """Let a call with this argument pass, and ask about others; or the other way round."""
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * argument),
        (_EQUAL, int(asks), int(not asks), tag),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ASK),
    ]


def _addressed() -> "list[Instruction]":
    """`sendto` with an address: the fifth argument is no null pointer."""
    return [
        (_LOAD, 0, 0, _ARGUMENTS + 8 * 4),
        (_EQUAL, 0, 3, 0),
        (_LOAD, 0, 0, _ARGUMENTS + 8 * 4 + 4),
        (_EQUAL, 0, 1, 0),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _ASK),
    ]
