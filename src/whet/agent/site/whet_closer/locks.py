"""Locks that know who holds them and since which line."""

from __future__ import annotations

import os
import sys

from .report_file import user_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .report_file import ReportLines

_PATIENCE_SECONDS = 0.5
_SAVE, _RESTORE = "_release_save", "_acquire_restore"
_above = vars(sys)["_getframe"]


class Locks:
    """Stands in for what `threading` makes its locks of."""

    def __init__(self, told: ReportLines) -> None:
        self.held: dict[int, list[Any]] = {}
        """Locks that each thread holds, the last one last."""
        self._told = told
        self.ident: Any = vars(__import__("_thread"))["get_ident"]
        self._names: Any = {}

    def watch(self, module: dict[str, Any]) -> None:
        """Let the program's locks be such ones; those that `threading` itself needs stay as they are."""
        self._names = module["_active"]
        locks = self
        allocate = module["_allocate_lock"]
        reentrant = module["RLock"]

        class Lock(_Tracked):
            _whet = locks

            def __init__(self) -> None:
                self._lock = allocate()
                self._begin()

        class RLock(_Tracked):
            _whet = locks

            def __init__(self) -> None:
                self._lock = reentrant()
                self._begin()

            def _is_owned(self) -> bool:
                return bool(self.owner == locks.ident())

            def _release_save(self) -> Any:
                self._forget(whole=True)
                return getattr(self._lock, _SAVE)()

            def _acquire_restore(self, state: Any) -> None:
                getattr(self._lock, _RESTORE)(state)
                self._note(user_place(_above(1)))

        for kind in (Lock, RLock):
            kind.__qualname__ = kind.__name__
            kind.__module__ = "threading"
        original = module["RLock"]

        def made_here(make: Any, own: Any) -> Any:
            def lock() -> Any:
                # Those of the standard library stay what they are: they aren't the user's doing.
                return (
                    own() if user_place(_above(1))[:1] == [_above(1).f_code.co_filename] else make()
                )

            return lock

        module["Lock"] = made_here(allocate, Lock)
        module["RLock"] = made_here(original, RLock)

    def name(self, thread: int) -> str:
        """Return what the program calls a thread."""
        return str(getattr(self._names.get(thread), "_name", thread))

    def tell_wait(self, lock: _Tracked, at: list[Any]) -> None:
        """Write down that a thread waits for a lock, and who holds that."""
        own = self.ident()
        self._told.tell(
            "waits",
            thread=self.name(own),
            place=at,
            lock=lock.made,
            number=id(lock),
            holder="" if lock.owner is None else self.name(lock.owner),
            idents=[own, lock.owner],
            taken=lock.taken,
            by=lock.by,
            process=_process_name(),
        )


def _process_name() -> str:
    """Return what multiprocessing calls this process; empty: it has not started it."""
    known = getattr(sys.modules.get("multiprocessing.process"), "_current_process", None)
    name = getattr(known, "_name", "")
    return "" if name == "MainProcess" else str(name)


class _Tracked:
    """A lock that remembers its owner and the line that has taken it."""

    _whet: Locks
    _lock: Any

    def _begin(self) -> None:
        self.owner: int | None = None
        self.taken: list[Any] = []
        self.by: list[Any] = []
        self.made = user_place(_above(2))

    def acquire(self, blocking: object = 1, timeout: float = -1) -> bool:
        if not self._lock.acquire(blocking=False):
            if not blocking:
                return False
            if not self._wait(timeout):
                return False
        self._note(user_place(_above(1)))
        return True

    def _wait(self, timeout: float) -> bool:
        first = _PATIENCE_SECONDS if timeout < 0 else min(timeout, _PATIENCE_SECONDS)
        if self._lock.acquire(timeout=first):
            return True
        self._whet.tell_wait(self, user_place(_above(2)))
        if timeout < 0:
            return bool(self._lock.acquire())
        return timeout > first and bool(self._lock.acquire(timeout=timeout - first))

    def release(self) -> None:
        self._forget()
        self._lock.release()

    def locked(self) -> bool:
        return (
            bool(self._lock.locked()) if hasattr(self._lock, "locked") else self.owner is not None
        )

    def _note(self, at: list[Any]) -> None:
        thread = self._whet.ident()
        if self.owner != thread:
            self.taken = at
            self.by = [self._whet.name(thread), os.getpid()]
        self.owner = thread
        self._whet.held.setdefault(thread, []).append(self)

    def _forget(self, *, whole: bool = False) -> None:
        held = self._whet.held.get(self.owner or 0, [])
        for place in range(len(held) - 1, -1, -1):
            if held[place] is self:
                del held[place]
                if not whole:
                    break
        if not any(each is self for each in held):
            self.owner = None

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()

    def __repr__(self) -> str:
        return repr(self._lock)
