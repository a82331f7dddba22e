"""A clock of a program's own, which may be set while the program runs."""

import importlib
import os
from contextlib import ExitStack
from pathlib import Path

_SHARED_MEMORY = Path("/dev/shm")
_SHARED_BYTES = 4096
_SEMAPHORE = 1  # the kind: one that any process may release


def set_clock(clock: Path, seconds: int) -> None:
    """Set the clock so many seconds off the machine's."""
    part = clock.with_suffix(".part")
    part.write_text(f"{seconds:+d}")
    part.rename(clock)


def under_clock(clock: Path, undone: ExitStack) -> dict[str, str] | None:
    """Return the variables by which a program reads the clock; files have the machine's times.

    None: there is no libfaketime (`apt-get install faketime`).

    Args:
        clock: the file that `set_clock` writes.
        undone: removes what the program and its processes share. Without a name for it, libfaketime
            takes one from the number of the process, leaves it behind where that is killed, and a
            later process with the same number takes it over.
    """
    for library in Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"):
        name = f"whet-clock-{os.urandom(8).hex()}"
        for each in (_SHARED_MEMORY / name, _SHARED_MEMORY / f"sem.{name}"):
            undone.callback(each.unlink, missing_ok=True)
        (_SHARED_MEMORY / name).write_bytes(bytes(_SHARED_BYTES))
        importlib.import_module("_multiprocessing").SemLock(
            _SEMAPHORE, 1, 1, f"/{name}", unlink=False
        )
        return {
            "LD_PRELOAD": str(library), "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_NO_CACHE": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "NO_FAKE_STAT": "1",
            "FAKETIME_SHARED": f"/{name} /{name}",
        }  # fmt: skip
    return None
