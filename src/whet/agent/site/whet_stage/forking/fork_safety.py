"""What keeps a process from being copied.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import time

from ..hiding import atfork
from ..hiding.private import is_import_replaced
from ..hiding.unfiltered_calls import entries
from . import descriptors, openmp, process, stdin
from .memory import Memory
from .threads import OPENMP, native_threads, python_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .threads import NativeThread

_PATIENCE = 5  # looks at threads that are about to end
_STEP_SECONDS = 0.001


def begin() -> None:
    """Note what the program begins with."""
    atfork.find_handlers()
    descriptors.inherit()
    process.begin()
    stdin.begin()


def blocker() -> str:
    """Return why no snapshot can be taken now; empty if it can."""
    if is_import_replaced():
        return "it has put another function in the place of `__import__`"
    if stdin.was_read():
        return "it has read from standard input"
    try:
        return (
            python_thread() or process.hindering_state() or _hindering_memory()
            if atfork.can_fork()
            else "this Python does not tell its at-fork handlers"
        )
    except (OSError, ImportError) as error:  # it may have become another user
        return f"it cannot be looked into: {error}"


def _hindering_memory() -> str:
    memory = Memory()
    shared = memory.shared()
    if shared:
        return f"shared memory is mapped: {shared}"
    threads = _threads_at_rest(memory)
    for thread in threads:
        if not _may_stay(thread):
            return str(thread)
    pools = {each.descriptor for each in threads if each.survives_fork()}
    has_cuda = any("/libcuda.so" in library for library in memory.libraries())
    file = descriptors.hindering_file(pools, memory.holds, has_cuda=has_cuda)
    if file:
        return file
    if any(thread.is_of(OPENMP) for thread in threads):
        # Last: it costs the program the start of new threads.
        openmp.pause(memory)
        return _left_of_openmp(memory)
    return ""


def _threads_at_rest(memory: Memory) -> list[NativeThread]:
    """Return the threads: what has just ended, or has got its work done, needs a moment."""
    threads = _threads(memory)
    for _ in range(_PATIENCE):
        if all(map(_may_stay, threads)):
            break
        time.sleep(_STEP_SECONDS)
        threads = _threads(memory)
    return threads


def _may_stay(thread: NativeThread) -> bool:
    return thread.survives_fork() or thread.is_of(OPENMP)


def _left_of_openmp(memory: Memory) -> str:
    """Return which thread of OpenMP is left; empty if all are gone.

    Whose a thread is cannot be seen any more when it is about to end; all others may stay.
    """
    left: list[NativeThread] = []
    for _ in range(_PATIENCE):
        left = [each for each in _threads(memory) if not each.survives_fork()]
        if not left:
            return ""
        time.sleep(_STEP_SECONDS)
    return f"{left[0]}, which could not be paused"


def _threads(memory: Memory) -> list[NativeThread]:
    return native_threads(memory) if len(entries("/proc/self/task")) > 1 else []
