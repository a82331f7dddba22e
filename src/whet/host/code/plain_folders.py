"""What whet keeps with a trial of a folder outside git: everything but large and generated files.

Nothing there says what belongs to the code, and the folder may be a home folder or hold a data set.
So whet looks through it first, for about a second at most.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from whet.core.text.quantity import shown_count
from whet.core.value_class import value_class
from whet.host.files.files import content_of

_MOST_IN_A_FOLDER, _MOST_BELOW, _MOST = 1_000, 3_000, 10_000
"""Entries of one folder, of one with all below it, and of them all."""

_MOST_SECONDS = 1.0
_SHOWN = 3

_HEAVY = (
    ".cache", ".hypothesis", ".ipynb_checkpoints", ".mypy_cache", ".nox", ".pytest_cache",
    ".ruff_cache", ".tox", ".venv", "__pycache__", "node_modules", "site-packages", "venv",
    "whet-report",
)  # fmt: skip
_NO_FILES = frozenset({"dev", "proc", "sys"})
_SYSTEM = frozenset(
    {"bin", "boot", "etc", "home", "lib", "lib64", "media", "mnt", "opt", "root", "run", "sbin",
     "srv", "tmp", "usr", "var"}
)  # fmt: skip
_MARKS_OF_HEAVY = frozenset({"pyvenv.cfg", "conda-meta", "CACHEDIR.TAG"})


@value_class(kw_only=True)
class PlainFolder:
    """What of a folder is kept.

    Attributes:
        left_out: patterns, as in ``.gitignore``, for what isn't.
        notes: what isn't kept although it might be code, in sentences.
        is_kept: whether anything is.
    """

    left_out: str = ""
    notes: tuple[str, ...] = ()
    is_kept: bool = True


class _TooMuchError(Exception):
    """There are more entries than whet looks through."""


def look_through(top: str) -> PlainFolder:
    """Look through a folder that is in no repository. It takes about a second at most."""
    if why := _why_never(top):
        return PlainFolder(is_kept=False, notes=(f"no code is kept with the trial: {why}",))
    look = _Look(top)
    try:
        heavy, large = look.heavy_and_large()
    except (_TooMuchError, OSError) as error:
        why = f"`{top}`: {error.strerror}" if isinstance(error, OSError) else str(error)
        note = f"no code is kept with the trial: {why}; in a git repository (`git init`) it is"
        return PlainFolder(is_kept=False, notes=(note,))
    notes: tuple[str, ...] = ()
    if large:
        names = ", ".join(f"`{each}`" for each in large[:_SHOWN])
        more = f" and {len(large) - _SHOWN} more" if len(large) > _SHOWN else ""
        notes = (f"not kept with the code, for its many files: {names}{more}",)
    anywhere = "".join(f"{name}/\n" for name in _HEAVY)
    exact = "".join(f"/{escaped(each)}/\n" for each in (*heavy, *large))
    return PlainFolder(left_out=anywhere + exact, notes=notes)


def escaped(path: str) -> str:
    """Return a path as a pattern of ``.gitignore`` that means this path alone."""
    characters = (f"\\{char}" if char in "\\*?[ " else char for char in path)
    return "".join(characters).replace("\n", "?")  # a pattern ends with its line


def _why_never(top: str) -> str:
    """Return why a folder is never looked through; empty: it may be."""
    real = os.path.realpath(top)
    home = os.path.realpath(os.path.expanduser("~"))
    if real == home or home.startswith(f"{real.rstrip('/')}/"):
        return f"`{top}` is your home folder or holds it; work in a folder of its own"
    first = real.split(os.sep)[1]
    if first in _NO_FILES or (first in _SYSTEM and real == os.path.join(os.sep, first)):
        return f"`{top}` is a folder of the system; work in a folder of its own"
    if others_may_write(top):
        return f"others can write to `{top}`; work in a folder of your own"
    return ""


def others_may_write(folder: str | Path) -> bool:
    """Whether other users can make files in a folder, as in ``/tmp``.

    The group of the user's own name counts as the user.
    """
    try:
        status = os.stat(folder)
    except OSError:
        return False
    of_group = bool(status.st_mode & stat.S_IWGRP) and status.st_gid != os.getegid()
    return of_group or bool(status.st_mode & stat.S_IWOTH)


class _Look:
    """One look through a folder."""

    def __init__(self, top: str) -> None:
        self._top = top
        self._until = time.monotonic() + _MOST_SECONDS
        self._ignored = frozenset(_names_ignored(top))

    def heavy_and_large(self) -> tuple[list[str], list[str]]:
        """Return the folders with generated or installed files, and those with many files.

        Raises:
            _TooMuchError: if the rest is too large to keep anything.
        """
        heavy: list[str] = []
        large: list[str] = []
        files, folders = self._inside("")
        total = files + len(folders)
        if total > _MOST_BELOW:
            raise _TooMuchError(f"`{self._top}` holds {shown_count(total, 'file')}")
        for folder in folders:
            mine: list[str] = []
            count = self._below(folder, heavy, mine)
            if count > _MOST_BELOW or total + count > _MOST:
                large.append(folder)
            else:
                total += count
                large.extend(mine)
        return heavy, large

    def _below(self, folder: str, heavy: list[str], large: list[str]) -> int:
        """Return how much is kept of a folder; it is counted no further than it may be."""
        count, waiting = 0, [folder]
        while waiting and count <= _MOST_BELOW:
            if time.monotonic() > self._until:
                raise _TooMuchError(f"to look through `{self._top}` takes more than a second")
            each = waiting.pop()
            with suppress(OSError):
                files, folders = self._inside(each, heavy.append)
                if files > _MOST_IN_A_FOLDER:
                    large.append(each)
                    continue
                count += files + len(folders)
                waiting.extend(folders)
        return count

    def _inside(
        self, folder: str, note_heavy: Callable[[str], None] | None = None
    ) -> tuple[int, list[str]]:
        """Count the files in a folder and name the folders that are looked into."""
        files, folders = 0, list[str]()
        with os.scandir(os.path.join(self._top, folder)) as entries:
            for entry in entries:
                if note_heavy is not None and entry.name in _MARKS_OF_HEAVY:
                    note_heavy(folder)
                    return 0, []
                if entry.name == ".git":
                    if folder:
                        return 1, []  # a repository of its own: git looks into it
                elif entry.name in _HEAVY or entry.name in self._ignored:
                    continue
                elif entry.is_dir(follow_symlinks=False):
                    folders.append(os.path.join(folder, entry.name))
                else:
                    files += 1
        return files, sorted(folders)


def _names_ignored(top: str) -> Iterator[str]:
    """Yield the plain names in the ``.gitignore`` there; git itself reads the rest of it."""
    with suppress(OSError):
        for line in os.fsdecode(content_of(os.path.join(top, ".gitignore"))).splitlines():
            name = line.strip().strip("/")
            if name and not any(char in name for char in "*?[!#\\/"):
                yield name
