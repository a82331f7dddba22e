"""The results of a setup in a checkout: kept from commit to commit as long as nothing changes them."""

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from whet.core.value_class import value_class
from whet.host.files.files import remove_tree
from whet.host.process.git import Repository

_Mark = tuple[int, int, int]


@value_class(kw_only=True)
class SetUp:
    """The files of a checkout that its setup made, in addition to those of its commit.

    Attributes:
        state: digest of all that the setup reads.
        files: each untracked file with its size, time of change and inode.
    """

    state: str
    files: Mapping[str, _Mark]

    @classmethod
    def of(cls, folder: Path, state: str) -> "SetUp":
        """Return what is in ``folder`` now."""
        return cls(state=state, files=_untracked(folder))

    def put_back(self, folder: Path) -> bool:
        """Remove what came since; say whether all that the setup left is as it was."""
        now = _untracked(folder)
        for name in now.keys() - self.files.keys():
            with suppress(FileNotFoundError):
                path = folder / name
                remove_tree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        return all(now.get(name) == mark for name, mark in self.files.items())


def _untracked(folder: Path) -> dict[str, _Mark]:
    """Return all files that git doesn't track, ignored ones too."""
    # A repository inside is named as a folder.
    listing = Repository(folder).get("ls-files", "--others", "-z")
    marks: dict[str, _Mark] = {}
    for name in filter(None, listing.split("\0")):
        with suppress(FileNotFoundError):
            status = os.lstat(folder / name)
            marks[name] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return marks
