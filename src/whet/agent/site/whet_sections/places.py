"""Where a program is: in which thread, and in which task of asyncio.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys
from _thread import get_ident

_LONGEST = 200
_THREADS = "_active"  # by their numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def here_now() -> tuple[int, object]:
    """Return the thread, and the task of asyncio or None."""
    asyncio = sys.modules.get("asyncio.events")
    if asyncio is None:
        return get_ident(), None
    try:
        loop: Any = vars(asyncio)["_get_running_loop"]()
        task = None if loop is None else vars(sys.modules["asyncio.tasks"])["current_task"](loop)
    except (KeyError, RuntimeError):  # it is being imported
        return get_ident(), None
    return get_ident(), task


def encoded_place(here: tuple[int, Any]) -> bytes:
    """Return the names of a thread and a task; empty: the main thread, no task."""
    ident, task = here
    threading: Any = sys.modules.get("threading")
    name = task_name = ""
    if threading is not None and ident != threading.main_thread().ident:
        # Not by `current_thread`: that makes an object of a thread that has none.
        thread: Any = getattr(threading, _THREADS).get(ident)
        name = "thread {}".format(ident) if thread is None else str(thread.name)
    if task is not None:
        task_name = str(task.get_name()) if hasattr(task, "get_name") else "task"
    return b"%s\t%s" % (encoded(name), encoded(task_name))


def encoded(name: str) -> bytes:
    """Return a name as it is written: plain letters, no ends of lines, no tabs."""
    if len(name) > _LONGEST:
        name = name[:_LONGEST] + "..."
    return name.encode("unicode_escape")


def encoded_words(words: tuple[Any, ...]) -> bytes:
    """Return what belongs to a range: numbers as Python writes them, texts after a quote."""
    return b"\t".join(map(_encoded_word, words))


def _encoded_word(word: Any) -> bytes:
    if word is None:
        return b""
    if isinstance(word, (int, float)):
        return encoded(repr(int(word) if isinstance(word, int) else float(word)))
    return encoded("'{}".format(word))
