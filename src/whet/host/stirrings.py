"""Hearing at once that something is written in a folder, before it is settled what.

`whet.host.saves` says what was saved, once no more comes; that takes some 15 ms. This only says
that something stirs, and may be deaf: where it is, nothing is lost but time. Source: inotify(7).
"""

import ctypes
import os
import queue
import select
import struct
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from types import TracebackType
from typing import Self

# linux/inotify.h
_CLOSE_WRITE, _MOVED_TO, _OVERFLOW, _ADD = 0x8, 0x80, 0x4000, 0x20000000
_ANY_CHANGE = 0x2 | 0x4 | _CLOSE_WRITE | 0x40 | _MOVED_TO | 0x100 | 0x200 | 0x400 | 0x800
_EVENT = struct.Struct("=iIII")
_BUFFER_BYTES = 1 << 16


class Stirrings:
    """Listens in folders, not in those below them; a context manager."""

    def __init__(self, tell: Callable[[], None]) -> None:
        """Make it ready.

        Args:
            tell: is called, by a thread of its own, when a file was saved in a near folder.
        """
        self._tell = tell
        self._heard = 0
        self._lock = threading.Lock()
        self._near: set[int] = set()
        self._far: set[int] = set()
        self._folders: dict[tuple[str, bool], bool] = {}
        self._to_do: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._library = ctypes.CDLL(None, use_errno=True)
        begin = getattr(self._library, "inotify_init1", None)  # Linux alone has it
        self._events = -1 if begin is None else int(begin(os.O_NONBLOCK | os.O_CLOEXEC))
        self._asked, self._asking = os.pipe()
        self._thread = threading.Thread(target=self._listen, name="whet-stirrings", daemon=True)

    def __enter__(self) -> Self:
        if self._events >= 0:
            self._thread.start()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        os.close(self._asking)
        if self._events >= 0:
            self._thread.join()
            os.close(self._events)
        os.close(self._asked)

    def do_soon(self, what: Callable[[], None]) -> None:
        """Have the thread do something that takes a while, between two stirrings."""
        if self._events >= 0:
            self._to_do.put(what)
            os.write(self._asking, b".")

    def listen_in(self, near: Collection[str], far: Collection[str]) -> bool:
        """Listen in more folders; say whether nothing in any of them can be missed.

        Args:
            near: where a save is told of.
            far: where any change counts in `heard`. One that is not there counts when it appears.
        """
        if self._events < 0:
            return False
        for folder in near:
            self._add(folder, is_near=True)
        missed = [each for each in far if not self._add(_standing(each), is_near=False)]
        return not missed

    def heard(self) -> int:
        """Return how often something has changed in the far folders, all until now included."""
        with self._lock:
            self._take()
            return self._heard

    # ---- inside ----

    def _add(self, folder: str, *, is_near: bool) -> bool:
        known = self._folders.get((folder, is_near))
        if known is not None:
            return known
        mask = _CLOSE_WRITE | _MOVED_TO if is_near else _ANY_CHANGE
        name = ctypes.c_char_p(os.fsencode(folder))
        with self._lock:
            # What two names lead to is one folder, with one number.
            number = int(
                self._library.inotify_add_watch(self._events, name, ctypes.c_uint32(mask | _ADD))
            )
            (self._near if is_near else self._far).add(number)
        self._folders[folder, is_near] = number >= 0
        return number >= 0

    def _listen(self) -> None:
        poll = select.poll()
        poll.register(self._events, select.POLLIN)
        poll.register(self._asked, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if self._asked in ready:
                if not os.read(self._asked, 1):
                    return
                self._to_do.get()()
            with self._lock:
                is_near = self._take()
            if is_near:
                self._tell()

    def _take(self) -> bool:
        """Take in all that there is; say whether something was saved in a near folder."""
        is_near = False
        with suppress(BlockingIOError):
            while events := os.read(self._events, _BUFFER_BYTES):
                place = 0
                while place < len(events):
                    number, mask, _, length = _EVENT.unpack_from(events, place)
                    place += _EVENT.size + length
                    is_near |= number in self._near
                    self._heard += number in self._far or bool(mask & _OVERFLOW)
        return is_near


def _standing(folder: str) -> str:
    """Return the folder, or the innermost one above it that is there."""
    while not os.path.isdir(folder) and folder not in {"", "/"}:
        folder = os.path.dirname(folder)
    return folder or "/"
