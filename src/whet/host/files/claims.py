"""Which whet may write to a place: one at a time, among those that share a project."""

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from whet.host.files.files import lock_file


class Claims:
    """The places that this whet writes to and no other one may.

    Each is a file that is locked, so that a whet that is killed gives its places back.
    """

    def __init__(self, folder: Path) -> None:
        """Claim places by files in ``folder``."""
        self._folder = folder
        self._held: dict[Path, int] = {}

    def take(self, place: Path) -> bool:
        """Claim a place; return whether it is free or this whet's own already."""
        file = self._file_of(place)
        if file in self._held:
            return True
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        if not lock_file(lock, waits=False):
            os.close(lock)
            return False
        if not _is_there(lock, file):  # its last owner removed it in between
            os.close(lock)
            return self.take(place)
        self._held[file] = lock
        return True

    def sweep(self) -> None:
        """Remove the files of whets that were killed. Costs one folder listing if there are none."""
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with suppress(OSError):
                    self._remove_if_free(Path(entry.path))

    def _remove_if_free(self, file: Path) -> None:
        lock = os.open(file, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            if lock_file(lock, waits=False):
                file.unlink()
        finally:
            os.close(lock)

    def give_back_all(self) -> None:
        """Give all places back."""
        for file, lock in self._held.items():
            with suppress(OSError):
                file.unlink()
            os.close(lock)
        self._held.clear()

    def _file_of(self, place: Path) -> Path:
        name = hashlib.sha256(os.fsencode(place.resolve())).hexdigest()[:32]
        return self._folder / name


def _is_there(lock: int, file: Path) -> bool:
    try:
        at_path = file.stat()
    except FileNotFoundError:
        return False
    of_lock = os.fstat(lock)
    return (at_path.st_dev, at_path.st_ino) == (of_lock.st_dev, of_lock.st_ino)
