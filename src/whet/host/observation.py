"""What a program had seen of the file system, and whether it would see the same now."""

import os
import stat
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

SLACK_NS = 12_000_000
"""The kernel's clock for files is a tick behind, 4 or 10 ms."""
_INSTALLED = (f"{os.sep}site-packages", f"{os.sep}dist-packages")

_METADATA = (".dist-info", ".egg-info", ".egg")
"""What tells of an installed package; `importlib.metadata` looks for nothing else."""

Mark = tuple[int, ...] | None
"""What tells one state of a file or folder from another; None: it cannot be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What a program had seen by some moment.

    Attributes:
        files: path to mark of what it had opened or looked up, found or not.
        folders: path to mark of folders whose entries it had listed, with their entries.
        places: path to mark of folders in which it had looked for modules of these names.
        modules: last parts of the names of the modules it had looked for.
    """

    files: Mapping[str, Mark]
    folders: Mapping[str, Mark]
    places: Mapping[str, Mark]
    modules: frozenset[str]

    @classmethod
    def made(
        cls,
        files: Iterable[str],
        folders: Iterable[str],
        places: Iterable[str],
        modules: Iterable[str],
        *,
        since_ns: int,
    ) -> "Observation":
        """Look at everything as it is now.

        Args:
            files: what was opened or looked up.
            folders: what was listed.
            places: where modules were looked for.
            modules: which ones.
            since_ns: when the program started. What was changed since may have been changed
                after the program saw it, so that its state then is not known.
        """
        names = frozenset(modules)

        def sure(mark: tuple[int, ...]) -> Mark:
            return None if mark and mark[0] >= since_ns - SLACK_NS else mark

        return cls(
            files={path: sure(_of_file(path)) for path in files},
            folders={path: sure(_of_folder(path)) for path in folders},
            places={path: sure(_of_place(path, names)) for path in places},
            modules=names,
        )

    def changed(self) -> str:
        """Return the first path that is not what it was; empty if there is none."""
        looks: tuple[tuple[Mapping[str, Mark], Callable[[str], Mark]], ...] = (
            (self.files, _of_file),
            (self.folders, _of_folder),
            (self.places, lambda path: _of_place(path, self.modules)),
        )
        for marks, look in looks:
            for path, mark in marks.items():
                if mark is None or look(path) != mark:
                    return path
        return ""


def _of_file(path: str) -> tuple[int, ...]:
    try:
        found = os.stat(path)
    except (OSError, ValueError) as error:
        return (-1, getattr(error, "errno", 0) or 0)
    if stat.S_ISDIR(found.st_mode):
        # Its times change with each file in it, which whoever looks up the folder does not see.
        return (0, found.st_mode, found.st_ino, found.st_dev)
    return (found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino, found.st_dev)


def _of_folder(path: str) -> tuple[int, ...]:
    """Return a mark that holds the entries and what each one is."""
    try:
        entries = sorted(os.listdir(path))
    except OSError as error:
        return (-1, error.errno or 0)
    marks = [_of_file(os.path.join(path, entry)) for entry in entries]
    newest = max((mark[0] for mark in marks), default=0)
    return (newest, hash((tuple(entries), tuple(marks))))


def _of_place(path: str, modules: frozenset[str]) -> tuple[int, ...]:
    """Return a mark of the entries that may be one of ``modules``, or tell of a package.

    Where packages are installed only the folder's own time counts: an installation changes it.
    """
    try:
        if any(part in path for part in _INSTALLED) or path.startswith(sys.base_prefix):
            found = os.stat(path)
            return (0, found.st_mtime_ns, found.st_ino)
        entries = sorted(
            name
            for name in os.listdir(path)
            if name.partition(".")[0] in modules or name.endswith(_METADATA)
        )
    except OSError as error:
        return (-1, error.errno or 0)
    return (0, hash(tuple(entries)))
