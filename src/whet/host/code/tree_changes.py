"""How two trees of a git repository differ, path by path, and commits with some of these changes."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from whet.core.value_class import value_class
from whet.host.code.shadow_index import ShadowIndex
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.git import GitFailedError, Repository
from whet.host.process.working_tree import WorkingTree

GONE = "000000"
"""The mode of a path that doesn't exist."""

COMPILED = re.compile(r"(^|/)__pycache__/[^/]*\.pyc$")
PLAIN_FILES = frozenset({"100644", "100755"})


@value_class(kw_only=True)
class PathChange:
    """How one path differs between two trees.

    Attributes:
        path: its name in the later tree, or in the earlier one if it is gone.
        was: its name in the earlier tree if it was renamed, else empty.
        old_mode: git's mode of it before; ``GONE``: there was none.
        new_mode: the mode after.
        old_blob: git's name of what it held.
        new_blob: git's name of what it holds.
    """

    path: str
    was: str
    old_mode: str
    new_mode: str
    old_blob: str
    new_blob: str

    @property
    def is_edit(self) -> bool:
        """Whether it is a file before and after, under the same name."""
        return not self.was and {self.old_mode, self.new_mode} <= PLAIN_FILES

    @property
    def is_compiled(self) -> bool:
        """Whether it is what Python has compiled for itself, and makes again from the source."""
        return all(COMPILED.search(path) for path in (self.path, self.was or self.path))


@value_class(kw_only=True)
class Placed:
    """What stands at a path: ``mode`` is ``GONE`` if nothing does."""

    path: str
    mode: str
    blob: str


def path_changes(
    repository: Repository, old: str, new: str, *, how: str = "--find-renames"
) -> tuple[PathChange, ...]:
    """Return how two commits or trees differ; a file with another name is one change.

    Args:
        repository: where they are.
        old: the earlier one.
        new: the later one.
        how: what git compares to find a file's earlier name; with ``--find-copies`` also what keeps
            its name and holds something else.

    Raises:
        GitFailedError: if git doesn't have one of them.
    """
    plain = ("--raw", "-r", "-z", "--no-abbrev", how, "--ignore-submodules=none")
    fields = iter(repository.get("diff-tree", *plain, old, new).split("\0")[:-1])
    changes: list[PathChange] = []
    for entry in fields:
        old_mode, new_mode, old_blob, new_blob, status = entry.lstrip(":").split(" ")
        path = next(fields)
        was = path if status[0] in "RC" else ""
        changes.append(
            PathChange(
                path=next(fields) if was else path,
                was=was,
                old_mode=old_mode,
                new_mode=new_mode,
                old_blob=old_blob,
                new_blob=new_blob,
            )
        )
    return tuple(changes)


def line_changes(repository: Repository, old_blob: str, new_blob: str) -> bytes:
    """Return how two files differ as a diff without context; of binary files it has no hunks.

    Raises:
        GitFailedError: if git doesn't have one of them.
    """
    plain = ("--no-ext-diff", "--no-textconv", "--no-color", "--histogram", "--unified=0")
    how = ("diff", *plain, "--inter-hunk-context=0", "--submodule=short")
    answer = repository.ask(*how, old_blob, new_blob)
    if answer.exit_code != 0:
        raise GitFailedError(f"git diff: {answer.complaint}")
    return answer.stdout


def shown_changes(repository: Repository, old: str, new: str) -> bytes:
    """Return how two commits differ as a diff to read, which `git apply` takes too.

    Raises:
        GitFailedError: if git doesn't have one of them.
    """
    plain = ("--no-ext-diff", "--no-textconv", "--no-color", "--find-renames", "--binary")
    answer = repository.ask("diff-tree", "-r", "-p", *plain, old, new)
    if answer.exit_code != 0:
        raise GitFailedError(f"git diff-tree: {answer.complaint}")
    return answer.stdout


def blob_of(repository: Repository, name: str) -> bytes:
    """Return what a file holds, by git's name of it.

    Raises:
        GitFailedError: if git doesn't have it.
    """
    answer = repository.ask("cat-file", "blob", name)
    if answer.exit_code != 0:
        raise GitFailedError(f"git cat-file: {answer.complaint}")
    return answer.stdout


class PartialCommits:
    """Makes commits that have some of the changes between two others, in an index of its own.

    Equal content gives the equal commit. They are whet's own (`object_store`): the repository does
    not get them.
    """

    def __init__(self, repository: Repository, cleanup_journal: CleanupJournal, base: str) -> None:
        """Begin from ``base``, the full name of a commit."""
        tree = WorkingTree.holding(str(repository.top))
        self._base = base
        folder = cleanup_journal.temporary_folder("whet-") / "git"
        self._index = ShadowIndex(str(folder), tree)
        self._index.make()
        self._index.configure(excluded="")
        header = repository.get("show", "--no-patch", "--format=%ct", base)
        self._seconds = int(header.split()[-1])

    def blob(self, content: bytes) -> str:
        """Keep what a file holds and return git's name of it."""
        return self._index.get("hash-object", "-w", "--stdin", stdin=content)

    def commit(self, placed: Iterable[Placed]) -> str:
        """Return the commit that is ``base`` with other things at some paths.

        Raises:
            GitFailedError: if it can't be: a file where there is a folder.
        """
        # What goes makes room for what comes.
        order = sorted(placed, key=lambda each: each.mode != GONE)
        if not order:
            return self._base
        lines = "".join(f"{each.mode} {each.blob}\t{each.path}\0" for each in order)
        self._index.get("read-tree", self._base)
        self._index.get("update-index", "-z", "--index-info", stdin=os.fsencode(lines))
        tree = self._index.write_tree()
        return self._index.commit(
            tree, parent=self._base, seconds=self._seconds, message="whet: a part of a change\n"
        )


def is_python(path: str) -> bool:
    """Whether a path is that of a Python source."""
    return Path(path).suffix in {".py", ".pyi"}
