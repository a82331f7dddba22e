"""Tells at a signal where every task of asyncio stands, and what it awaits.

A handler is there once asyncio has been imported, and costs nothing until the signal comes. It runs
in the main thread, as soon as Python gets there: not while that is in one long call into C.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

_SIGNAL = 61  # a real-time signal that nothing sends by itself; see `whet.host.asyncio_tasks`
_MAGIC_FOLDER = 0x57686574  # tags what is whet's own, see `whet.host.syscalls`
_SUFFIX = ".tasks"
_MOST_TASKS = 2000
_MOST_FRAMES = 60
_MOST_NAMES = 8
_TRIES = 5


def answering(folder: str) -> dict[str, Callable[[dict[str, Any]], None]]:
    """Return what is to be called when asyncio has been imported."""

    def answer(_number: int, _frame: object) -> None:
        _tell(folder)

    def listen(_module: dict[str, Any]) -> None:
        signals = __import__("_signal")
        try:
            signals.signal(_SIGNAL, answer)
            signals.siginterrupt(_SIGNAL, 0)  # a call of some library must not fail for it
        except (ValueError, OSError):
            pass  # imported in another thread: then its tasks are not told

    return {"asyncio.tasks": listen}


def _tell(folder: str) -> None:
    # Anything may be half made where a signal comes: what cannot be told is left out.
    lines: list[str] = []
    for task in _tasks()[:_MOST_TASKS]:
        try:
            lines += _lines_of(task)
        except (AttributeError, TypeError, ValueError, RuntimeError):
            continue
    path = os.path.join(folder, "{}{}".format(os.getpid(), _SUFFIX))
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    text = "".join(line + "\n" for line in [*lines, "end"])
    data = text.encode("ascii", "backslashreplace")
    try:
        descriptor = os.open(path, flags, 0o600, dir_fd=_MAGIC_FOLDER)
        try:
            while data:
                data = data[os.write(descriptor, data) :]
        finally:
            os.close(descriptor)
    except OSError:
        pass


def _tasks() -> list[Any]:
    """Return the tasks of all loops that are not done, those that have names of their own first."""
    module = sys.modules.get("asyncio.tasks")
    found: set[Any] = set()
    for name in ("_all_tasks", "_scheduled_tasks", "_eager_tasks"):
        for _ in range(_TRIES):
            try:
                found.update(list(getattr(module, name, ())))
                break
            except (RuntimeError, TypeError):
                continue  # another thread makes one at this moment
    if not found:
        try:
            found = set(vars(module)["all_tasks"]())
        except (RuntimeError, KeyError, TypeError):
            found = set()
    return sorted((task for task in found if not task.done()), key=_order)


def _order(task: Any) -> tuple[int, str]:
    name = str(task.get_name())
    return len(name), name


def _lines_of(task: Any) -> Iterator[str]:
    frames = list(_frames(task.get_coro()))
    yield "task\t{}\t{}\t{}".format(_plain(task.get_name()), id(task.get_loop()), _awaited(task))
    for path, line, function in reversed(frames[-_MOST_FRAMES:]):
        yield '  File "{}", line {} in {}'.format(path, line, function)


def _frames(awaiting: Any) -> Iterator[tuple[str, int, str]]:
    """Yield where each coroutine of a chain stands, the outermost first."""
    seen = 0
    while awaiting is not None and seen < _MOST_FRAMES * 10:
        seen += 1
        for kind in ("cr", "gi", "ag"):
            frame = getattr(awaiting, kind + "_frame", None)
            if frame is not None:
                yield frame.f_code.co_filename, frame.f_lineno or 0, awaiting.__qualname__
                break
        else:
            return
        following = getattr(awaiting, kind + "_await", None)
        awaiting = getattr(awaiting, "gi_yieldfrom", None) if following is None else following


def _awaited(task: Any) -> str:
    """Return what a task waits for: other tasks by name, else the kind of thing."""
    waiter = getattr(task, "_fut_waiter", None)
    if waiter is None:
        return "runs" if task.get_coro().cr_running else "is ready"
    others = getattr(waiter, "_children", None) or [waiter]
    names = [_plain(each.get_name()) for each in others if hasattr(each, "get_name")]
    return ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")


def _plain(name: object) -> str:
    return str(name).replace("\t", " ").replace("\n", " ")
