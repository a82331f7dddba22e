"""What keeps a process from being copied.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import time

from ..hiding import atfork
from ..hiding.private import is_alone, is_import_replaced
from ..hiding.unfiltered_calls import entries
from . import descriptors, openmp, process, sleepers, stdin
from .memory import Memory
from .python_threads import Threads, is_first
from .sleepers import Sleepers
from .taken import Taken
from .threads import OPENMP, NativeThread, native_threads, rests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection

_PATIENCE = 5  # looks at threads that are about to end
_STEP_SECONDS = 0.001


def begin() -> None:
    """Note what the program begins with."""
    atfork.find_handlers()
    descriptors.inherit()
    process.begin()
    stdin.begin()


def blocker(is_followed: Callable[[str], bool]) -> tuple[str, Taken]:
    """Return why no snapshot can be taken now, empty if it can; and what it takes along.

    Args:
        is_followed: whether a file is one of the program's own, whose functions may change.
    """
    if is_import_replaced():
        return "it has replaced `__import__`", Taken()
    if stdin.was_read():
        return "it has read from standard input", Taken()
    if not atfork.can_fork():
        return "this Python doesn't show its at-fork handlers", Taken()
    try:
        return _hindrance(Threads(is_followed))
    except (OSError, ImportError) as error:  # it may have become another user
        return f"whet can't inspect it: {error}", Taken()


def _hindrance(python: Threads) -> tuple[str, Taken]:
    if not is_first():  # a copy continues with this thread, and the first one sleeps
        return python.description() or "another Python thread runs", Taken()
    is_plain = is_alone()
    unable = "" if is_plain else sleepers.why_not()
    why = (python.description() if unable else "") or process.hindering_state()
    if why:
        return why, Taken()
    memory = Memory()
    name, shared = memory.shared()
    if name:
        return f"shared memory is mapped: {name}", Taken()
    pipes = descriptors.own_pipes()
    threads = _threads_at_rest(memory) if is_plain else []
    sleeping = None
    if not is_plain or not all(map(_may_stay, threads)):
        why, sleeping = _sleeping(python, memory, pipes)
        if why:
            return why, Taken()
    remade: set[int] = (
        set() if sleeping else {each.descriptor for each in threads if each.survives_fork()}
    )
    pipes = {number: pipe for number, pipe in pipes.items() if not remade & pipe.numbers}

    def is_mapped(number: int, path: str) -> bool:
        mine = any(each.descriptor >= 0 and each.is_of(path, number) for each in shared)
        return memory.holds(path) and not mine

    has_cuda = any("/libcuda.so" in library for library in memory.libraries())
    descriptors.find_files_of(shared)
    file = descriptors.hindering_file(remade | pipes.keys(), is_mapped, has_cuda=has_cuda)
    if file:
        return file, Taken()
    if sleeping is None and any(thread.is_of(OPENMP) for thread in threads):
        # Last: it costs the program the start of new threads.
        openmp.pause(memory)
        why = _left_of_openmp(memory)
    return why, Taken(sleeping, shared, tuple({id(pipe): pipe for pipe in pipes.values()}.values()))


def _sleeping(
    python: Threads, memory: Memory, pipes: Collection[int]
) -> tuple[str, Sleepers | None]:
    """Return why not all threads can be taken along as they are; or those threads."""
    sleeps: dict[int, tuple[int, bytes]] = {}
    awake: list[int] = []
    for _ in range(_PATIENCE):
        try:
            others = {int(name) for name in entries("/proc/self/task")} - {os.getpid()}
            sleeps = {each: sleepers.sleeps_of(os.getpid(), each) for each in others}
            awake = [each for each in others if not rests(each, pipes)]
        except (FileNotFoundError, ProcessLookupError):
            continue  # one has ended
        if not awake:
            break
        time.sleep(_STEP_SECONDS)
    why = python.description(awake) if awake else python.own_description()
    if not why and (awake or sleepers.why_not()):
        why = str(NativeThread(str((awake or list(sleeps))[0]), memory))
    if why:
        return why, None
    return "", Sleepers(sleeps)


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

    Whose a thread is can't be seen any more when it is about to end; all others may stay.
    """
    left: list[NativeThread] = []
    for _ in range(_PATIENCE):
        left = [each for each in _threads(memory) if not each.survives_fork()]
        if not left:
            return ""
        time.sleep(_STEP_SECONDS)
    return f"{left[0]}, which whet couldn't pause"


def _threads(memory: Memory) -> list[NativeThread]:
    return native_threads(memory) if len(entries("/proc/self/task")) > 1 else []
