"""The system calls in which the threads of a process wait, as proc(5) shows them."""

import os
import platform
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from whet.core.value_class import value_class

READ, WRITE, END, LOCK = "read", "write", "end", "lock"
_FUTEX, _FOREVER = "futex", "forever"
# wait4 and waitid; flock and fcntl; pause, openat (a FIFO without its other end) have no timeout at all.
_CALLS = {
    "x86_64": {202: _FUTEX, 0: READ, 1: WRITE, 61: END, 247: END, 34: _FOREVER, 73: LOCK,
               72: LOCK, 257: _FOREVER, 130: _FOREVER},
    "aarch64": {98: _FUTEX, 63: READ, 64: WRITE, 260: END, 95: END, 32: LOCK, 25: LOCK,
                56: _FOREVER, 133: _FOREVER},
}  # fmt: skip
_FUTEX_TIMEOUT = 3
_WAITID, _ONE = {247, 95}, 1
_FCNTL, _WAITING_COMMANDS = {72, 25}, {7, 38}  # F_SETLKW and F_OFD_SETLKW
_BITS = 64


@value_class
class BlockedCall:
    """What one thread waits in.

    Attributes:
        thread: the kernel's number of it.
        kind: `READ` or `WRITE` of a pipe, `END` of a child, `LOCK` of a file; empty: something else.
        target: the pipe or the file as proc(5) names it, or the number of the child; empty: any child,
            or something else.
        descriptor: of the pipe or the file; -1: neither.
        is_endless: only another thread or process can end it.
    """

    thread: int
    kind: str = ""
    target: str = ""
    descriptor: int = -1
    is_endless: bool = False


def blocked_calls(pid: int) -> tuple[BlockedCall, ...]:
    """Return what each thread of a process waits in; one that runs waits in nothing endless.

    There is at least one, which waits in nothing, where whet can't look or a thread ends meanwhile.
    """
    return tuple(_calls_of(pid))


def _calls_of(pid: int) -> Iterator[BlockedCall]:
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            line = (thread / "syscall").read_text("ascii", "replace")
            yield _call(pid, int(thread.name), line)
        return
    yield BlockedCall(0)


def _call(pid: int, thread: int, line: str) -> BlockedCall:
    """Read a line of /proc/PID/syscall: the call's number, and its six arguments."""
    number, *arguments = line.split() or [""]
    if not number.isdigit():
        return BlockedCall(thread)
    kind = _CALLS.get(platform.machine(), {}).get(int(number))
    values = [int(each, 16) for each in arguments]
    if kind == _FUTEX:
        return BlockedCall(thread, is_endless=values[_FUTEX_TIMEOUT] == 0)
    if kind in {READ, WRITE}:
        with suppress(OSError):
            pipe = os.readlink(f"/proc/{pid}/fd/{values[0]}")
            if pipe.startswith("pipe:"):
                return BlockedCall(thread, kind, pipe, values[0], is_endless=True)
        return BlockedCall(thread)
    if kind == LOCK:
        is_endless = int(number) not in _FCNTL or values[1] in _WAITING_COMMANDS
        return _lock(pid, thread, values[0]) if is_endless else BlockedCall(thread)
    if kind == END:
        is_one, child = (
            (values[0] == _ONE, values[1]) if int(number) in _WAITID else (True, values[0])
        )
        is_one = is_one and child != 0 and not child >> (_BITS - 1)
        return BlockedCall(thread, END, str(child) if is_one else "", is_endless=True)
    return BlockedCall(thread, is_endless=kind == _FOREVER)


def _lock(pid: int, thread: int, descriptor: int) -> BlockedCall:
    """Return that a thread waits for the lock of a file."""
    with suppress(OSError):
        file = os.readlink(f"/proc/{pid}/fd/{descriptor}")
        return BlockedCall(thread, LOCK, file, descriptor, is_endless=True)
    return BlockedCall(thread, is_endless=True)
