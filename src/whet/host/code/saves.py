"""Noticing that a file was saved."""

import fcntl
import os
import queue
import signal
import stat
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from whet.host.files import file_times
from whet.host.kernel.daemon_thread import DaemonThread
from whet.host.process.object_store import own_folder
from whet.host.process.own_outputs import OwnOutputs

if TYPE_CHECKING:
    from watchfiles import DefaultFilter

_MORE_WATCHES = (
    "raise `fs.inotify.max_user_watches` and `fs.inotify.max_user_instances` with `sysctl`"
)
_READY_SECONDS = 5.0
_IGNORED = (
    ".whet", "whet-report",
    ".ruff_cache", ".nox", ".jj", ".vscode", ".ipynb_checkpoints", ".pytype", ".pyre",
)  # fmt: skip
_STEP_MS, _DEBOUNCE_MS = 4, 100
"""Files that are saved within 4 ms of each other are one change; a stream of them waits 100 ms."""
_LOOK_SECONDS, _LOOK_SHARE = 0.3, 0.1
"""Without notifications whet polls for saves at this interval, for at most this share of the time."""
_WRITING_SECONDS, _ASK_AGAIN_SECONDS = 1.0, 0.002
"""A program that keeps a file open for longer may never close it."""

_SET_SIGNAL = 10  # fcntl(2), F_SETSIG

_Content = dict[str, "int | None"]
"""The files in a folder, each with the time of its last change."""


class _Way(Enum):
    """The ways to notice saves, each for when the one before isn't possible."""

    ALL = "a recursive watch"
    EACH = "a watch for each folder, as one of them isn't readable"
    LOOK = "polling, as the system grants no watch"

    @property
    def next(self) -> "_Way":
        """The next one."""
        return _Way.EACH if self is _Way.ALL else _Way.LOOK


class Saves:
    """Watches a folder and all below it; a context manager.

    What tools leave beside the files (`.git`, caches, an editor's temporary files) doesn't count,
    nor does a file to which whet's own output goes.
    A folder counts if a file in it does: nothing tells of the files in one that was moved here, nor
    of those that were written before anybody listened in a new one.

    What watches follows the links that are there when it begins, and listens in each folder once:
    to what is in it under one of its names. When a link goes, or leads elsewhere, another watcher
    takes over, which has seen where it leads now. It gives up at a folder that may not be read;
    one that is told each folder doesn't, and hears nothing of new ones: another takes over then.

    Attributes:
        why_slow: why the system reports no saves, so that whet polls; empty: it reports them.
        what_helps: what the user can do about it.
    """

    def __init__(self, root: Path, counts: Callable[[str], bool]) -> None:
        """Make it ready.

        Args:
            root: the folder.
            counts: says whether a file is watched even while the program runs.
        """
        self.why_slow, self.what_helps = "", ""
        self._root = root
        self._counts = counts
        self._outputs = OwnOutputs()
        self._changes: queue.SimpleQueue[set[str]] = queue.SimpleQueue()
        self._is_over, self._is_ready = threading.Event(), threading.Event()
        self._failed: Exception | None = None
        self._watchers: list[threading.Thread] = []

    def __enter__(self) -> Self:
        self._begin(time.time_ns())
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        while self._watchers:  # the first may have begun a second one
            self._watchers.pop(0).join()

    def wait_until_ready(self) -> None:
        """Wait until no save can be missed; it takes a moment after the start."""
        self._is_ready.wait(_READY_SECONDS)

    def next(self, is_meant: Callable[[str], bool]) -> set[str]:
        """Wait for a save and return its paths; nothing after `wake`.

        Args:
            is_meant: says whether a file counts that isn't watched while the program runs.

        Raises:
            OSError, RuntimeError, MemoryError, ImportError: the system refuses what watching needs.
        """
        while paths := self._changes.get():
            paths = {path for path in paths if not self._outputs.has(path)}
            matches = {path for path in paths if self.matter(path) or is_meant(path)}
            if matches:
                return matches
        if self._failed is not None:
            raise self._failed
        return set()

    def wake(self) -> None:
        """Let `next` return."""
        self._changes.put(set())

    def matter(self, path: str) -> bool:
        """Whether a file is watched even while the program runs, or one below it."""
        return self._counts(path) or (
            os.path.isdir(path) and any(map(self._counts, _files_below(path, _watched())))
        )

    def _begin(
        self, since_ns: int, way: _Way = _Way.ALL, is_on: threading.Event | None = None
    ) -> threading.Event:
        """Begin to watch, and tell what was saved since a time; return what says that it is on."""
        stop = _Stop(self._is_over, partial(self._catch_up, since_ns), is_on)
        thread = DaemonThread(target=self._watch, args=(stop, way), name="whet-saves")
        try:
            thread.start()
        except RuntimeError:
            if is_on is None:
                raise  # there is no watcher to replace
            self._look(stop)  # the one that is to be replaced stays
        else:
            self._watchers.append(thread)
        return stop.is_asked

    def _watch(self, stop: "_Stop", way: _Way = _Way.ALL) -> None:
        try:
            self._watch_or_fail(stop, way)
        except (OSError, RuntimeError, MemoryError, ImportError) as error:
            self._fail(error)
        except SystemError as error:  # so Python says that there is no memory for an import
            self._fail(MemoryError(str(error)))

    def _fail(self, error: Exception) -> None:
        self._failed = error  # who waits for a save would wait forever
        self._is_ready.set()
        self.wake()

    def _watch_or_fail(self, stop: "_Stop", way: _Way) -> None:
        if way is _Way.LOOK:
            self._look(stop)
            return
        listener = _Heard()
        try:
            self._listen(stop, way, listener)
        except FileNotFoundError:  # a folder has gone since it was found
            self._is_over.wait(_ASK_AGAIN_SECONDS)
            self._begin(listener.at_ns, way if self._root.exists() else _Way.LOOK, stop.is_asked)
        except (OSError, RuntimeError, UnicodeError) as error:
            why = str(error).partition(". about ")[0]
            if isinstance(error, UnicodeError) or "Unable to decode" in why:
                # watchfiles takes no such name, of the folder or in it.
                self.why_slow = f"a name in `{_shown(self._root)}` is not UTF-8"
                self.what_helps = "rename it"
                self._begin(listener.at_ns, _Way.LOOK, stop.is_asked)
                return
            # No rights, or no more watches.
            self.why_slow = why if way.next is _Way.LOOK else ""
            self.what_helps = _MORE_WATCHES
            self._begin(listener.at_ns, way.next, stop.is_asked)

    def _listen(self, stop: "_Stop", way: _Way, heard: "_Heard") -> None:
        from watchfiles import watch

        _prove_that_threads_start()
        watched, young = _watched(), dict[str, _Content]()
        is_each = way is _Way.EACH
        changes = watch(
            *(_folders_below(self._root, watched) if is_each else (self._root,)),
            watch_filter=watched,
            step=_STEP_MS,
            debounce=_DEBOUNCE_MS,
            stop_event=stop,
            rust_timeout=200,
            yield_on_timeout=True,
            raise_interrupt=False,
            recursive=not is_each,
        )
        with closing(changes):
            has_successor = False
            for batch in changes:
                # Somebody listens in a new folder by the time of the next batch, if not of the first.
                paths = {path for path, then in young.items() if _content(path, watched) != then}
                paths |= {path for _, path in batch}
                links = {path for path in paths if os.path.islink(path) and os.path.isdir(path)}
                young = {
                    path: _content(path, watched, links) for path in paths if os.path.isdir(path)
                }
                if paths:
                    self._changes.put(paths)
                if has_successor:
                    return  # what came before that one began has been told now
                is_new = bool(links) or (is_each and bool(young))
                if is_new or any(not paths.isdisjoint(_with_folders(each)) for each in stop.links):
                    has_successor = self._begin(heard.at_ns, way).wait(_READY_SECONDS)
                heard.at_ns = time.time_ns()

    def _look(self, stop: "_Stop") -> None:
        watched = _watched()
        before, seconds = _all_content(self._root, watched), _LOOK_SECONDS
        stop.is_set()
        while not self._is_over.wait(seconds):
            began = time.monotonic()
            now = _all_content(self._root, watched)
            changes = {path for path in before.keys() | now if before.get(path) != now.get(path)}
            if changes:
                self._changes.put(changes)
            before, seconds = now, max(_LOOK_SECONDS, (time.monotonic() - began) / _LOOK_SHARE)

    def _catch_up(self, since_ns: int) -> set[str]:
        """Look for what was saved before anything was watched; return the links to folders.

        On a busy machine a program may have said all that it has to say by then.
        """
        watched, files, links = _watched(), set[str](), set[str]()
        for path in _files_below(self._root, watched, links):
            if is_later(path, since_ns):
                files.add(path)
        if files:
            self._changes.put(files)
        self._is_ready.set()
        return links


def _prove_that_threads_start() -> None:
    """Raise if no thread can be started: what watches needs one, and without it stands still.

    It would do so with Python's lock in its hand, so that nothing could end whet any more.

    Raises:
        RuntimeError: if so.
    """
    thread = DaemonThread(target=_nothing, name="whet-saves-proof")
    thread.start()
    thread.join()


def _nothing() -> None:
    """Do nothing."""


def _watched() -> "DefaultFilter":
    """Return what says whether a file is watched at all."""
    from watchfiles import DefaultFilter

    own = own_folder()
    return DefaultFilter(
        ignore_dirs=(*DefaultFilter.ignore_dirs, *_IGNORED),
        ignore_paths=[os.path.realpath(own), own] if own else [],
    )


def _files_below(
    top: str | Path, watched: "DefaultFilter", links: set[str] | None = None
) -> Iterator[str]:
    """Yield the files in a folder that are watched; none if it is no folder.

    Args:
        top: the folder.
        watched: says whether a file is watched at all.
        links: gets the links to folders; what is behind them isn't yielded.
    """
    from watchfiles import Change

    for folder, folders, files in os.walk(top):
        folders[:] = [each for each in folders if watched(Change.added, f"{folder}/{each}")]
        if links is not None:
            links.update(filter(os.path.islink, (f"{folder}/{each}" for each in folders)))
        for path in (os.path.join(folder, name) for name in files):
            if watched(Change.modified, path):
                yield path


def _content(folder: str, watched: "DefaultFilter", links: set[str] | None = None) -> _Content:
    return {path: changed_at(path) for path in _files_below(folder, watched, links)}


def _all_content(top: Path, watched: "DefaultFilter") -> _Content:
    """Return what is in a folder, and the links to folders in it."""
    links = set[str]()
    content = _content(str(top), watched, links)
    for link in links:
        with suppress(OSError):  # gone
            content[link] = os.lstat(link).st_ctime_ns
    return content


def _folders_below(top: Path, watched: "DefaultFilter") -> Iterator[str]:
    """Yield a folder and all below it that are watched."""
    from watchfiles import Change

    for folder, folders, _ in os.walk(top):
        folders[:] = [each for each in folders if watched(Change.added, f"{folder}/{each}")]
        yield folder


def _with_folders(path: str) -> tuple[str, ...]:
    return path, *map(str, Path(path).parents)


def _shown(path: Path) -> str:
    return os.fsencode(path).decode("utf-8", "backslashreplace")


@dataclass(slots=True)
class _Heard:
    """The time up to which all saves are known."""

    at_ns: int = field(default_factory=time.time_ns)


class _Stop:
    """Ends the watching, which asks again and again whether it is to end: from then on it is on.

    Attributes:
        is_asked: it is on.
        links: the links to folders that were there then.
    """

    def __init__(
        self,
        is_over: threading.Event,
        begin: Callable[[], set[str]],
        is_asked: threading.Event | None = None,
    ) -> None:
        self.is_asked = is_asked or threading.Event()
        self.links = set[str]()
        self._is_over = is_over
        self._begin = begin
        self._has_begun = False

    def is_set(self) -> bool:
        """Whether it is to end."""
        if not self._has_begun:
            self._has_begun = True
            self.links = self._begin()
            self.is_asked.set()
        return self._is_over.is_set()


def is_later(path: str, than_ns: int) -> bool:
    """Whether a file is there and has changed after a time."""
    changed_ns = changed_at(path)
    # Removed: by the program, for all that is known.
    return changed_ns is not None and changed_ns > than_ns


def changed_at(path: str) -> int | None:
    """Return when a file changed last, or the link that leads to it; None: nothing is there."""
    try:
        link_ns = os.lstat(path).st_ctime_ns
    except OSError:
        return None
    try:
        return max(link_ns, os.stat(path).st_ctime_ns)
    except OSError:  # it leads nowhere
        return link_ns


def wait_until_written(paths: Iterable[str]) -> None:
    """Wait until no process has one of these files open for writing; a second at most."""
    until = time.monotonic() + _WRITING_SECONDS
    for path in paths:
        while is_open_for_writing(path) and time.monotonic() < until:
            time.sleep(_ASK_AGAIN_SECONDS)


def is_open_for_writing(path: str) -> bool:
    """Whether anybody has a file open to write to it; no where the system can't tell.

    The kernel grants a lease only for a file that no process writes to; it is released at once. Source: fcntl(2).
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return False  # who opens a pipe lets in who waits to write to it
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if not file_times.is_of_this_kernel(os.fstat(file).st_dev):
            return False  # NFS refuses a lease for reasons of its own
        # Who opens it just now waits for the lease, and this process is told, by a signal that
        # does nothing: the usual one would end it.
        fcntl.fcntl(file, _SET_SIGNAL, signal.SIGURG)
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    else:
        return False
    finally:
        os.close(file)


def wait_until_settled(paths: Iterable[str]) -> None:
    """Wait until a later save of one of these files would show in the time it has."""
    states: list[os.stat_result] = []
    for path in paths:
        for look in (os.lstat, os.stat):
            with suppress(OSError):  # gone, or a link that leads nowhere
                states.append(look(path))
    file_times.wait_until_settled(states)
