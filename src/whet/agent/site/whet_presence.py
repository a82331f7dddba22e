"""Tells that the agent is in this Python, and which files it runs: a command need not name them.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import atexit
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias

    Tell: TypeAlias = Callable[..., None]

_SUFFIX = ".python"
_MOST_FILES, _MOST_BYTES = 1000, 1 << 16
_BOOTSTRAP = "_bootstrap"
_NAMES = {"cpython": "CPython", "pypy": "PyPy"}


def begin(write: Callable[[str, bytes], None]) -> dict[str, Callable[[dict[str, Any]], None]]:
    """Tell it now, also of a program that will be killed, and its modules when it ends."""

    def tell(*parts: str) -> None:
        write(_SUFFIX, os.fsencode("\0".join(parts[:_MOST_FILES]) + "\0\0"))

    name, version = sys.implementation.name, sys.version_info
    shown = "{} {}.{}.{}".format(_NAMES.get(name, name), *version[:3])
    tell("python", sys.executable or "", shown)
    here = os.getcwd()
    tell("files", *(os.path.join(here, word) for word in _words()[1:]))
    atexit.register(_tell_modules, tell)
    return {
        "multiprocessing.process": lambda module: _watch_begins(tell, module["BaseProcess"]),
        "multiprocessing.popen_fork": lambda module: _watch_ends(tell, module["Popen"]),
        "multiprocessing.popen_forkserver": lambda module: _watch_ends(tell, module["Popen"]),
    }


def _watch_begins(tell: Tell, process: Any) -> None:
    """Have each process of multiprocessing tell what the program calls it."""
    bootstrap: Callable[..., object] = getattr(process, _BOOTSTRAP)

    def _bootstrap(own: Any, *arguments: object, **named: object) -> object:
        tell("process", str(own.name))
        return bootstrap(own, *arguments, **named)

    setattr(process, _BOOTSTRAP, _bootstrap)


def _watch_ends(tell: Tell, popen: Any) -> None:
    """Have a process tell how those that it has started ended: nobody else hears of it."""
    poll = popen.poll

    def tell_poll(own: Any, *arguments: object, **named: object) -> object:
        was_known = own.returncode is not None
        code = poll(own, *arguments, **named)
        if code and not was_known:
            tell("ended", str(own.pid), str(code))
        return code

    tell_poll.__name__ = "poll"
    popen.poll = tell_poll


def _tell_modules(tell: Tell) -> None:
    own = os.path.dirname(os.__file__) + os.sep
    spaces = (getattr(module, "__dict__", None) for module in list(sys.modules.values()))
    files = [_file_of(space) for space in spaces]
    tell("files", *(each for each in files if each and not each.startswith(own)))


def _file_of(space: Any) -> str:
    # A module may be anything, and its attributes may be made when somebody asks for them.
    path: Any = space.get("__file__") if space.__class__ is dict else None
    return str(path) if path.__class__ is str and path[:1] == "/" else ""


def _words() -> list[str]:
    try:
        descriptor = os.open("/proc/self/cmdline", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return []
    try:
        return os.fsdecode(os.read(descriptor, _MOST_BYTES)).rstrip("\0").split("\0")
    finally:
        os.close(descriptor)
