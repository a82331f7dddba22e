"""The user's own folder for whet's state, outside every project.

A project's folder can come from anyone: a clone, an archive, a shared `/tmp`. Files there are data to
work on, never whet's own state.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from whet.core.errors import CannotWrite

_COMMON = [os.path.join(os.sep, *names) for names in (("var", "tmp"), ("tmp",))]
_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def user_state(environment: Mapping[str, str]) -> Path:
    """Return the folder: ``$XDG_STATE_HOME/whet``, or ``~/.local/state/whet``.

    Where neither is the user's own to write (no home, a read-only one, `sudo` with the home of
    another user), it is ``$XDG_RUNTIME_DIR/whet``, else ``whet-UID`` in ``/var/tmp`` or ``/tmp``.
    Nothing is made yet.

    Raises:
        CannotWrite: if there is no such place.
    """
    for folder in _candidates(environment):
        if _is_own(folder):
            return folder
    for place in _COMMON:
        folder = Path(place, f"whet-{os.geteuid()}")
        if os.path.isdir(place) and is_private(folder, may_be_missing=True):
            return folder
    raise CannotWrite(
        "there is no folder of yours to keep trials in",
        hint="set `WHET_DIR` to a folder that you can write to",
    )


def is_private(
    folder: Path, *, may_be_missing: bool = False, others_may_write: bool = False
) -> bool:
    """Whether a folder isn't a link, is the user's own, and only the user may write to it."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return may_be_missing
    except OSError:
        return False
    is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.geteuid()
    return is_own and (others_may_write or not status.st_mode & _OTHERS_MAY_WRITE)


def make_private(folder: Path) -> None:
    """Make a folder and the missing ones above it, which only the user may enter or list."""
    if not folder.is_dir():
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    folder, home = environment.get("XDG_STATE_HOME", ""), environment.get("HOME", "")
    if os.path.isabs(folder):  # a relative one is to be ignored, says the specification
        yield Path(folder, "whet")
    elif os.path.isabs(home) and os.path.isdir(home):
        yield Path(home, ".local", "state", "whet")
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and os.path.isdir(runtime):
        yield Path(runtime, "whet")


def _is_own(folder: Path) -> bool:
    """Whether the nearest folder that is there belongs to the user, who may write to it."""
    for each in (folder, *folder.parents):
        try:
            status = each.stat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            return False
        return status.st_uid == os.geteuid() and os.access(each, os.W_OK | os.X_OK)
    return False
