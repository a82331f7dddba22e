"""A stamp of everything outside the trial that affects a search's answers, so that none outlives a change.

A search doesn't run a trial twice, in this session or in a later one. That is right only if the
trial's key covers every file that may matter: the snapshot holds the files that git tracks or would
add, and this stamp covers the others. It leaves out whet's own files, because a resumed search would
find none of its earlier trials otherwise.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from whet.core.trial import CodeState, Trial
from whet.host.code.code_snapshots import digest_of_code
from whet.host.code.project import STATE_FOLDER
from whet.host.code.tree_changes import COMPILED
from whet.host.process.git import GitFailedError, Repository

_MOST_FILES = 30_000
"""Reading them takes about half a second; whet treats a larger place as changed."""

_SHELL_WORDS = re.compile(r"[\s'\"=;&|<>(),]+")
_NOT_LOOKED_INTO = frozenset(
    {".git", STATE_FOLDER, "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache",
     ".hypothesis", "node_modules"}
)  # fmt: skip


class _TooManyError(Exception):
    """There are more files than can be looked at in a moment."""


def stamp_of_files(
    trial: Trial, root: Path, environment: Mapping[str, str], left_out: Sequence[Path]
) -> str:
    """Return a digest over name, size and time of the files that no snapshot of the code holds.

    Without git these are all below the project's folder and the command's; in a repository
    those that git ignores. Then those outside that the command names, with the modules beside
    them, and those in the folders of ``PYTHONPATH``. Installed packages count by their
    versions, in the trial's surroundings.

    Args:
        trial: what is run.
        root: the project's folder.
        environment: what the trial inherits.
        left_out: files and folders that don't count: whet's own, and payloads.

    Returns:
        The digest; one that never comes again if there are too many files to look at.
    """
    own = {os.path.realpath(path) for path in left_out}
    look = _Look(own)
    try:
        for place in _places(trial, root):
            look.below(place)
        for folder in {**environment, **trial.environment}.get("PYTHONPATH", "").split(os.pathsep):
            if folder:
                look.below(os.path.join(trial.cwd, folder))
        for file in named_files(trial, environment):
            look.at(file)
    except (_TooManyError, GitFailedError):
        return f"unknown {os.urandom(16).hex()}"
    return look.digest()


def code_without(code: CodeState, left_out: Sequence[Path]) -> CodeState:
    """Return the code with a digest in which the files and folders ``left_out`` don't count.

    Neither does Python's byte code, which it makes of the sources.
    """
    repository = Repository.keeping(Path(code.repository))
    revision = code.snapshot or code.commit
    if not revision:
        return code
    try:
        tree = repository.get("rev-parse", f"{revision}^{{tree}}").strip()
        listing = repository.get("ls-tree", "-r", "-z", "--full-tree", tree)
    except GitFailedError:
        return code
    top = os.path.realpath(code.repository)
    own = [os.path.relpath(os.path.realpath(path), top) for path in left_out]
    lines = [
        line
        for line in listing.split("\0")
        if not COMPILED.search(name := line.partition("\t")[2])
        and not any(_is_at(name, path) for path in own)
    ]
    beside = [*code.large_files]
    if digest_of_code(tree, code.large_files, {}) != code.tree:
        beside.append(code.tree)  # changes inside a nested repository, of which only this is known
    text = "\0".join([*lines, "", *beside])
    return replace(code, tree=hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest())


def is_clean(trial: Trial, left_out: Sequence[Path]) -> bool:
    """Whether the code is that of the last commit, but for the files and folders ``left_out``."""
    if trial.code is None or trial.code.large_files:
        return False
    commit_alone = replace(trial.code, snapshot=None)
    return trial.code.snapshot is None or (
        code_without(trial.code, left_out).tree == code_without(commit_alone, left_out).tree
    )


def _is_at(path: str, place: str) -> bool:
    return path == place or path.startswith(f"{place}/")


def _places(trial: Trial, root: Path) -> Iterator[str]:
    if trial.code is None or Repository.keeping(Path(trial.code.repository)).git_folder:
        yield str(root)
        if not _is_at(os.path.realpath(trial.cwd), os.path.realpath(root)):
            yield trial.cwd
        return
    top = trial.code.repository
    words = ("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z")
    for name in Repository(Path(top)).get(*words).split("\0"):
        # A cache whose own `.gitignore` leaves it out, as pytest's, is listed with what is in it.
        if name and _NOT_LOOKED_INTO.isdisjoint(name.split("/")):
            yield os.path.join(top, name.rstrip("/"))


def named_files(trial: Trial, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the files that the command and the reset steps name, in a shell's text too.

    Beside a script these are the modules in its folder.
    """
    path = {**environment, **trial.environment}.get("PATH")
    program = shutil.which(trial.command[0], path=path) if trial.command else None
    if program is not None:
        yield program
    for text in (*trial.command, *(step.command for step in trial.reset)):
        for word in {text, *_SHELL_WORDS.split(text)}:
            file = os.path.join(trial.cwd, word.partition("::")[0])
            if word and "\0" not in word and _is_file(file):
                yield file
                if file.endswith(".py"):
                    yield from _modules_beside(file)


def _modules_beside(file: str) -> Iterator[str]:
    with os.scandir(os.path.dirname(file)) as entries:
        yield from sorted(entry.path for entry in entries if entry.name.endswith(".py"))


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)
    except ValueError:
        return False


class _Look:
    """Files that were looked at."""

    def __init__(self, left_out: set[str]) -> None:
        self._left_out = left_out
        self._seen: dict[str, tuple[int, int]] = {}

    def at(self, path: str) -> None:
        """Note one file, under its real name."""
        self._note(os.path.realpath(path))

    def _note(self, real: str) -> None:
        if self._is_left_out(real):
            return
        try:
            status = os.stat(real)
        except OSError:
            return
        self._seen[real] = (status.st_size, status.st_mtime_ns)
        if len(self._seen) > _MOST_FILES:
            raise _TooManyError

    def below(self, place: str) -> None:
        """Note the files below a folder, less caches, environments and links to folders."""
        folders = [os.path.realpath(place)]
        while folders:
            folder = folders.pop()
            if os.path.basename(folder) in _NOT_LOOKED_INTO or self._is_left_out(folder):
                continue
            try:
                with os.scandir(folder) as entries:
                    inside = list(entries)
            except NotADirectoryError:
                self.at(folder)
                continue
            except OSError:
                continue
            if any(entry.name == "pyvenv.cfg" for entry in inside):
                continue  # its packages count by their versions
            for entry in inside:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.is_symlink():
                    self.at(entry.path)
                else:
                    self._note(entry.path)  # it is real: so is its folder

    def _is_left_out(self, path: str) -> bool:
        return any(_is_at(path, own) for own in self._left_out)

    def digest(self) -> str:
        """Return the digest over all that was noted; empty if that is nothing."""
        if not self._seen:
            return ""
        lines = [f"{path}\0{size}\0{time}" for path, (size, time) in sorted(self._seen.items())]
        return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
