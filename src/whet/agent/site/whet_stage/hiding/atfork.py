"""Forks unseen: what the program and its libraries want to be called at a fork isn't called.

A cold run doesn't fork. Python's own handlers would seed `random` again and unlock the locks
that the program holds.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import os
import sys

from .private import private_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Registered = list[Callable[[], object]]

_PACKAGES_OF_PROCESSES = ("multiprocessing", "multiprocess")  # the latter by way of `dill`
_KINDS = 3  # before, after in the parent, after in the child
_lists: list[Registered] = []
_fork = os.fork
_other: list[Callable[[], int]] = []


def find_handlers() -> None:
    """Find where the interpreter keeps what `os.register_at_fork` is given."""

    def mark() -> None:
        pass

    os.register_at_fork(before=mark, after_in_parent=mark, after_in_child=mark)
    found: list[Registered] = private_import("gc").get_referrers(mark)
    for each in found:
        if type(each) is list:
            each.remove(mark)
            _lists.append(each)


def can_fork() -> bool:
    """Whether they have been found."""
    return len(_lists) == _KINDS


def fork_with(other: Callable[[], int] | None) -> None:
    """Fork in another way from now on; None: as `os.fork` does."""
    _other[:] = [] if other is None else [other]


def fork() -> int:
    """Fork; return as `os.fork` does.

    Raises:
        OSError: if there can be no other process.
    """
    number = os.getpid()
    pid = _other[0]() if _other else _fork_unheard()
    if pid < 0:
        raise BlockingIOError
    if pid == 0:
        _be_renumbered(number)
    return pid


def _fork_unheard() -> int:
    kept = [each[:] for each in _lists]
    for each in _lists:
        each.clear()
    # From 3.12 on Python warns of forks while threads run, of which it doesn't know the pools.
    module = sys.modules.get("warnings") or sys.modules["_warnings"]
    filters: list[tuple[object, ...]] = vars(module)["filters"]
    filters.insert(0, ("ignore", None, DeprecationWarning, None, 0))
    try:
        return _fork()
    finally:
        del filters[0]
        for index, handlers in enumerate(kept):
            _lists[index][:] = handlers


def _be_renumbered(number: int) -> None:
    threading = sys.modules.get("threading")
    if threading is not None:
        # As in any process, the number of the main thread is the process's.
        vars(threading.main_thread())["_native_id"] = os.getpid()
        _renew_handles(vars(threading)["_dangling"])
    _renumber_processes(number)


def _renew_handles(threads: Iterable[object]) -> None:
    """Let threads be started that have not been yet.

    The first releases of Python 3.13 take them for ended after a fork (issue 134381 of CPython).
    """
    for thread in tuple(threads):
        names = vars(thread)
        handle = names.get("_handle")
        if handle is not None and not names["_started"].is_set() and handle.is_done():
            names["_handle"] = type(handle)()


def _renumber_processes(number: int) -> None:
    """Let what `multiprocessing` has noted as this process's be of its new number.

    It starts only processes that were made in the process that starts them, and tidies up at the
    end only what was registered in the process that ends.
    """
    for package in _PACKAGES_OF_PROCESSES:
        process, util = (sys.modules.get(f"{package}.{name}") for name in ("process", "util"))
        made: Iterable[object] = getattr(process, "_dangling", ())
        registry: dict[object, object] = getattr(util, "_finalizer_registry", {})
        for each in tuple(made):
            _renumber(each, "_parent_pid", number)
        for finalizer in tuple(registry.values()):
            _renumber(finalizer, "_pid", number)


def _renumber(what: object, name: str, number: int) -> None:
    names: dict[str, object] = getattr(what, "__dict__", {})
    if names.get(name) == number:
        names[name] = os.getpid()
