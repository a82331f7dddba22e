"""Looking whether a frozen copy is still right from the moment of a save on, while it settles."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from whet.host.observation import Observation, is_of_link
from whet.host.stage import Snapshot
from whet.host.stirrings import Stirrings

LONGEST_SECONDS = 0.1
"""An earlier look than that is made again."""

_WATCHES, _SHARE = "/proc/sys/fs/inotify/max_user_watches", 8
"""Of the folders that a user may listen in others need most, an editor for one."""


@dataclass(slots=True, kw_only=True)
class _Look:
    snapshot: Snapshot
    heard: int
    began: float = field(default_factory=time.monotonic)
    is_over: threading.Event = field(default_factory=threading.Event)
    spoilt: str = ""


class EarlyLook:
    """Looks at what is installed as soon as something is saved; a context manager.

    A program with torch has looked at thousands of installed files, and asking for each of them
    takes longer than a save takes to settle. Whatever is not installed is looked at when the copy
    is ready to run on. So is all of it where something has changed meanwhile among the installed
    files, where that cannot be known, and where nobody saved anything.

    Attributes:
        times_used: how often a run needed to look at the rest alone.
    """

    def __init__(self, *, longest_seconds: float = LONGEST_SECONDS) -> None:
        """Make it ready.

        Args:
            longest_seconds: what was looked at earlier than that is looked at again.
        """
        self.times_used = 0
        self._longest_seconds = longest_seconds
        self._stack = ExitStack()
        self._stirrings = Stirrings(self._begin)
        self._lock = threading.Lock()
        self._expected: Snapshot | None = None
        self._look: _Look | None = None
        self._known: Snapshot | None = None

    def __enter__(self) -> Self:
        self._stack.enter_context(self._stirrings)
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    @property
    def is_ready(self) -> bool:
        """Whether a save would be noticed by which the snapshot that is expected is looked at."""
        with self._lock:
            return self._expected is not None and self._expected is self._known

    @property
    def has_looked(self) -> bool:
        """Whether what is installed has been looked at for the next run."""
        with self._lock:
            return self._look is not None and self._look.is_over.is_set()

    def expect(self, snapshot: Snapshot | None) -> None:
        """Say which snapshot the next run will probably go on from, now that one is over."""
        with self._lock:
            self._look = None
            self._expected = snapshot
            is_known = snapshot is self._known
        if snapshot is not None and not is_known:
            self._stirrings.do_soon(partial(self._get_to_know, snapshot))

    def begin_run(self) -> None:
        """Say that a run begins: what changes from now on is its own doing."""
        with self._lock:
            self._expected = None

    def _get_to_know(self, snapshot: Snapshot) -> None:
        far = {folder for each in snapshot.seen for folder in _far_folders(each)}
        near = {_folder(path) for path in snapshot.sources}
        if len(far) <= _most_folders() and self._stirrings.listen_in(near, far):
            with self._lock:
                self._known = snapshot

    def spoilt_by(self, snapshot: Snapshot) -> str:
        """Return a path that is not what it was when the program saw it; empty if all are.

        Args:
            snapshot: the one that is to run on, after no reset step.
        """
        with self._lock:
            look, self._look = self._look, None
        if look is None or look.snapshot is not snapshot:
            return snapshot.spoilt_by()
        look.is_over.wait()
        is_recent = time.monotonic() - look.began <= self._longest_seconds
        if look.spoilt or not is_recent or self._stirrings.heard() != look.heard:
            return snapshot.spoilt_by()
        self.times_used += 1
        return snapshot.spoilt_by(is_installed=False)

    def _begin(self) -> None:
        """Look now, if a run is expected and nobody has looked; by the thread that listens."""
        with self._lock:
            snapshot, look = self._expected, self._look
            is_recent = look is not None and time.monotonic() - look.began < self._longest_seconds
            if snapshot is None or snapshot is not self._known or is_recent:
                return
            # Before the first file is asked for: what changes from here on is heard of.
            look = self._look = _Look(snapshot=snapshot, heard=self._stirrings.heard())
        try:
            look.spoilt = snapshot.spoilt_by(is_installed=True)
        finally:
            look.is_over.set()


def _far_folders(seen: Observation) -> Iterator[str]:
    """Yield the folders in which something has to change before an installed path does."""
    if not seen.is_installed:
        return
    yield from (_folder(path) for path in (*seen.files, *seen.links))
    # A link is followed; what it leads to may change, too.
    leads = (path for path, mark in seen.links.items() if is_of_link(mark))
    yield from (_folder(os.path.realpath(path)) for path in leads)
    for folder in (*seen.folders, *seen.places):
        yield folder
        yield _folder(folder)


def _most_folders() -> int:
    try:
        return int(Path(_WATCHES).read_text(encoding="ascii")) // _SHARE
    except (OSError, ValueError):
        return 0


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "/"
