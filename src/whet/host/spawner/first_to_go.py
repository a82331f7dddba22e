"""Lets the kernel kill a frozen copy, not the program, if memory runs out; proc(5), `oom_score_adj`.

By default the kernel kills the largest process, which may be the program, and memory may run out only
because of the copies. Without a copy, a run resumes from an earlier one. Imports next to nothing.
"""

import os

_MOST = b"1000"


def let_go_first(pid: int) -> bytes:
    """Let a process be chosen before all others, and those that it forks; return what was set.

    Empty if that may not be changed: then nothing is.
    """
    try:
        return _set(pid, _MOST)
    except OSError:
        return b""


def let_go_as(pid: int, value: bytes) -> bool:
    """Let a process be chosen as it was to be before; say whether that could be done."""
    try:
        _set(pid, value)
    except OSError:
        return False
    return True


def _set(pid: int, value: bytes) -> bytes:
    """Set it; return what it was."""
    file = os.open(f"/proc/{pid}/oom_score_adj", os.O_RDWR | os.O_CLOEXEC)
    try:
        before = os.read(file, 16).strip()
        os.write(file, value)
    finally:
        os.close(file)
    return before
