"""Archives by their members: ZIP, tar, and WebDataset, where files with one stem are one sample.

Nothing is unpacked: of a tar file the bytes of the members are copied, headers included.
"""

import errno
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from whet.core.errors import CannotSample
from whet.core.value_class import value_class
from whet.sampling.columns import check_columns
from whet.sampling.folder import FILE_COLUMNS, file_row, rows_of
from whet.sampling.streams import BROKEN_ZIP, created, opened
from whet.sampling.table import BATCH_ROWS, Batch, Link, Table

_SAMPLE_COLUMNS = ("key", "folder", "suffixes", "members", "bytes")
_LOOK = 100
_BLOCK, _RECORD = 512, 10240
_COPY_BYTES = 1 << 20


@value_class
class Members:
    """Members of a tar file that are taken together.

    Attributes:
        start: where the first of their headers begins.
        end: behind their data.
        files: the path and size of each.
        links: the members that they need: a hard link has no data of its own.
    """

    start: int
    end: int
    files: tuple[tuple[str, int], ...]
    links: tuple[str, ...] = ()


def stem_of(path: str) -> str:
    """Return what the members of one WebDataset sample share: the path up to the first dot of the name."""
    pure = PurePosixPath(path)
    return str(pure.parent / pure.name.partition(".")[0])


def members_of(stream: BinaryIO, shown: str, *, grouped: bool) -> Iterator[Members]:
    """Yield the files of a tar stream from where it stands, or the samples.

    Raises:
        CannotSample: if it isn't a whole tar file.
    """
    held: Members | None = None
    try:
        with tarfile.open(fileobj=stream, mode="r:") as archive:
            remembered: Any = archive
            while (member := archive.next()) is not None:
                remembered.members.clear()  # `tarfile` remembers all of them: a gigabyte of a million
                if member.isdir():
                    continue
                links = (member.linkname,) if member.islnk() else ()
                found = Members(member.offset, archive.offset, ((member.name, member.size),), links)
                if (
                    held is not None
                    and grouped
                    and stem_of(held.files[0][0]) == stem_of(member.name)
                ):
                    files, links = (*held.files, *found.files), (*held.links, *links)
                    held = Members(held.start, found.end, files, links)
                    continue
                if held is not None:
                    yield held
                held = found
    except (tarfile.TarError, ValueError) as error:
        raise CannotSample(
            f"`{shown}` isn't a whole tar file: {error}", hint="get the whole file again"
        ) from error
    if held is not None:
        yield held


@value_class
class TarTable:
    """The files or samples of a tar file; a `Table`.

    Attributes:
        path: the file.
        name: what ``--keys`` calls it.
        is_grouped: members with one stem are one sample.
    """

    path: Path
    name: str
    is_grouped: bool

    @property
    def unit(self) -> str:
        """One of them."""
        return "sample" if self.is_grouped else "file"

    @property
    def columns(self) -> Sequence[str]:
        """What is known of them."""
        return _SAMPLE_COLUMNS if self.is_grouped else FILE_COLUMNS

    @property
    def count(self) -> int | None:
        """Only its headers say, one after the other."""
        return None

    @property
    def is_open(self) -> bool:
        """Whether later rows may have other columns."""
        return False

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that they don't have."""
        check_columns(columns, self.columns, f"`{self.path.name}`")

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        """Yield all of them."""
        names = self.columns if columns is None else columns
        with opened(self.path) as stream:
            members = members_of(stream, self.path.name, grouped=self.is_grouped)
            while batch := list(islice(members, BATCH_ROWS)):
                rows = [self._row(each) for each in batch] if names else []
                yield rows_of([each.start for each in batch], rows, names)

    def _row(self, members: Members) -> Mapping[str, object]:
        path, size = members.files[0]
        if not self.is_grouped:
            return file_row(path, size)
        key = stem_of(path)
        return {
            "key": key,
            "folder": PurePosixPath(key).parent.name,
            "suffixes": " ".join(sorted(each[len(key) + 1 :] for each, _ in members.files)),
            "members": len(members.files),
            "bytes": sum(size for _, size in members.files),
        }


class TarFile:
    """A tar file; a `Source`."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name

    @property
    def kind(self) -> str:
        """What it is."""
        return "WebDataset" if self._table.is_grouped else "tar"

    @cached_property
    def _table(self) -> TarTable:
        with opened(self._path) as stream:
            found = list(islice(members_of(stream, self._path.name, grouped=True), _LOOK))
        pairs = sum(len({Path(path).suffix for path, _ in each.files}) > 1 for each in found)
        return TarTable(self._path, self._name, bool(found) and pairs * 2 > len(found))

    @property
    def tables(self) -> Sequence[Table]:
        """Its members."""
        return (self._table,)

    def links(self) -> Sequence[Link]:
        """Return nothing."""
        return ()

    def write(self, chosen: Mapping[str, Sequence[int]], target: Path) -> None:
        """Copy the bytes of the members, and those before the first one, which are about all."""
        wanted, needed = set(chosen[self._name]), set[str]()
        with opened(self._path) as stream, created(target, self._path) as out:
            taken, begin = self._taken(stream, lambda each: each.start in wanted)
            needed.update(*(each.links for each in taken))
            needed -= {path for each in taken for path, _ in each.files}
            if needed:  # a hard link is nothing without the file that holds its data
                wanted.update(each.start for each in taken)
                taken, begin = self._taken(
                    stream,
                    lambda each: (
                        each.start in wanted or any(path in needed for path, _ in each.files)
                    ),
                )
            stream.seek(0)
            size = _copy(stream, out, begin)
            for each in taken:
                stream.seek(each.start)
                size += _copy(stream, out, each.end - each.start)
            out.write(bytes(-(size + 2 * _BLOCK) % _RECORD + 2 * _BLOCK))

    def _taken(
        self, stream: BinaryIO, is_taken: Callable[[Members], bool]
    ) -> tuple[list[Members], int]:
        """Return the members that are taken, and where the first one of all begins."""
        stream.seek(0)
        begin: int | None = None
        taken: list[Members] = []
        for each in members_of(stream, self._path.name, grouped=self._table.is_grouped):
            begin = each.start if begin is None else begin
            if is_taken(each):
                taken.append(each)
        return taken, begin or 0


def _copy(stream: BinaryIO, out: BinaryIO, size: int) -> int:
    left = size
    while left and (block := stream.read(min(left, _COPY_BYTES))):
        out.write(block)
        left -= len(block)
    return size - left


@value_class
class ZipTable:
    """The files of a ZIP archive; a `Table`.

    Attributes:
        path: the archive.
        name: what ``--keys`` calls it.
        members: its files.
    """

    path: Path
    name: str
    members: Sequence[zipfile.ZipInfo]

    @property
    def unit(self) -> str:
        """One of them."""
        return "file"

    @property
    def columns(self) -> Sequence[str]:
        """What is known of them."""
        return FILE_COLUMNS

    @property
    def count(self) -> int | None:
        """Its directory says."""
        return len(self.members)

    @property
    def is_open(self) -> bool:
        """Whether later rows may have other columns."""
        return False

    def check(self, columns: Sequence[str]) -> None:
        """Refuse columns that files don't have."""
        check_columns(columns, FILE_COLUMNS, f"`{self.path.name}`")

    def batches(self, columns: Sequence[str] | None) -> Iterator[Batch]:
        """Yield all of them."""
        for begin in range(0, len(self.members), BATCH_ROWS):
            members = self.members[begin : begin + BATCH_ROWS]
            rows = [file_row(each.filename, each.file_size) for each in members]
            places = range(begin, begin + len(members))
            yield rows_of(places, rows, FILE_COLUMNS if columns is None else columns)


class ZipFile:
    """A ZIP archive; a `Source`."""

    kind = "ZIP"

    def __init__(self, path: Path, name: str) -> None:
        """Read its directory.

        Raises:
            CannotSample: if it is damaged, or another kind of file that only looks like one.
        """
        self._path = path
        self._name = name
        try:
            with zipfile.ZipFile(path) as archive:
                # `is_dir` of Python 3.11 fails for an empty name.
                members = archive.infolist()
                self._members = [each for each in members if not each.filename.endswith("/")]
        except (*BROKEN_ZIP, OSError) as error:
            raise CannotSample(
                f"`{path.name}` isn't a whole ZIP archive: {error}", hint="get the whole file again"
            ) from error
        names = [PurePosixPath(each.filename).name for each in self._members]
        if "data.pkl" in names:
            raise CannotSample(
                f"`{path.name}` is a checkpoint of torch", hint="`whet shrink` makes it smaller"
            )
        if "[Content_Types].xml" in names:
            raise CannotSample(
                f"`{path.name}` is an Office document", hint="`whet shrink` makes it smaller"
            )

    @property
    def tables(self) -> Sequence[Table]:
        """Its members."""
        return (ZipTable(self._path, self._name, self._members),)

    def links(self) -> Sequence[Link]:
        """Return nothing."""
        return ()

    def write(self, chosen: Mapping[str, Sequence[int]], target: Path) -> None:
        """Write the members with their times, permissions and compression."""
        with zipfile.ZipFile(self._path) as archive, zipfile.ZipFile(target, "w") as out:
            out.comment = archive.comment
            for place in chosen[self._name]:
                member = self._members[place]
                new = zipfile.ZipInfo(member.filename, member.date_time)
                new.compress_type, new.external_attr = member.compress_type, member.external_attr
                new.comment, new.create_system = member.comment, member.create_system
                new.file_size = member.file_size
                try:
                    with archive.open(member) as source, out.open(new, "w") as copy:
                        shutil.copyfileobj(source, copy, _COPY_BYTES)
                except (*BROKEN_ZIP, OSError) as error:
                    # What bz2 and a place before the file's beginning raise; a full disk isn't meant.
                    if isinstance(error, OSError) and error.errno not in {None, errno.EINVAL}:
                        raise
                    raise CannotSample(
                        f"`{member.filename}` in `{self._path.name}` can't be read: {error}",
                        hint="leave it out with `--where \"path != '…'\"`",
                    ) from error
