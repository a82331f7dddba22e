"""Folders below one of whet's own, held open: a program, or what is checked out, may put links there."""

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from whet.core.errors import CannotWrite

_HELD = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def held_path(descriptor: int) -> Path:
    """Return a path to a folder that is held open: it leads there wherever it is moved."""
    return Path(f"/proc/self/fd/{descriptor}")


@contextmanager
def held_folder(name: str | Path, above: int | None = None) -> Generator[int]:
    """Hold a folder open, which its owner may read and change from then on; a link isn't followed.

    Args:
        name: its path.
        above: descriptor of a folder that the path starts from.

    Raises:
        OSError: if it is no folder.
    """
    held = os.open(name, _HELD, dir_fd=above)
    try:
        if os.fstat(held).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            os.chmod(held_path(held), stat.S_IRWXU)
        yield held
    finally:
        os.close(held)


@contextmanager
def folder_below(top: Path, folder: Path, *, replaces: bool = False) -> Generator[Path]:
    """Hold a folder below ``top`` open, made where it is missing, and yield a path for this process.

    Args:
        top: a folder of whet's own.
        folder: one below it.
        replaces: remove a link or file that is in the way; else a link that stays below ``top`` is
            followed, as it leads now.

    Raises:
        CannotWrite: if a link leads out of ``top``.
        OSError: if it can't be made.
    """
    inside = Path(os.path.relpath(folder, top))
    if not replaces:
        inside = Path(os.path.relpath(os.path.realpath(folder), os.path.realpath(top)))
    if inside.parts[:1] == ("..",):
        raise CannotWrite(
            f"whet can't use the folder `{folder}`: a link leads out of `{top}`",
            hint="use a version of the code without that link",
        )
    held = os.open(top, _HELD & ~os.O_NOFOLLOW)
    try:
        for name in inside.parts:
            below = _entered(held, name, replaces=replaces)
            os.close(held)
            held = below
        yield held_path(held)
    finally:
        os.close(held)


def _entered(held: int, name: str, *, replaces: bool) -> int:
    """Open a folder in an open one, and make it if it is missing."""
    for removes in (replaces, False):
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=held)
        try:
            return os.open(name, _HELD, dir_fd=held)
        except NotADirectoryError:
            if not removes:
                raise
            os.unlink(name, dir_fd=held)
    raise AssertionError
