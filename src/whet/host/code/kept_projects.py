"""The projects in the user's state folder, including those that no longer exist."""

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from whet.core.value_class import value_class
from whet.host.code.project import ROOT_FILE
from whet.host.files.user_state import is_private, user_state


@value_class(kw_only=True)
class KeptProject:
    """The state of a project.

    Attributes:
        root: where the project is, or was.
        state: the folder with its trials.
        size_bytes: what that takes on the disk.
    """

    root: Path
    state: Path
    size_bytes: int

    @property
    def is_gone(self) -> bool:
        """Whether the project is no longer there; a disk that isn't mounted looks so too."""
        return not os.path.lexists(self.root)


def kept_projects(environment: Mapping[str, str]) -> Iterator[KeptProject]:
    """Yield the projects of which something is kept, by their folders.

    Raises:
        CannotWrite: if the user has no state folder.
    """
    folder = user_state(environment) / "projects"
    names: list[str] = []
    with suppress(FileNotFoundError):
        names = sorted(entry.name for entry in folder.iterdir())
    for name in names:
        state = folder / name
        with suppress(OSError):
            root = Path(os.fsdecode((state / ROOT_FILE).read_bytes()))
            if root.is_absolute() and is_private(state):
                yield KeptProject(root=root, state=state, size_bytes=_size_of(state))


def _size_of(top: Path) -> int:
    total = 0
    for folder, _, names in os.walk(top):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_blocks * 512
    return total
