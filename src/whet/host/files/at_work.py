"""Which whets use a project's state, so that none removes files that another one needs."""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

_NAME = "at-work"


@contextmanager
def at_work(state: Path) -> Generator[None]:
    """Use the state in the block; wait while another whet tidies it up."""
    with _locked(state, fcntl.LOCK_SH):
        yield


@contextmanager
def alone(state: Path) -> Generator[bool]:
    """Return whether no whet uses the state; one that begins meanwhile waits.

    Where the file system keeps no locks it isn't known, and False.
    """
    with _locked(state, fcntl.LOCK_EX | fcntl.LOCK_NB) as is_locked:
        yield is_locked


@contextmanager
def _locked(state: Path, how: int) -> Generator[bool]:
    # The kernel holds it, so that a whet that is killed leaves no lock behind.
    lock = -1
    with suppress(OSError):
        lock = os.open(state / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    if lock < 0:  # no whet can write there, so none removes anything
        yield False
        return
    try:
        is_locked = False
        with suppress(OSError):
            fcntl.flock(lock, how)
            is_locked = True
        yield is_locked
    finally:
        os.close(lock)
