"""Tells whet how the program ends before the kernel takes its memory apart.

That takes a forked copy of a large program milliseconds, in which nothing more is to be learnt:
the user, or the next trial, need not wait for it. By then the process has to be one that can do
nothing more, and that holds nothing which the next one could want.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _socket
import os
import time

from ..hiding.private import is_alone, private_import
from ..hiding.unfiltered_calls import close, entries, whole
from .freeze import send
from .threads import are_all_at_rest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# The program may put something else in their place.
_waitid, _times, _process_time = os.waitid, os.times, time.process_time
_signal = private_import("_signal")
_SIGNALS: Iterable[int] = _signal.valid_signals()
_hold_back: Callable[[int, Iterable[int]], object] = _signal.pthread_sigmask
_BLOCK = 0  # SIG_BLOCK, asm-generic/signal-defs.h
_ALL_KINDS = 0x40000000  # __WALL, linux/wait.h: also of children that end without SIGCHLD
_PEAK = b"VmHWM:"


def tell_how_it_ends(address: str, code: int) -> None:
    """Tell whet, if all is done but for the kernel's part; close all files first.

    Files that are open may be locked, and a socket keeps its port, until their last descriptor is
    closed, which the kernel does after it has taken the memory apart.

    Args:
        address: where whet listens.
        code: the exit code.
    """
    try:
        # A handler of the program's would find its files closed.
        _hold_back(_BLOCK, _SIGNALS)
        if is_alone() and are_all_at_rest() and not _has_children():
            _close_and_tell(address, code)
    except OSError:  # whet waits for the process itself
        return


def _close_and_tell(address: str, code: int) -> None:
    line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        peak_bytes, times = _peak_bytes(), _times()
        for name in entries("/proc/self/fd"):
            _close_but(line.fileno(), int(name))
        cpu_seconds = _process_time() + times.children_user + times.children_system
        # Not before: to close a file may take long, and whet waits for what comes on a line.
        line.connect(address)
        send(line, ("leaves", code, cpu_seconds, peak_bytes))
    finally:
        line.close()  # the program would be warned of one that is open


def _has_children() -> bool:
    """Whether a process is left that whet has to end, or to tell of."""
    try:
        _waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT | _ALL_KINDS)
    except ChildProcessError:
        return False
    return True


def _close_but(kept: int, number: int) -> None:
    if number != kept:
        try:
            close(number)
        except OSError:  # it was how the folder was listed
            return


def _peak_bytes() -> int:
    for line in whole("/proc/self/status").splitlines():
        if line.startswith(_PEAK):
            return int(line.split()[1]) << 10
    return 0
