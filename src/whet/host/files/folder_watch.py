"""Low-latency change notification: something in a folder changed, not yet what.

`whet.host.code.saves` says which file was saved, once the changes stop, about 15 ms later. This module
reports only that something changed, and may miss it: then whet loses only time. Source: inotify(7).
"""

import ctypes
import os
import queue
import select
import struct
import threading
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Self

from whet.core.value_class import value_class
from whet.host.files.file_times import MountChanges, is_of_this_kernel, mount_points
from whet.host.kernel.daemon_thread import DaemonThread

# linux/inotify.h
_CLOSE_WRITE, _MOVED_TO, _OVERFLOW = 0x8, 0x80, 0x4000
_SAVED = _CLOSE_WRITE | _MOVED_TO
_WRITTEN, _DELETED = 0x2, 0x200
_ITSELF = 0x4 | 0x400 | 0x800
_ANY_CHANGE = _WRITTEN | 0x40 | 0x100 | _DELETED | _SAVED | _ITSELF
_NO_LINK, _ADD = 0x02000000, 0x20000000
_MOST_LINKS = 40
_EVENT = struct.Struct("=iIII")
_BUFFER_BYTES = 1 << 16


@value_class
class Hearing:
    """What the watch can report.

    Attributes:
        is_deaf: something that was asked for can be missed.
        is_remote: another machine may change it, which this one doesn't notice.
    """

    is_deaf: bool
    is_remote: bool


class FolderWatch:
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
        self._on_the_way: set[tuple[int, bytes]] = set()
        self._to_do: queue.SimpleQueue[Callable[[], object]] = queue.SimpleQueue()
        self._library = ctypes.CDLL(None, use_errno=True)
        begin = getattr(self._library, "inotify_init1", None)  # Linux alone has it
        self._events = -1 if begin is None else int(begin(os.O_NONBLOCK | os.O_CLOEXEC))
        self._mounts = MountChanges()
        self._asked, self._asking = os.pipe()
        self._thread = DaemonThread(target=self._listen, name="whet-folder-watch")

    def __enter__(self) -> Self:
        if self._events >= 0:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._asking)
        if self._events >= 0:
            self._thread.join()
            os.close(self._events)
        os.close(self._asked)
        self._mounts.close()

    def do_soon(self, what: Callable[[], object]) -> None:
        """Have the thread do something that takes a while, between two changes."""
        if self._events >= 0:
            self._to_do.put(what)
            os.write(self._asking, b".")

    def listen_in(
        self, near: Collection[str], paths: Iterable[str], folders: Iterable[str]
    ) -> Hearing:
        """Listen in more folders; say what can be heard of what is asked for.

        What was listened in may have been replaced by now: what `heard` counts afterwards tells
        that this is to be done again.

        Args:
            near: where a save is reported.
            paths: where any change counts in `heard`, of what a link leads to as well, and of any
                folder on the way to it. What doesn't exist counts when it appears.
            folders: the same, and any change in them.
        """
        if self._events < 0:
            return Hearing(is_deaf=True, is_remote=True)
        for folder in near:
            self._add(folder, self._near.add, _SAVED)
        ways = _Ways(self._add_far, self._add_on_the_way, self._add_itself)
        for path in paths:
            ways.listen_at(path)
        for folder in folders:
            ways.listen_below(folder)
        return Hearing(ways.is_deaf, ways.is_remote or not self._mounts.are_heard)

    def listen_to(self, files: Iterable[str]) -> bool:
        """Listen to files that have other names too, and may change by those; say if all can be.

        Any change counts in `heard`.
        """
        return all(map(self._add_itself, files))

    def heard(self) -> int:
        """Return how often something has changed in the far folders, all until now included.

        What is mounted counts, wherever it is.
        """
        with self._lock:
            if self._events >= 0:
                self._take()
            self._heard += self._mounts.have_come()
            return self._heard

    # ---- inside ----

    def _add_far(self, folder: str) -> bool:
        return self._add(folder, self._far.add, _ANY_CHANGE)

    def _add_on_the_way(self, path: str) -> bool:
        folder, name = os.path.split(path)
        # A folder in which a process stands tells of its end when that has left it.
        return self._add_named(folder, os.fsencode(name), _DELETED) and self._add_named(
            path, b"", _ITSELF | _NO_LINK
        )

    def _add_itself(self, path: str) -> bool:
        return self._add_named(path, b"", _ITSELF | _WRITTEN | _CLOSE_WRITE)

    def _add_named(self, path: str, name: bytes, mask: int) -> bool:
        """Listen to what becomes of one name in a folder; empty: of the path itself."""
        return self._add(path, lambda number: self._on_the_way.add((number, name)), mask)

    def _add(self, path: str, note: Callable[[int], object], mask: int) -> bool:
        name = ctypes.c_char_p(os.fsencode(path))
        with self._lock:
            # What two names lead to is one folder, with one number.
            number = int(
                self._library.inotify_add_watch(self._events, name, ctypes.c_uint32(mask | _ADD))
            )
            if number >= 0:
                note(number)
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
                    is_near |= number in self._near and bool(mask & _SAVED)
                    # Of a folder on the way counts what is on the way itself.
                    name = events[place - length : place].rstrip(b"\0")
                    is_on_the_way = (number, name) in self._on_the_way
                    self._heard += number in self._far or is_on_the_way or bool(mask & _OVERFLOW)
        return is_near


class _Ways:
    """Listens along the ways to paths, each folder and link on them once.

    A folder tells of what changes in it, and of nothing that becomes of the folders above it or
    of the links that lead to it. Each part is listened to before it is looked at: what becomes of
    it after that is heard of.
    """

    def __init__(
        self,
        far: Callable[[str], bool],
        on_the_way: Callable[[str], bool],
        itself: Callable[[str], bool],
    ) -> None:
        self.is_deaf = self.is_remote = False
        self._far = far
        self._on_the_way = on_the_way
        self._itself = itself
        self._mount_points = mount_points()
        self._reached: dict[str, str] = {"": "/", "/": "/"}
        self._heard_in: set[str] = set()

    def listen_at(self, path: str, links: int = _MOST_LINKS) -> None:
        """Listen to what is at a path, or may come to be there."""
        above, _, name = path.rpartition("/")
        folder = self._reach(above, links)
        if folder:
            self._listen_in(folder)
            place = os.path.join(folder, name)
            if place in self._mount_points:  # what is there tells another folder
                self.is_deaf |= not self._itself(place)
            target = _target(place)
            if target:
                self.listen_at(os.path.join(folder, target), links - 1)

    def listen_below(self, path: str) -> None:
        """Listen to a folder and to whatever changes in it."""
        folder = self._reach(path, _MOST_LINKS)
        if folder:
            self._listen_in(folder)

    def _reach(self, path: str, links: int) -> str:
        """Return a folder's real name; empty if it is none, and what may make it one is heard."""
        if links < 0:  # they lead in a circle
            self.is_deaf = True
            return ""
        if path not in self._reached:
            above, _, name = path.rpartition("/")
            folder = self._reach(above, links)
            if folder and name == "..":
                folder = os.path.dirname(folder)
            elif folder and name not in {"", "."}:
                folder = self._step(folder, name, links)
            self._reached[path] = folder
        return self._reached[path]

    def _step(self, folder: str, name: str, links: int) -> str:
        place = os.path.join(folder, name)
        self.is_remote |= not _is_local(folder)
        is_heard = self._on_the_way(place)
        target = _target(place)
        if target:
            self.is_deaf |= not is_heard
            return self._reach(os.path.join(folder, target), links - 1)
        if os.path.isdir(place):
            self.is_deaf |= not is_heard
            return place
        self._listen_in(folder)
        self.is_deaf |= os.path.isdir(place) or os.path.islink(place)  # it has come just now
        return ""

    def _listen_in(self, folder: str) -> None:
        if folder not in self._heard_in:
            self._heard_in.add(folder)
            self.is_deaf |= not self._far(folder)
            self.is_remote |= not _is_local(folder)


def _is_local(folder: str) -> bool:
    try:
        return is_of_this_kernel(os.stat(folder).st_dev)
    except OSError:
        return False


def _target(path: str) -> str:
    """Return the target of a link; empty if it isn't one."""
    try:
        return os.readlink(path)
    except OSError:
        return ""
