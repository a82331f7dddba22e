"""Which files of a working tree go into a snapshot, and which only by name, size and time."""

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import field

from whet.core.value_class import value_class
from whet.host.code.shadow_index import Changes, ShadowIndex
from whet.host.code.snapshot_memory import SetAside
from whet.host.process.working_tree import stamp_of

# The limit for all files together, as a multiple of the limit for one. A folder of ten thousand
# pictures that git doesn't ignore would fill the user's disk otherwise.
_TOTAL_FACTOR, _PLAIN_FACTOR = 20, 2
"""The second is for a folder outside git, where nothing says what belongs to the code."""


@value_class(kw_only=True)
class Chosen:
    """What has to change in the shadow index.

    Attributes:
        added: files and symbolic links to be put in as they are.
        removed: paths to be taken out.
        aside: every file that is kept by name, size and time only.
        nested: repositories seen, and whether the index doesn't know their commit.
        submodules: those that aren't checked out, and their commit.
        rules: ignore files that are ignored themselves, and their stamps.
        notes: what could not be seen.
    """

    added: list[str] = field(default_factory=list[str])
    removed: list[str] = field(default_factory=list[str])
    aside: dict[str, SetAside] = field(default_factory=dict[str, SetAside])
    nested: dict[str, bool] = field(default_factory=dict[str, bool])
    submodules: dict[str, str] = field(default_factory=dict[str, str])
    rules: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])


@value_class(kw_only=True, eq=False)
class FileChoice:
    """The choice for one snapshot.

    Attributes:
        shadow: whet's index.
        limit_bytes: an untracked file above it is kept by name, size and time only.
        own: whet's folders in the working tree, from its top.
        known: files that were set aside last time.
        known_rules: ``Chosen.rules`` of last time.
    """

    shadow: ShadowIndex
    limit_bytes: int
    own: tuple[str, ...]
    known: Mapping[str, SetAside]
    known_rules: tuple[str, ...]

    def choose(self, *, is_doubtful: bool) -> Chosen:
        """Compare the working tree with the shadow index and say what has to be done.

        Args:
            is_doubtful: the user's index may have changed, so which files are tracked is
                asked again.
        """
        changes = self.shadow.changes()
        selection = Chosen(notes=list(changes.unreadable))
        for path in changes.ignore_files:
            selection.rules.append(f"{path} {stamp_of(self._full(path))}")
        selection.removed.extend(changes.gone)
        files: dict[str, os.stat_result] = {}
        for path in self._not_own(changes.unknown):
            self._sort(path, selection, files)
        in_index = set(self._not_own(changes.written))
        for path in in_index:
            self._sort(path, selection, files)
        if is_doubtful or _concerns_ignoring(changes) or (*selection.rules,) != self.known_rules:
            self._follow_the_users_index(selection, files)
        aside = self._too_large(files, is_doubtful=is_doubtful)
        for path, status in files.items():
            is_readable = os.access(self._full(path), os.R_OK)
            if is_readable and path not in aside:
                selection.added.append(path)
                continue
            # By the time of its rights, so that it is looked at again when it can be read.
            time_ns = status.st_mtime_ns if is_readable else status.st_ctime_ns
            selection.aside[path] = SetAside(path=path, size_bytes=status.st_size, mtime_ns=time_ns)
            if path in in_index:
                selection.removed.append(path)
        return selection

    def _sort(self, path: str, chosen: Chosen, files: dict[str, os.stat_result]) -> None:
        path = path.rstrip("/")
        try:
            status = os.lstat(self._full(path))
        except OSError:
            chosen.removed.append(path)
            return
        if stat.S_ISREG(status.st_mode):
            files[path] = status
        elif stat.S_ISLNK(status.st_mode):
            chosen.added.append(path)
        elif stat.S_ISDIR(status.st_mode) and os.path.lexists(self._full(f"{path}/.git")):
            chosen.nested[path] = True
        else:
            chosen.removed.append(path)  # a pipe, a socket or a device: git holds none

    def _follow_the_users_index(self, chosen: Chosen, files: dict[str, os.stat_result]) -> None:
        """Add ignored files that the user tracks, remove those no longer tracked."""
        user = self.shadow.tree.repository
        listing = user.get("ls-files", "-z", "--cached", "--ignored", "--exclude-standard")
        tracked = set(self._not_own(listing.split("\0")[:-1]))
        mine = self.shadow.ignored()
        strays = mine - tracked
        chosen.removed.extend(strays)
        # What was written and is ignored since then has been sorted in by now.
        chosen.added[:] = [path for path in chosen.added if path not in strays]
        for path in strays & files.keys():
            del files[path]
        for path in tracked - mine:
            if os.path.lexists(self._full(path)):
                self._sort(path, chosen, files)
        if os.path.lexists(self._full(".gitmodules")):
            self._add_empty_submodules(chosen)

    def _add_empty_submodules(self, chosen: Chosen) -> None:
        listing = self.shadow.tree.repository.get("ls-files", "-z", "--stage")
        for entry in listing.split("\0")[:-1]:
            what, _, path = entry.partition("\t")
            mode, commit, _ = what.split(" ")
            folder = self._full(path)
            if mode == "160000" and os.path.isdir(folder) and not os.listdir(folder):
                chosen.submodules[path] = commit

    def _too_large(
        self, files: Mapping[str, os.stat_result], *, is_doubtful: bool
    ) -> frozenset[str]:
        """Return which of the files are kept by name, size and time only."""
        same = {
            path
            for path, status in files.items()
            if (last := self.known.get(path)) is not None
            and (last.size_bytes, last.mtime_ns) == (status.st_size, status.st_mtime_ns)
        }
        rest = {path: status.st_size for path, status in files.items() if path not in same}
        if is_doubtful:
            rest |= {path: files[path].st_size for path in same}
        if sum(rest.values()) <= self.limit_bytes:
            return frozenset(same - rest.keys())
        optional = self._optional(rest.keys())
        large = {path for path in optional if rest[path] > self.limit_bytes} | (same & optional)
        # A tracked one as well: git takes minutes for a gigabyte, and a sparse file has terabytes.
        large |= {path for path, size in rest.items() if size > _TOTAL_FACTOR * self.limit_bytes}
        total, factor = 0, _TOTAL_FACTOR
        if self.shadow.tree.repository.git_folder:
            factor = _PLAIN_FACTOR
        for path in sorted(optional - large, key=lambda path: (rest[path], path)):
            total += rest[path]
            if total > factor * self.limit_bytes:
                large.add(path)
        return frozenset(large | (same - rest.keys()))

    def _optional(self, paths: Iterable[str]) -> set[str]:
        """Return those of ``paths`` whose content the user doesn't keep in the repository.

        Besides untracked files these are tracked ones with a filter, such as those of git-lfs:
        what is committed of them is a pointer.
        """
        user = self.shadow.tree.repository
        tracked = set(user.get("ls-files", "-z", "--cached").split("\0"))
        names = b"".join(os.fsencode(path) + b"\0" for path in paths)
        attributes = user.get("check-attr", "-z", "--stdin", "filter", stdin=names).split("\0")
        filters = zip(attributes[::3], attributes[2::3], strict=False)
        filtered = {path for path, value in filters if value not in {"unspecified", "unset"}}
        return {path for path in paths if path not in tracked or path in filtered}

    def _not_own(self, paths: Iterable[str]) -> Iterable[str]:
        own = (*(f"{each}/" for each in self.own), ".whet/")
        return (
            path for path in paths if not f"{path}/".startswith(own) and "/.whet/" not in f"{path}/"
        )

    def _full(self, path: str) -> str:
        return os.path.join(self.shadow.tree.top, path)


def _concerns_ignoring(changes: Changes) -> bool:
    everything = (*changes.written, *changes.unknown, *changes.gone)
    return any(path.endswith(".gitignore") for path in everything)
