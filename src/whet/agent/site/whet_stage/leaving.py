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

from .freeze import send
from .private import is_alone
from .unheld import close, entries, whole

_waitid = os.waitid  # the program may put something else in its place
_PEAK = b"VmHWM:"


def tell_how_it_ends(address: str, code: int) -> None:
    """Tell whet, if all is done but for the kernel's part; close all files first.

    Files that are open may be locked, and a socket keeps its port, until their last descriptor is
    closed, which the kernel does after it has taken the memory apart.

    Args:
        address: where whet listens.
        code: the exit code.
    """
    if not is_alone() or _has_children():
        return
    try:
        line = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        # First, so that no native thread writes to it in the belief that it is another file.
        line.connect(address)
        peak_bytes, times = _peak_bytes(), os.times()
        for name in entries("/proc/self/fd"):
            _close_but(line.fileno(), int(name))
        cpu_seconds = time.process_time() + times.children_user + times.children_system
        send(line, ("leaves", code, cpu_seconds, peak_bytes))
    except OSError:  # whet waits for the process itself
        return


def _has_children() -> bool:
    """Whether a process is left that whet has to end, or to tell of."""
    try:
        _waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
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
