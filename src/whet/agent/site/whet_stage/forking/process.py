"""What a process has that a forked copy has not: alarms, timers, children, a terminal's state.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os

from ..hiding.private import private_import
from ..hiding.unfiltered_calls import entries, whole
from .descriptors import Streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_STREAMS = (0, 1, 2)
_ITIMERS = (0, 1, 2)  # ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF
_MOST_LOOKS = 100
_at_start: list[tuple[object, ...]] = []


def begin() -> None:
    """Note how the terminal is, if there is one."""
    _at_start[:] = [_terminal(stream) for stream in _STREAMS]


def hindering_state() -> str:
    """Return what of this process a copy would not have; empty if there is nothing."""
    getitimer: Callable[[int], tuple[float, float]] = private_import("_signal").getitimer
    if any(getitimer(which)[0] for which in _ITIMERS):
        return "an alarm is set"
    me = os.getpid()
    if _of_timers():
        return "a timer is set"
    child = _child()
    if child:
        return f"one of its child processes is running{_called(child)}"
    if os.getpgrp() != me:
        return "it has changed its process group"
    for line in whole("/proc/self/status").splitlines():
        if line.startswith((b"SigPnd:", b"ShdPnd:")) and int(line.split()[1], 16):
            return "a signal is blocked"
        if line.startswith(b"VmLck:") and line.split()[1] != b"0":
            return "memory is locked"
    held = Streams()  # something else may stand instead of one for a while
    if [_terminal(held.of(stream)) for stream in _STREAMS] != _at_start:
        return "the terminal's state was changed"
    return ""


def _child() -> int:
    """Return the last process that any thread has started and that is still there; 0: none.

    Raises:
        OSError: if that can't be told.
    """
    for _ in range(_MOST_LOOKS):
        try:
            return _last_child_listed()
        except (FileNotFoundError, ProcessLookupError):
            continue  # a thread has just ended: what it has started is another one's from now on
    return _last_child_listed()


def _last_child_listed() -> int:
    threads = entries("/proc/self/task")
    children = b" ".join(whole(f"/proc/self/task/{thread}/children") for thread in threads)
    return max(map(int, children.split()), default=0)


def _called(child: int) -> str:
    """Return how a process was called: the program, and the module that a Python runs."""
    try:
        words = whole(f"/proc/{child}/cmdline").split(b"\0")
    except OSError:  # it has just ended
        return ""
    # No more than that: it is shown, and arguments may hold secrets.
    words = [os.path.basename(words[0]), *(words[1:3] if words[1:2] == [b"-m"] else [])]
    name = b" ".join(words).decode("utf-8", "replace")
    return f": {name}" if name else ""


def _of_timers() -> bytes:
    try:
        return whole("/proc/self/timers")
    except OSError:  # a kernel without CONFIG_CHECKPOINT_RESTORE doesn't tell
        return b""


def _terminal(stream: int) -> tuple[object, ...]:
    """Return the modes and the foreground group of a terminal; nothing if it is none."""
    if not os.isatty(stream):
        return ()
    termios = private_import("termios")
    try:
        modes: object = termios.tcgetattr(stream)
    except termios.error:  # it has been hung up
        return ("gone",)
    try:
        # In a resumed run the group has another number: it is the process's own.
        return modes, os.tcgetpgrp(stream) == os.getpgrp()
    except OSError:  # it isn't this session's terminal
        return (modes,)
