"""Looking at what is installed once for several runs, or from the moment of a save on."""

import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from whet.host.stage import Snapshot
from whet.host.stirrings import Stirrings

LONGEST_SECONDS = 0.1
"""An earlier look than that is made again."""

_PAUSE_SECONDS = 1.0
"""Where it cannot be heard what changes, that is tried again after so long."""

_WATCHES, _SHARE = "/proc/sys/fs/inotify/max_user_watches", 8
"""Of the folders that a user may listen in others need most, an editor for one."""


@dataclass(slots=True, kw_only=True)
class _Look:
    snapshot: Snapshot
    heard: int
    began: float = field(default_factory=time.monotonic)
    is_over: threading.Event = field(default_factory=threading.Event)
    is_right: bool = False


class EarlyLook:
    """Looks at what is installed as soon as something is saved; a context manager.

    A program with torch has looked at thousands of installed files, and asking for each of them
    takes longer than a save takes to settle. Whatever is not installed is looked at when the copy
    is ready to run on. So is all of it where something has changed meanwhile among the installed
    files, where that cannot be known, and where nobody saved anything.

    A search makes many runs in a tenth of a second: there the look of one serves the next ones.

    Attributes:
        times_used: how often a run needed to look at the rest alone.
    """

    def __init__(self, *, longest_seconds: float = LONGEST_SECONDS, is_kept: bool = False) -> None:
        """Make it ready.

        Args:
            longest_seconds: what was looked at earlier than that is looked at again.
            is_kept: one look serves all runs that begin until then, not the next one alone.
        """
        self.times_used = 0
        self._longest_seconds = longest_seconds
        self._is_kept = is_kept
        self._tried_at = 0.0
        self._stack = ExitStack()
        self._stirrings = Stirrings(self._begin)
        self._lock = threading.Lock()
        self._expected: Snapshot | None = None
        self._look: _Look | None = None
        self._known: Snapshot | None = None
        self._heard_when_known = -1

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
            is_known = snapshot is self._known and self._has_heard_nothing()
        if snapshot is not None and not is_known:
            self._stirrings.do_soon(partial(self._get_to_know, snapshot))

    def begin_run(self) -> None:
        """Say that a run begins: what changes from now on is its own doing."""
        with self._lock:
            self._expected = None

    def _get_to_know(self, snapshot: Snapshot) -> bool:
        """Listen where the snapshot has looked; say whether nothing can be missed there."""
        # What is heard while the folders are found may replace one of them.
        heard = self._stirrings.heard()
        installed = [each for each in snapshot.seen if each.is_installed]
        paths = {path for each in installed for path in (*each.files, *each.links)}
        folders = {path for each in installed for path in (*each.folders, *each.places)}
        near = {_folder(path) for path in snapshot.sources}
        is_known = len({_folder(path) for path in paths} | folders) <= _most_folders()
        is_known = is_known and self._stirrings.listen_in(near, paths, folders)
        with self._lock:
            self._known = snapshot if is_known else None
            self._heard_when_known = heard
        return is_known

    def _has_heard_nothing(self) -> bool:
        """Whether what is listened in is still what a snapshot has looked at."""
        return self._stirrings.heard() == self._heard_when_known

    def spoilt_by(self, snapshot: Snapshot) -> str:
        """Return a path that is not what it was when the program saw it; empty if all are.

        Args:
            snapshot: the one that is to run on, after no reset step.
        """
        with self._lock:
            look = self._look
            self._look = look if self._is_kept else None
        if look is not None and look.snapshot is snapshot and self._still_holds(look):
            self.times_used += 1
            return snapshot.spoilt_by(is_installed=False)
        return self._look_for_many(snapshot) if self._is_kept else snapshot.spoilt_by()

    def _still_holds(self, look: _Look) -> bool:
        look.is_over.wait()
        is_recent = time.monotonic() - look.began <= self._longest_seconds
        return look.is_right and is_recent and self._stirrings.heard() == look.heard

    def _look_for_many(self, snapshot: Snapshot) -> str:
        """Look at everything, and keep that if it can be heard what changes from then on."""
        look = _Look(snapshot=snapshot, heard=self._stirrings.heard())
        with self._lock:
            # Not later: what changes while the folders are still being found is not heard of.
            was_known = snapshot is self._known and look.heard == self._heard_when_known
        spoilt = snapshot.spoilt_by()
        look.is_right = not spoilt
        look.is_over.set()
        with self._lock:
            is_known = was_known and snapshot is self._known
            self._look = look if is_known else None
            is_to_try = not is_known and look.began - self._tried_at > _PAUSE_SECONDS
            self._tried_at = look.began if is_to_try else self._tried_at
        if is_to_try:
            self._stirrings.do_soon(partial(self._get_to_know, snapshot))
        return spoilt

    def _begin(self) -> None:
        """Look now, if a run is expected and nobody has looked; by the thread that listens."""
        with self._lock:
            snapshot, look = self._expected, self._look
            is_recent = look is not None and time.monotonic() - look.began < self._longest_seconds
            if snapshot is None or snapshot is not self._known or is_recent:
                return
            # Before the first file is asked for: what changes from here on is heard of.
            look = self._look = _Look(snapshot=snapshot, heard=self._stirrings.heard())
            is_known = look.heard == self._heard_when_known
        try:
            is_known = is_known or self._get_to_know(snapshot)
            look.is_right = is_known and not snapshot.spoilt_by(is_installed=True)
        finally:
            look.is_over.set()


def _most_folders() -> int:
    try:
        return int(Path(_WATCHES).read_text(encoding="ascii")) // _SHARE
    except (OSError, ValueError):
        return 0


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "/"
