"""What keeps a process from being copied, and what a copy must have of its own.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MAPS_FIELDS = 6  # of a line in /proc/PID/maps that names a file; proc(5)


def hindrance() -> str:
    """Return why no snapshot can be taken now; empty if it can."""
    threads = os.listdir("/proc/self/task")
    if len(threads) > 1:
        import _thread

        if getattr(_thread, "_count")():  # noqa: B009 - type checkers take it for private
            return "another Python thread runs"
        strangers = [name for name in map(_thread_name, threads[1:]) if name not in _POOLS]
        return f"a native thread runs: {strangers[0]}" if strangers else ""
    timers: Callable[[int], tuple[float, float]] = __import__("_signal").getitimer
    if any(timers(which)[0] for which in (0, 1, 2)):
        return "a timer is set"
    for thread in threads:
        with open(f"/proc/self/task/{thread}/children", "rb", 0) as file:
            if file.read(64):
                return "it has started a process"
    return _hindering_file()


_POOLS: frozenset[str] = frozenset()


def _thread_name(thread: str) -> str:
    with open(f"/proc/self/task/{thread}/comm", "rb", 0) as file:
        return os.fsdecode(file.read(64)).strip()


def _hindering_file() -> str:
    with open("/proc/self/maps", "rb", 0) as file:
        text = b""
        while part := file.read(1 << 16):
            text += part
    for line in text.splitlines():
        words = line.split(None, _MAPS_FIELDS - 1)
        if len(words) == _MAPS_FIELDS and words[1].startswith(b"rw") and words[1].endswith(b"s"):
            return f"shared memory is mapped: {os.fsdecode(words[5])}"
    for number, target in _files():
        if not target.startswith("/"):
            return f"a {target.partition(':')[0]} is open"
        if target.startswith("/dev/") and target not in ("/dev/null", "/dev/urandom"):
            return f"`{target}` is open"
        if _flags_of(number) & (os.O_WRONLY | os.O_RDWR) and target != "/dev/null":
            return f"`{target}` is open for writing"
    return ""


def writes() -> bool:
    """Whether the program has a file open for writing."""
    return any(
        target.startswith("/")
        and target != "/dev/null"
        and _flags_of(number) & (os.O_WRONLY | os.O_RDWR)
        for number, target in _files()
    )


def _files() -> Iterator[tuple[int, str]]:
    """Yield what the program has opened; what it was started with is nobody's business."""
    for name in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue
        if _INHERITED.get(int(name)) != target:
            yield int(name), target


_INHERITED: dict[int, str] = {}


def _flags_of(descriptor: int) -> int:
    with open(f"/proc/self/fdinfo/{descriptor}", "rb", 0) as file:
        for line in file.read(4096).splitlines():
            if line.startswith(b"flags:"):
                return int(line.split()[1], 8)
    return 0


def offsets() -> list[tuple[int, int, int]]:
    """Return descriptor, position and flags of the files that are open."""
    return [
        (number, os.lseek(number, 0, os.SEEK_CUR), _flags_of(number))
        for number, target in _files()
        if os.path.isfile(target)
    ]


def reopen(of: list[tuple[int, int, int]]) -> None:
    """Give this process file offsets of its own: a forked one shares them."""
    for number, offset, flags in of:
        again = os.open(f"/proc/self/fd/{number}", flags & ~(os.O_CREAT | os.O_TRUNC | os.O_EXCL))
        os.lseek(again, offset, os.SEEK_SET)
        os.dup2(again, number, inheritable=os.get_inheritable(number))
        os.close(again)


class RandomState:
    """The state of `random`, which `os.fork` seeds anew in the child."""

    def __init__(self) -> None:
        self._module = sys.modules.get("random")
        self._state = None if self._module is None else self._module.getstate()

    def restore(self) -> None:
        """Put it back."""
        if self._module is not None:
            self._module.setstate(self._state)


def inherit() -> None:
    """Note what the program was started with: that is nobody's business."""
    _INHERITED.update(_files())
