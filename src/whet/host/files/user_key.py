"""The user's own key, with which whet recognizes its own records in a project's state.

A project's folder can come from anyone: a clone, an archive, a shared `/tmp`. whet trusts a record of
things to remove only if it is sealed with this key.
"""

import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from whet.core.errors import CannotWrite
from whet.host.files.files import sync
from whet.host.files.user_state import make_private, user_state

_BYTES = 32


def user_key(environment: Mapping[str, str]) -> bytes:
    """Return the user's key, made at its first use; empty if there is no place to keep one.

    It is in the user's state folder (`user_state`) and only the user may read it.
    """
    try:
        folder = user_state(environment)
    except CannotWrite:
        return b""
    path = folder / "key"
    with suppress(OSError):
        key = _read(path)
        if key or not _is_cut_off(path):
            return key
        path.unlink()
    part = folder / f"key.{os.urandom(4).hex()}.part"
    with suppress(OSError):
        make_private(folder)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, os.urandom(_BYTES))
            os.fsync(descriptor)
            with suppress(FileExistsError):  # another whet was first: its key is the one
                os.link(part, path)
        finally:
            os.close(descriptor)
            os.unlink(part)
        sync(folder)
        return _read(path)
    return b""


def _read(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        key = os.read(descriptor, _BYTES)
    finally:
        os.close(descriptor)
    if status.st_uid != os.geteuid() or status.st_mode & 0o077:
        return b""
    return key if len(key) == _BYTES else b""


def _is_cut_off(path: Path) -> bool:
    """Whether a power cut took the content of a key of the user's own: it would seal nothing."""
    status = path.lstat()
    is_own = status.st_uid == os.geteuid() and not status.st_mode & 0o077
    return is_own and stat.S_ISREG(status.st_mode) and status.st_size < _BYTES
