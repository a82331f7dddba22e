"""The code that a trial ran on: the working tree, byte for byte, as one of whet's own commits.

It doesn't use or change the user's index, HEAD, stash, hooks, settings or files. The snapshot is
outside the repository (`object_store`): `git push` and `git clone` don't copy it, and `git gc`
doesn't delete it.
"""

import hashlib
import os
import re
import zlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from whet.core.errors import WhetError
from whet.core.trial import CodeState
from whet.core.value_class import value_class
from whet.host.code.file_choice import Chosen, FileChoice
from whet.host.code.plain_folders import escaped, look_through
from whet.host.code.shadow_index import ShadowIndex
from whet.host.code.snapshot_memory import Commit, Memory, SetAside, recall
from whet.host.files.files import lock_file, remove_tree, write_atomically
from whet.host.process.git import GitFailedError
from whet.host.process.object_store import has_object, own_folder
from whet.host.process.working_tree import Stamp, WorkingTree, folder_with_git, stamp_of

KEPT_BELOW_BYTES = 10_000_000

# A file that is written while it is read makes git stop; the last try starts from nothing, for
# whet's own index is damaged, or its objects were collected.
_ATTEMPTS = 3
_IN_A_LINE = 3  # of the paths are named

# Asking each costs a git process. A project with more submodules than this is rare, and
# its trials should not wait for them.
_MAX_NESTED = 16

_GONE, _SUBMODULE = "000000", "160000"
_SECONDS = re.compile(r" (\d{1,18}) [-+]\d+$")
_EMPTY_TREES = (
    "",
    "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
)


@value_class(kw_only=True)
class Snapshot:
    """The result of looking at the code.

    Attributes:
        code: the code, or None if it could not be recorded.
        notes: what isn't in it, or why there is none, in sentences.
    """

    code: CodeState | None = None
    notes: tuple[str, ...] = ()


def take_snapshot(
    folder: Path,
    *,
    state: Path,
    root: Path | None = None,
    keep_untracked_below_bytes: int = KEPT_BELOW_BYTES,
) -> Snapshot:
    """Record the working tree that ``folder`` is in. Never raises: a trial continues without.

    A working tree that equals HEAD costs one git process and makes no object, and one that
    equals its last snapshot makes no second one. A folder in no repository is one whose HEAD is
    empty (`plain_folders`).

    Args:
        folder: any folder of the working tree.
        state: folder for whet's own index.
        root: the project's folder, for one outside git; no code outside this folder is kept.
        keep_untracked_below_bytes: an untracked file above this is kept by name, size and
            time only; so are the largest ones once all together are 20 times as much.
    """
    try:
        taken = _taken_at(
            folder, os.path.abspath(state), root or folder, keep_untracked_below_bytes
        )
    except (GitFailedError, OSError, WhetError) as error:
        return Snapshot(notes=(f"whet didn't record the code: {error}",))
    return taken


def _taken_at(folder: Path, state: str, root: Path, limit_bytes: int) -> Snapshot:
    top = folder_with_git(str(folder))
    if top is not None:
        capture = _take(top, state, limit_bytes, is_nested=False)
        return Snapshot(code=capture.code, notes=capture.notes)
    top = str(root if Path(os.path.abspath(folder)).is_relative_to(root) else folder)
    plain = look_through(top)
    notes, code = plain.notes, None
    if plain.is_kept:
        capture = _take(top, state, limit_bytes, is_nested=False, left_out=plain.left_out)
        notes, code = (*notes, *capture.notes), capture.code
    return Snapshot(code=code, notes=_news(notes, _place(top, state)))


def _news(notes: tuple[str, ...], place: str) -> tuple[str, ...]:
    """Return the notes unless the last trial had the same: no file of the user's can silence them."""
    notes_file, text = Path(place, "said"), "\n".join(notes).encode("utf-8", "surrogateescape")
    with suppress(OSError):
        if notes_file.read_bytes() == text:
            return ()
    if notes or notes_file.exists():
        os.makedirs(place, exist_ok=True)
        write_atomically(notes_file, text)
    return notes


def _place(top: str, state: str) -> str:
    name = hashlib.sha256(os.fsencode(top)).hexdigest()[:16]
    return os.path.join(state, "snapshots", name)


@value_class(kw_only=True, eq=False)
class _Taken:
    code: CodeState
    is_clean: bool
    notes: tuple[str, ...]


def _take(top: str, state: str, limit_bytes: int, *, is_nested: bool, left_out: str = "") -> _Taken:
    place = _place(top, state)
    how = partial(_Session, state=state, limit_bytes=limit_bytes, left_out=left_out)
    for folder in (os.path.dirname(place), place):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    with _alone(place):
        before = _remembered(top, os.path.join(place, "memory.json"))
        for attempt in range(1, _ATTEMPTS):
            try:
                return how(place, before, is_nested=is_nested).take()
            except GitFailedError:
                if attempt == _ATTEMPTS - 1:
                    before = Memory(tree=before.tree, marks=before.marks)
        return how(place, before, is_nested=is_nested).take()


@contextmanager
def _alone(place: str) -> Generator[None]:
    # Held by the kernel, so that a whet that is killed leaves no lock behind.
    lock = os.open(os.path.join(place, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        lock_file(lock, waits=True)
        yield
    finally:
        os.close(lock)


def _remembered(top: str, path: str) -> Memory:
    memory = recall(path)
    if memory is not None and memory.marks == _marks(top, memory.tree):
        return memory
    tree = WorkingTree.holding(top)
    return Memory(tree=tree, marks=_marks(top, tree))


def _marks(top: str, tree: WorkingTree) -> tuple[Stamp, ...]:
    inode, _, _ = stamp_of(os.path.join(top, ".git"))
    settings = (os.path.join(tree.common_dir, "config"), f"{tree.git_dir}/config.worktree")
    return ((inode, 0, 0), *(stamp_of(path) for path in settings))


class _Session:
    """One snapshot of one working tree, begun from what the last one left."""

    def __init__(
        self,
        place: str,
        before: Memory,
        *,
        state: str,
        limit_bytes: int,
        left_out: str,
        is_nested: bool,
    ) -> None:
        self.place = place
        self.state = state
        self.limit_bytes = limit_bytes
        self.left_out = left_out
        self.is_nested = is_nested
        self.tree = before.tree
        self.before = before
        self.is_fresh = False
        self.notes: list[str] = []
        self.shadow = self._shadow()

    def take(self) -> _Taken:
        watched = self._watched()
        is_doubtful = self.is_fresh or watched != self.before.watched
        if is_doubtful:
            self.shadow.configure(excluded=self._own_patterns() + self.left_out)
        head = self._head()
        choice = FileChoice(
            shadow=self.shadow,
            limit_bytes=self.limit_bytes,
            own=self._own(),
            known=self.before.aside,
            known_rules=self.before.rules,
        )
        selection = choice.choose(is_doubtful=is_doubtful)
        self.notes.extend(selection.notes)
        dirt = self._nested(selection)
        tree = self._written(selection)
        now = replace(
            self.before,
            shadow=os.path.basename(self.shadow.folder),
            watched=watched,
            rules=tuple(selection.rules),
            head=head,
            trailer=self.shadow.trailer(),
            written=tree,
            aside=selection.aside,
            nested=tuple(sorted(selection.nested)),
        )
        now = replace(now, snapshot="" if self.is_nested else self._kept(now))
        if not self.is_nested:
            self._keep_what_was_amended(head)
        if now != self.before:
            now.save(os.path.join(self.place, "memory.json"))
        return self._taken(now, dirt)

    def _taken(self, now: Memory, dirt: Mapping[str, str]) -> _Taken:
        aside = tuple(sorted(str(file) for file in now.aside.values()))
        if aside:
            self.notes.append(f"recorded by name, size and time only: {_listed(sorted(now.aside))}")
        if dirt:
            self.notes.append(f"whet didn't record uncommitted changes in {_listed(sorted(dirt))}")
        code = CodeState(
            repository=self.tree.top,
            commit=now.head.name,
            tree=digest_of_code(now.written, aside, dirt),
            snapshot=now.snapshot or None,
            large_files=aside,
        )
        is_clean = not aside and not dirt and now.written == now.head.tree
        return _Taken(code=code, is_clean=is_clean, notes=tuple(self.notes))

    def _shadow(self) -> ShadowIndex:
        if self.before.shadow:
            shadow = ShadowIndex(os.path.join(self.place, self.before.shadow), self.tree)
            if not shadow.is_locked and shadow.trailer():
                return shadow
        # A new name each time: a git process that outlived its whet may still write to the old.
        for name in os.listdir(self.place):
            if name.startswith("git-"):
                with suppress(OSError):
                    remove_tree(Path(self.place, name))
        self.is_fresh = True
        self.before = Memory(tree=self.tree, marks=self.before.marks, head=self.before.head)
        shadow = ShadowIndex(os.path.join(self.place, f"git-{os.urandom(3).hex()}"), self.tree)
        shadow.make()
        return shadow

    def _head(self) -> Commit:
        name = self.tree.head()
        earlier = self.before.head
        if self.is_fresh or name != earlier.name:
            self.shadow.set_head(name)
        if name == earlier.name:
            return earlier
        if not name:
            return Commit()
        header = self.shadow.get("cat-file", "commit", name).partition("\n\n")[0].split("\n")
        variables: dict[str, str] = {}
        for line in header:
            word, _, rest = line.partition(" ")
            variables.setdefault(word, rest)
        seconds = _SECONDS.search(variables.get("committer", ""))
        if "tree" not in variables or seconds is None:
            raise GitFailedError(f"`{name}` doesn't have a commit's format")
        return Commit(name=name, tree=variables["tree"], seconds=int(seconds[1]))

    def _watched(self) -> tuple[Stamp, ...]:
        index = os.path.join(self.tree.git_dir, "index")
        left_out = (zlib.crc32(os.fsencode(self.left_out)), 0, len(self.left_out))
        return (*(stamp_of(path) for path in (index, *self.tree.ignore_files)), left_out)

    def _own(self) -> tuple[str, ...]:
        """Return whet's own folders in the working tree, relative to its top."""
        top = os.path.realpath(self.tree.top)
        folders = (os.path.realpath(each) for each in (self.state, own_folder()) if each)
        paths = (os.path.relpath(each, top) for each in folders)
        return tuple(each for each in dict.fromkeys(paths) if not each.startswith(".."))

    def _own_patterns(self) -> str:
        return "".join(f"/{escaped(each)}/\n" for each in self._own())

    def _nested(self, chosen: Chosen) -> dict[str, str]:
        """Look into the repositories inside this one; return the digests of those not clean."""
        dirt: dict[str, str] = {}
        for path in self.before.nested:
            if os.path.lexists(os.path.join(self.tree.top, path, ".git")):
                chosen.nested.setdefault(path, False)
        for number, (path, is_changed) in enumerate(sorted(chosen.nested.items())):
            if number >= _MAX_NESTED:
                self.notes.append(f"skipped `{path}`: there are too many repositories")
                continue
            folder = os.path.join(self.tree.top, path)
            try:
                capture = _take(folder, self.state, self.limit_bytes, is_nested=True)
            except (GitFailedError, OSError) as error:
                self.notes.append(f"whet didn't record the repository `{path}`: {error}")
                continue
            if not capture.is_clean:
                dirt[path] = capture.code.tree
            if is_changed and capture.code.commit:
                self.shadow.add([path])
        return dirt

    def _written(self, chosen: Chosen) -> str:
        self.shadow.remove(chosen.removed)
        if chosen.added:
            for path in self.shadow.add(chosen.added):
                with suppress(FileNotFoundError):
                    status = os.lstat(os.path.join(self.tree.top, path))
                    size_bytes, mtime_ns = status.st_size, status.st_mtime_ns
                    aside = SetAside(path=path, size_bytes=size_bytes, mtime_ns=mtime_ns)
                    chosen.aside[path] = aside
        self.shadow.add_submodules(chosen.submodules)
        if self.before.written and self.shadow.trailer() == self.before.trailer:
            return self.before.written
        return self.shadow.write_tree()

    def _kept(self, now: Memory) -> str:
        """Keep a working tree that differs from HEAD as a commit; return the commit."""
        if now.written == now.head.tree or (not now.head.name and now.written in _EMPTY_TREES):
            return ""
        last = self.before
        is_same = (last.written, last.head.name) == (now.written, now.head.name)
        if is_same and last.snapshot and has_object(last.snapshot):
            return last.snapshot
        commit = self.shadow.commit(
            now.written,
            parent=now.head.name,
            seconds=now.head.seconds,  # one that never changes: the same state, the same commit
            message=f"whet: the working tree on {now.head.name[:10] or 'no commit'}\n",
        )
        # The commit as well: an older whet may have left the same one in the repository.
        self.shadow.keep([commit, *self._changed(now, commit)])
        return commit

    def _changed(self, now: Memory, commit: str) -> list[str]:
        """Return the objects of a snapshot that HEAD doesn't have: git may have some by chance."""
        if now.head.name:
            how = (
                "diff-tree",
                "-r",
                "-t",
                "--raw",
                "--no-renames",
                "--no-abbrev",
                now.head.name,
                commit,
            )
            rows = [line.split() for line in self.shadow.get(*how).splitlines()]
            return [now.written, *(row[3] for row in rows if row[1] not in {_GONE, _SUBMODULE})]
        rows = [
            line.split() for line in self.shadow.get("ls-tree", "-r", "-t", commit).splitlines()
        ]
        return [now.written, *(row[2] for row in rows if row[0] != _SUBMODULE)]

    def _keep_what_was_amended(self, head: Commit) -> None:
        """Keep the commit that the last trial ran on if no history has it any more.

        A snapshot stands on it, too: what has not changed since is there alone.
        """
        last, git = self.before.head.name, self.tree.repository
        if not last or last == head.name:
            return
        if head.name and git.ask("merge-base", "--is-ancestor", last, head.name).exit_code == 0:
            return  # the usual case, and the cheapest question
        reachable = ("--not", "--all", *((head.name,) if head.name else ()))
        with suppress(GitFailedError):
            if not git.get("for-each-ref", "--count=1", "--contains", last):
                objects = git.get("rev-list", "--objects", last, *reachable)
                self.shadow.keep(line.split(" ")[0] for line in objects.splitlines())


def digest_of_code(written: str, aside: tuple[str, ...], dirt: Mapping[str, str]) -> str:
    """Return the digest of all that decides.

    Args:
        written: the tree with the uncommitted changes in it.
        aside: files too large to keep.
        dirt: nested repository to the digest of its uncommitted state.
    """
    if not aside and not dirt:
        return written
    lines = [written, *aside, *(f"{path}/ {digest}" for path, digest in sorted(dirt.items()))]
    return hashlib.sha256("\0".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def _listed(paths: list[str]) -> str:
    names = ", ".join(f"`{path}`" for path in paths[:_IN_A_LINE])
    more = len(paths) - _IN_A_LINE
    return f"{names} and {more} more" if more > 0 else names
