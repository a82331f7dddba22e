"""Where a report goes: into a folder that whet has made, and onto no file of the user's."""

import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

from whet.core.errors import CannotWrite
from whet.core.output import digest_of
from whet.core.text.record import MalformedRecordError, as_record, decoded, texts
from whet.host.files.files import storage_error, write_atomically
from whet.workbench.trials.bench import Workbench

REPORT_FOLDER = "whet-report"
_FOLDERS = "reports"


class ReportFolder:
    """A folder for reports. What is written is written down, so that whet knows it again.

    Attributes:
        path: the folder.
    """

    def __init__(self, bench: Workbench, folder_name: str) -> None:
        """Find it and make it.

        A folder that the user named and that holds other things gets one of its own in it. Where
        that holds what whet has not written, or what was changed since, the next name is taken.

        Args:
            bench: the workbench.
            folder_name: what the user named; empty: `whet-report`.

        Raises:
            CannotWrite: if it may not be made, or something else than a folder stands there.
            DiskFull: if there is no space for it.
        """
        self._known = bench.project.state / _FOLDERS
        place = Path(os.path.abspath(folder_name or REPORT_FOLDER))
        if folder_name and os.path.lexists(place) and not place.is_dir():
            raise CannotWrite(
                f"`-o {folder_name}` isn't a folder", hint="name a folder, or leave `-o` out"
            )
        self.path = self._free(bench, place, is_named=bool(folder_name))
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error(error, self.path) from error

    def with_earlier(self) -> list[Path]:
        """Return the folder, and those beside it that whet has written reports into before."""
        places = [self.path]
        with suppress(OSError), os.scandir(self.path.parent) as beside:
            folders = (Path(each.path) for each in beside if each.is_dir(follow_symlinks=False))
            places += [each for each in folders if each != self.path and self._written(each)]
        return places

    def remove_if_empty(self) -> None:
        """Remove the folder where no report was written into it."""
        with suppress(OSError):
            self.path.rmdir()

    def write(self, files: Mapping[str, bytes]) -> None:
        """Write files by name, each whole or not at all.

        Raises:
            DiskFull: if there is no space left.
            CannotWrite: if the folder may not be written to.
        """
        digests = self._written(self.path)
        for name, data in files.items():
            # Both, as whet may be killed on the way.
            digests[name] = (*digests.get(name, ())[-1:], digest_of(data))
        try:
            self._known.mkdir(mode=0o700, exist_ok=True)
            write_atomically(self._record(self.path), json.dumps(digests).encode(), mode=0o600)
        except OSError as error:
            raise storage_error(error, self._known) from error
        for name, data in files.items():
            write_atomically(self.path / name, data)

    def _free(self, bench: Workbench, first_choice: Path, *, is_named: bool) -> Path:
        if is_named and not self._may_be_written_to(first_choice):
            first_choice /= REPORT_FOLDER
        number, path = 1, first_choice
        while not (self._may_be_written_to(path) and bench.claims.take(path)):
            number += 1
            path = first_choice.with_name(f"{first_choice.name}-{number}")
        return path

    def _may_be_written_to(self, folder: Path) -> bool:
        """Whether nothing is there, or a folder of which each file that may be replaced is whet's."""
        if not os.path.lexists(folder):
            return True
        recorded_digests = self._written(folder)
        try:
            names = {path.name for path in folder.iterdir()}
        except OSError:
            return False
        if names and not recorded_digests:
            return False
        return all(
            _holds(folder / name, digests)
            for name, digests in recorded_digests.items()
            if name in names
        )

    def _record(self, folder: Path) -> Path:
        return self._known / digest_of(os.fsencode(os.path.realpath(folder)))

    def _written(self, folder: Path) -> dict[str, tuple[str, ...]]:
        with suppress(OSError, MalformedRecordError):
            data = as_record(decoded(self._record(folder).read_bytes()), "report")
            return {name: texts(data, name) for name in data}
        return {}


def _holds(path: Path, digests: Collection[str]) -> bool:
    with suppress(OSError):
        return not path.is_symlink() and digest_of(path.read_bytes()) in digests
    return False
