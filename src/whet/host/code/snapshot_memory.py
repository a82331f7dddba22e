"""Facts from the last snapshot of a working tree, which make the next one fast."""

import json
import os
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path

from whet.core.errors import WhetError
from whet.core.text.json_record import Record
from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    as_record,
    decoded,
    optional_record,
    record,
    text,
    texts,
)
from whet.core.value_class import value_class
from whet.host.files.files import write_atomically
from whet.host.process.working_tree import Stamp, WorkingTree

_VERSION = 2


@value_class(kw_only=True)
class SetAside:
    """A file that is kept by name, size and time only.

    Attributes:
        path: where it is, from the top of the working tree.
        size_bytes: its length.
        mtime_ns: when it was written.
    """

    path: str
    size_bytes: int
    mtime_ns: int

    def __str__(self) -> str:
        """Return the entry as it is in `CodeState.large_files`."""
        return f"{self.path} {self.size_bytes} {self.mtime_ns}"

    @classmethod
    def read(cls, entry: str) -> "SetAside":
        """Return the file that an entry of `CodeState.large_files` stands for."""
        path, size_bytes, mtime_ns = entry.rsplit(" ", 2)
        return cls(path=path, size_bytes=int(size_bytes), mtime_ns=int(mtime_ns))


@value_class(kw_only=True)
class Commit(Record):
    """A commit, and what a snapshot needs of it.

    Attributes:
        name: the commit; empty before the first one.
        tree: its tree object.
        seconds: when it was made, in seconds since 1970.
    """

    name: str = ""
    tree: str = ""
    seconds: int = 0


@value_class(kw_only=True, eq=False)
class Memory:
    """What is remembered between two snapshots of one working tree.

    Attributes:
        tree: the working tree.
        marks: stamps of its ``.git`` and settings when git was asked for ``tree``.
        shadow: name of the folder of the shadow index.
        watched: stamps of what decides which files count, when that was last looked at.
        rules: ignore files that are ignored themselves, and their stamps.
        head: the commit that was checked out.
        trailer: end of the shadow index that ``written`` was written from.
        written: tree object of the shadow index.
        aside: files kept by name, size and time only.
        nested: repositories inside the working tree.
        snapshot: commit of whet's that holds ``written`` on ``head``; empty if there is none.
    """

    tree: WorkingTree
    marks: tuple[Stamp, ...]
    shadow: str = ""
    watched: tuple[Stamp, ...] = ()
    rules: tuple[str, ...] = ()
    head: Commit = field(default_factory=Commit)
    trailer: str = ""
    written: str = ""
    aside: Mapping[str, SetAside] = field(default_factory=dict[str, SetAside])
    nested: tuple[str, ...] = ()
    snapshot: str = ""

    def save(self, path: str) -> None:
        """Write this down.

        Raises:
            DiskFull: if there is no space left.
            CannotWrite: if the folder may not be written to.
        """
        data: dict[str, object] = {
            "version": _VERSION,
            "tree": self.tree.to_json(),
            "marks": [" ".join(map(str, stamp)) for stamp in self.marks],
            "shadow": self.shadow,
            "watched": [" ".join(map(str, stamp)) for stamp in self.watched],
            "rules": list(self.rules),
            "head": self.head.to_json(),
            "trailer": self.trailer,
            "written": self.written,
            "aside": [str(file) for file in self.aside.values()],
            "nested": list(self.nested),
            "snapshot": self.snapshot,
        }
        write_atomically(Path(path), json.dumps(data).encode("ascii"))


def recall(path: str) -> Memory | None:
    """Return the record at ``path``; None if there is no readable one."""
    try:
        with open(path, "rb") as file:
            data = as_record(decoded(file.read()), os.path.basename(path))
        return _from_json(data)
    except (OSError, ValueError, MalformedRecordError, WhetError):
        return None


def _from_json(data: JsonObject) -> Memory:
    tree = optional_record(data, "tree")
    if data.get("version") != _VERSION or tree is None:
        raise MalformedRecordError("another version of whet wrote this")
    aside = [SetAside.read(entry) for entry in texts(data, "aside")]
    return Memory(
        tree=WorkingTree.from_json(tree),
        marks=_stamps(texts(data, "marks")),
        shadow=text(data, "shadow"),
        watched=_stamps(texts(data, "watched")),
        rules=texts(data, "rules"),
        head=Commit.from_json(record(data, "head")),
        trailer=text(data, "trailer"),
        written=text(data, "written"),
        aside={file.path: file for file in aside},
        nested=texts(data, "nested"),
        snapshot=text(data, "snapshot"),
    )


def _stamps(written: tuple[str, ...]) -> tuple[Stamp, ...]:
    stamps: list[Stamp] = []
    for stamp in written:
        inode, mtime_ns, size = (int(number) for number in stamp.split())
        stamps.append((inode, mtime_ns, size))
    return tuple(stamps)
