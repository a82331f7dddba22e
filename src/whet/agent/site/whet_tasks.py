"""Tells at a signal where every task of asyncio stands, and what it awaits.

A handler is there once asyncio has been imported, and costs nothing until the signal comes. It runs
in the main thread, as soon as Python gets there: not while that is in one long call into C.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import FrameType
    from typing import Any

_SIGNAL = (
    61  # a real-time signal that nothing sends on its own; see `whet.host.inspect.asyncio_tasks`
)
_SUFFIX = ".tasks"
_MOST_TASKS = 2000
_MOST_FRAMES = 60
_MOST_NAMES = 8
_TRIES = 5
_LONGEST = 200
_UNHEARD, _ERROR, _WAITER = "_log_traceback", "_exception", "_fut_waiter"
_BLANKS = {9: " ", 10: " ", 11: " "}
_SIMPLE = (str, int, float)
_OWN = ("asyncio", "_asyncio")


def answering(tell: Callable[[str, bytes], None]) -> dict[str, Callable[[dict[str, Any]], None]]:
    """Return what to call when asyncio has been imported.

    Args:
        tell: writes at the end of a file of this process, which it knows by the end of its name.
    """

    def answer(_number: int, _frame: object) -> None:
        tell(_SUFFIX, _answer_text().encode("ascii", "backslashreplace"))

    def listen(_module: dict[str, Any]) -> None:
        signals = __import__("_signal")
        try:
            signals.signal(_SIGNAL, answer)
            signals.siginterrupt(_SIGNAL, 0)  # a call of some library must not fail for it
        except (ValueError, OSError):
            pass  # imported in another thread: then its tasks aren't told

    return {"asyncio.tasks": listen}


def _answer_text() -> str:
    # Anything may be half made where a signal comes: what can't be told is left out.
    lines: list[str] = []
    tasks = _tasks()
    live = [task for task in tasks if not task.done()][:_MOST_TASKS]
    for task in tasks:
        try:
            if not task.done():
                lines += _lines_of(task) if task in live else []
            elif _has_died(task):
                lines += _lines_of_dead(task, live)
        except (AttributeError, TypeError, ValueError, RuntimeError):
            continue
    return "".join(line + "\n" for line in [*lines, "end"])


def _tasks() -> list[Any]:
    """Return the tasks of all loops, those that have names of their own first."""
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
    return sorted(found, key=_order)


def _order(task: Any) -> tuple[int, str]:
    name = str(task.get_name())
    return len(name), name


def _lines_of(task: Any) -> Iterator[str]:
    frames = list(_frames(task.get_coro()))
    yield "task\t{}\t{}\t{}".format(_plain(task.get_name()), id(task.get_loop()), _awaited(task))
    for path, line, function in reversed(frames[-_MOST_FRAMES:]):
        yield '  File "{}", line {} in {}'.format(path, line, function)


def _has_died(task: Any) -> bool:
    """Whether a task has ended with an error that nobody has asked for; asking is left to others."""
    return bool(getattr(task, _UNHEARD)) and getattr(task, _ERROR) is not None


def _lines_of_dead(task: Any, live: Sequence[Any]) -> Iterator[str]:
    error: BaseException = getattr(task, _ERROR)
    frames: list[tuple[FrameType, int]] = []
    trace = error.__traceback__
    while trace is not None:
        frames.append((trace.tb_frame, trace.tb_lineno))
        trace = trace.tb_next
    held = _held_by(frame for frame, _ in frames)
    shared: list[str] = []
    for each in live:
        others = _waits_at(each)
        shared += [
            "{}\v{}".format(_plain(name), _plain(each.get_name()))
            for key, name in held.items()
            if key in others
        ]
    words = [type(error).__name__, *(str(each) for each in error.args if type(each) in _SIMPLE)]
    told = _plain(": ".join(words))[:_LONGEST]
    loop = id(task.get_loop())
    yield "died\t{}\t{}\t{}\t{}".format(
        _plain(task.get_name()), loop, told, "\v\v".join(shared[:_MOST_NAMES])
    )
    for frame, line in reversed(frames[-_MOST_FRAMES:]):
        code = frame.f_code
        name = getattr(code, "co_qualname", code.co_name)
        yield '  File "{}", line {} in {}'.format(code.co_filename, line, name)


def _held_by(frames: Iterable[Any]) -> dict[int, str]:
    """Return by their numbers what tasks may wait at, with the names that functions have for them."""
    found: dict[int, str] = {}
    for frame in frames:
        spaces: dict[str, Any] = {name: frame.f_globals.get(name) for name in frame.f_code.co_names}
        spaces.update(frame.f_locals)
        own: Any = getattr(spaces.get("self"), "__dict__", None)
        if own.__class__ is dict:
            spaces.update(("self." + name, each) for name, each in list(own.items()))
        found.update((id(each), name) for name, each in spaces.items() if _is_waited_at(each))
    return found


def _waits_at(task: Any) -> set[int]:
    """Return the numbers of what a task waits at: a method of it has not returned, or it is a future."""
    owners = (frame.f_locals.get("self") for _, frame in _chain(task.get_coro()))
    return {id(getattr(task, _WAITER)), *(id(each) for each in owners if _is_waited_at(each))}


def _is_waited_at(value: Any) -> bool:
    """Whether something is a queue, an event, a lock or the like: no task, and no loop."""
    kind: Any = getattr(value, "__class__", None)
    module = str(getattr(kind, "__module__", ""))
    return module.partition(".")[0] in _OWN and not any(
        hasattr(kind, each) for each in ("get_coro", "run_forever", "run_until_complete")
    )


def _chain(awaiting: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each coroutine of a chain with its frame, the outermost first."""
    for _ in range(_MOST_FRAMES * 10):
        kinds = (kind for kind in ("cr", "gi", "ag") if getattr(awaiting, kind + "_frame", None))
        kind = next(kinds, "")
        if not kind:
            return
        yield awaiting, getattr(awaiting, kind + "_frame")
        following = getattr(awaiting, kind + "_await", None)
        awaiting = getattr(awaiting, "gi_yieldfrom", None) if following is None else following


def _frames(awaiting: Any) -> Iterator[tuple[str, int, str]]:
    """Yield where each coroutine of a chain stands, the outermost first."""
    for each, frame in _chain(awaiting):
        yield frame.f_code.co_filename, frame.f_lineno or 0, each.__qualname__


def _awaited(task: Any) -> str:
    """Return what a task waits for: other tasks by name, else the kind of thing."""
    waiter = getattr(task, "_fut_waiter", None)
    if waiter is None:
        return "runs" if task.get_coro().cr_running else "is ready"
    others = getattr(waiter, "_children", None) or [waiter]
    names = [_plain(each.get_name()) for each in others if hasattr(each, "get_name")]
    return ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")


def _plain(name: object) -> str:
    return str(name).translate(_BLANKS)
