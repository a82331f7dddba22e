"""Folders of files, such as images: whole files, at the same places in a new folder."""

import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath

from whet.core.value_class import value_class
from whet.sampling.columns import check_columns
from whet.sampling.table import BATCH_ROWS, Batch, Link, Rows, Table

FILE_COLUMNS = ("path", "name", "folder", "suffix", "bytes")
_LEFT_OUT = frozenset({".git", "__pycache__"})


def file_row(path: str, size_bytes: int) -> Mapping[str, object]:
    """Return what conditions may ask of a file; its folder is its class, in many data sets."""
    pure = PurePosixPath(path)
    return {
        "path": path,
        "name": pure.name,
        "folder": pure.parent.name,
        "suffix": pure.suffix.lower(),
        "bytes": size_bytes,
    }


def rows_of(
    places: Sequence[int], rows: Sequence[Mapping[str, object]], columns: Sequence[str]
) -> Rows:
    """Return a batch of such rows."""
    return Rows(places, {name: [row.get(name) for row in rows] for name in columns})


@value_class
class FolderTable:
    """The files of a folder; a `Table`.

    Attributes:
        folder: that.
        name: what ``--keys`` calls it.
        paths: the files below it, in order.
    """

    folder: Path
    name: str
    paths: Sequence[str]

    @property
    def unit(self) -> str:
        """One of them."""
        return "file"

    @property
    def columns(self) -> Sequence[str]:
        """What is known of a file."""
        return FILE_COLUMNS

    @property
    def count(self) -> int | None:
        """How many files there are."""
        return len(self.paths)

    @property
    def is_open(self) -> bool:
        """Whether later rows may have other columns."""
        return False

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that files don't have."""
        check_columns(columns, FILE_COLUMNS, f"the folder `{self.folder.name}`")

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        """Yield all files."""
        numbered = iter(enumerate(self.paths))
        while batch := list(islice(numbered, BATCH_ROWS)):
            rows = [file_row(path, os.lstat(self.folder / path).st_size) for _, path in batch]
            places = [place for place, _ in batch]
            yield rows_of(places, rows, FILE_COLUMNS if columns is None else columns)


class Folder:
    """A folder of files; a `Source`."""

    kind = "folder"

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name

    @cached_property
    def _table(self) -> FolderTable:
        return FolderTable(self._folder, self._name, list(_files(self._folder)))

    @property
    def tables(self) -> Sequence[Table]:
        """Its files."""
        return (self._table,)

    def links(self) -> Sequence[Link]:
        """Return nothing."""
        return ()

    def write(self, chosen: Mapping[str, Sequence[int]], target: Path) -> None:
        """Copy the files with their times and permissions; a link stays one."""
        for place in chosen[self._name]:
            path = self._table.paths[place]
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(self._folder / path, target / path, follow_symlinks=False)


def _files(folder: Path) -> Iterator[str]:
    """Yield the files below a folder, by their paths in it, in order."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - _LEFT_OUT)
        inner = os.path.relpath(place, folder)
        for name in sorted(names):
            mode = os.lstat(f"{place}/{name}").st_mode
            if stat.S_ISREG(mode) or stat.S_ISLNK(mode):
                yield name if inner == "." else f"{inner}/{name}"
