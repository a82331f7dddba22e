"""Notes that the program has read what comes once: from a pipe or a terminal on standard input.

A resumed run would have to be asked again, or given again, what its past has read.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_METHODS = ("read", "readall", "readinto")
_read: list[str] = []


def begin() -> None:
    """Note from now on what is read."""
    try:
        mode = os.fstat(0).st_mode
        raw: object = getattr(sys.stdin.buffer, "raw", None)
    except (OSError, AttributeError):
        return  # it is closed
    if raw is None or stat.S_ISREG(mode) or os.path.samestat(os.fstat(0), os.stat(os.devnull)):
        return  # it can be read again
    sys.addaudithook(_hear)
    for name in _METHODS:
        # `io` looks each of them up again on its own object, which nobody else looks at.
        vars(raw)[name] = _noting(getattr(raw, name))


def end() -> None:
    """Note no more what is read."""
    raw: object = getattr(getattr(sys.stdin, "buffer", None), "raw", None)
    own: dict[str, object] = getattr(raw, "__dict__", {})
    for name in _METHODS:
        own.pop(name, None)


def was_read() -> bool:
    """Whether something was."""
    return bool(_read)


def _noting(original: Callable[..., object]) -> Callable[..., object]:
    def method(*arguments: object) -> object:
        _read[:] = ["stdin"]
        return original(*arguments)

    return method


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    # `input` reads a terminal through C.
    if event == "builtins.input" or (event == "open" and arguments[0] == 0):
        _read[:] = [event]
