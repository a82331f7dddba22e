"""Has the kernel end a frozen copy, and not the program, where memory is out; proc(5), `oom_score_adj`.

It would choose the largest process, which may well be the program: with copies beside it, and for no
other reason. A copy that is gone costs a start from an earlier one. Imports next to nothing.
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
