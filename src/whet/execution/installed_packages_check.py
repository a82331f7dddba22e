"""Checking the installed files once for several runs, ahead of a save or as soon as one is noticed."""

import math
import os
import stat
import threading
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Self

from whet.host.files.file_times import is_of_this_kernel
from whet.host.files.folder_watch import FolderWatch, Hearing
from whet.host.trial.process_snapshots import Snapshot

LONGEST_SECONDS = 0.1
"""whet repeats a check that is older than this."""

_LASTING_SECONDS = 1.0
"""The same in a search, where whet gets a notice of each change."""

_PAUSE_SECONDS = 1.0
"""Where whet can't watch for changes, it tries again after this time."""

_WATCHES, _SHARE = "/proc/sys/fs/inotify/max_user_watches", 8
"""The share of a user's watches that whet takes: other programs, such as an editor, need the rest."""


@dataclass(slots=True, kw_only=True)
class _Look:
    snapshot: Snapshot
    heard: int
    began: float = field(default_factory=time.monotonic)
    is_over: threading.Event = field(default_factory=threading.Event)
    is_right: bool = False
    lasts_seconds: float = 0.0

    @property
    def is_recent(self) -> bool:
        """Whether it isn't too long ago."""
        return time.monotonic() - self.began <= self.lasts_seconds

    def covers(self, snapshot: Snapshot) -> bool:
        """Whether all was looked at that a snapshot has seen of what is installed."""
        return self.snapshot is snapshot or all(
            any(each.is_part_of(mine) for mine in self.snapshot.seen if mine.is_installed)
            for each in snapshot.seen
            if each.is_installed
        )


class InstalledPackagesCheck:
    """Looks at what is installed before a run needs it; a context manager.

    A program with torch has looked at thousands of installed files, and asking for each of them
    takes longer than anything else between a save and a run. Where each change of them is heard of,
    they are looked at after a run, for the next one: no other machine can change them, and none of
    them has another name by which it can be changed. Else that is done as soon as something is
    saved. Whatever isn't installed is looked at when the copy is ready to run on. So is all of it
    where something has changed meanwhile among the installed files, where that can't be known, and
    where nobody saved anything.

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
        self._folder_watch = FolderWatch(self._begin)
        self._lock = threading.Lock()
        self._expected: Snapshot | None = None
        self._look: _Look | None = None
        self._known: Snapshot | None = None
        self._heard_when_known = -1
        self._is_remote = True
        self._listened_to: set[tuple[int, int]] = set()

    def __enter__(self) -> Self:
        self._stack.enter_context(self._folder_watch)
        return self

    def __exit__(self, *_: object) -> None:
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
        """Say which snapshot the next run will probably resume from, now that one is over."""
        with self._lock:
            self._look = None
            self._expected = snapshot
            is_known = snapshot is self._known and self._has_heard_nothing()
        if snapshot is not None and not is_known:
            self._folder_watch.do_soon(partial(self._get_to_know, snapshot))

    def look_ahead(self) -> None:
        """Look now for the next run, if whet notices each later change; nothing waits for it."""
        self._folder_watch.do_soon(partial(self._begin, is_ahead=True))

    def begin_run(self) -> None:
        """Say that a run begins: what changes from now on is its own doing."""
        with self._lock:
            self._expected = None

    def _get_to_know(self, snapshot: Snapshot) -> bool:
        """Listen where the snapshot has looked; say whether nothing can be missed there."""
        # What is heard while the folders are found may replace one of them.
        changes = self._folder_watch.heard()
        installed = [each for each in snapshot.seen if each.is_installed]
        paths = {path for each in installed for path in (*each.files, *each.links)}
        folders = {path for each in installed for path in (*each.folders, *each.places)}
        near = {_folder(path) for path in snapshot.sources}
        is_too_much = len({_folder(path) for path in paths} | folders) > _most_watches()
        hearing = (
            Hearing(is_deaf=True, is_remote=True)
            if is_too_much
            else self._folder_watch.listen_in(near, paths, folders)
        )
        with self._lock:
            self._known = None if hearing.is_deaf else snapshot
            self._heard_when_known = changes
            self._is_remote = hearing.is_remote
            self._listened_to.clear()  # one of them may be gone, and its number another's
        return not hearing.is_deaf

    def _has_heard_nothing(self) -> bool:
        """Whether what is listened in is still what a snapshot has looked at."""
        return self._folder_watch.heard() == self._heard_when_known

    def spoilt_by(self, snapshot: Snapshot) -> str:
        """Return a path that isn't what it was when the program saw it; empty if all are.

        Args:
            snapshot: the one that is to run on, after no reset step.
        """
        with self._lock:
            look = self._look
            self._look = look if look is not None and self._is_to_keep(look) else None
        if look is not None and look.covers(snapshot) and self._still_holds(look):
            self.times_used += 1
            return snapshot.spoilt_by(is_installed=False)
        return self._look_for_many(snapshot) if self._is_kept else snapshot.spoilt_by()

    def _is_to_keep(self, look: _Look) -> bool:
        """Whether more than one run may rely on a look."""
        return self._is_kept or look.lasts_seconds > self._longest_seconds

    def _still_holds(self, look: _Look) -> bool:
        look.is_over.wait()
        return look.is_right and look.is_recent and self._folder_watch.heard() == look.heard

    def _look_for_many(self, snapshot: Snapshot) -> str:
        """Look at everything, and keep that if it can be heard what changes from then on."""
        look = self._new_look(snapshot)
        with self._lock:
            # Not later: whet doesn't notice changes while it still looks for the folders.
            was_known = snapshot is self._known and look.heard == self._heard_when_known
        statuses: dict[str, os.stat_result] = {}
        blocker = snapshot.spoilt_by(is_installed=True, found=statuses)
        blocker = blocker or snapshot.spoilt_by(is_installed=False)
        look.is_right = not blocker
        if was_known and not blocker and self._hears_all(snapshot, statuses):
            look.lasts_seconds = max(_LASTING_SECONDS, self._longest_seconds)
        look.is_over.set()
        with self._lock:
            is_known = was_known and snapshot is self._known
            self._look = look if is_known else None
            is_to_try = not is_known and look.began - self._tried_at > _PAUSE_SECONDS
            self._tried_at = look.began if is_to_try else self._tried_at
        if is_to_try:
            self._folder_watch.do_soon(partial(self._get_to_know, snapshot))
        return blocker

    def _new_look(self, snapshot: Snapshot) -> _Look:
        # Before the first file is checked: whet notices changes from here on.
        changes = self._folder_watch.heard()
        return _Look(snapshot=snapshot, heard=changes, lasts_seconds=self._longest_seconds)

    def _begin(self, *, is_ahead: bool = False) -> None:
        """Look now, if a run is expected and nobody has looked; by the thread that listens.

        Args:
            is_ahead: only if that will hold until the run begins, however long that takes.
        """
        changes = self._folder_watch.heard()
        with self._lock:
            snapshot, look = self._expected, self._look
            has_looked = look is not None and look.is_recent and look.heard == changes
            if snapshot is None or snapshot is not self._known or has_looked:
                return
            if is_ahead and self._is_remote:
                return
            look = self._look = self._new_look(snapshot)
            is_known = look.heard == self._heard_when_known
        try:
            statuses: dict[str, os.stat_result] = {}
            is_known = is_known or self._get_to_know(snapshot)
            look.is_right = is_known and not snapshot.spoilt_by(is_installed=True, found=statuses)
            if is_ahead and look.is_right and self._hears_all(snapshot, statuses):
                look.lasts_seconds = math.inf
        finally:
            look.is_over.set()

    def _hears_all(self, snapshot: Snapshot, statuses: dict[str, os.stat_result]) -> bool:
        """Listen to files that have other names too; say whether nothing can change unheard.

        Args:
            snapshot: what has been looked at, and is once more if there is such a file.
            statuses: what the look has found.
        """
        devices = {each.st_dev for each in statuses.values()}
        if self._is_remote or not all(map(is_of_this_kernel, devices)):
            return False
        linked = {
            (each.st_dev, each.st_ino): path
            for path, each in statuses.items()
            if each.st_nlink > 1 and stat.S_ISREG(each.st_mode)
        }
        unheard = linked.keys() - self._listened_to
        if not unheard:
            return True
        if len(unheard) + len(self._listened_to) > _most_watches():
            return False
        if not self._folder_watch.listen_to(linked[number] for number in unheard):
            return False
        self._listened_to |= unheard
        return not snapshot.spoilt_by(is_installed=True)


def _most_watches() -> int:
    try:
        return int(Path(_WATCHES).read_text(encoding="ascii")) // _SHARE
    except (OSError, ValueError):
        return 0


def _folder(path: str) -> str:
    return path.rpartition("/")[0] or "/"
