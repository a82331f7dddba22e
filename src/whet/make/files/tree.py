"""A folder with folders and files in it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from whet.core.errors import BadUsage, CannotWrite
from whet.core.value_class import value_class
from whet.host.files.files import part_error, path_of_part, remove_tree
from whet.make.memory import check_memory
from whet.make.words import unknown_word

TREE_FILLS = ("count", "edge")
_MADE_AT = 315_532_800
"""1 January 1980: the same day on every machine, and one that zip files can hold."""

_LONGEST = 255
_DEEP = 60
_BYTES_OF_AN_ENTRY = 4096


@value_class(kw_only=True)
class Entry:
    """What stands at a path.

    Attributes:
        path: below the top.
        content: of a file; None: it is a folder or a link.
        target: where a link leads; empty: it is none.
        mode: its permissions.
    """

    path: str
    content: bytes | None = None
    target: str = ""
    mode: int = 0o644

    def __str__(self) -> str:
        if self.target:
            return f"{self.path} -> {self.target}"
        return f"{self.path}/" if self.content is None else self.path


def tree_entries(depth: int, width: int, fill: str) -> list[Entry]:
    """Return what is in a tree, folders before what is in them.

    Args:
        depth: how many folders lie in each other.
        width: how many files, and how many folders, a folder holds.
        fill: ``count``: the files hold 1, 2, 3 …; ``edge``: also what breaks programs.

    Raises:
        BadUsage: if there is no such fill.
        NotEnoughMemory: if there are too many.
    """
    if fill not in TREE_FILLS:
        raise unknown_word("fill of a tree", fill, TREE_FILLS)
    if min(depth, width) < 0:
        raise BadUsage(f"a tree can't be {min(depth, width)} deep or wide", hint="0 or more")
    folders = (
        depth if width == 1 else (width ** min(depth, 64) - 1) // ((width - 1) or 1) if width else 0
    )
    check_memory(folders * (width + 1) * _BYTES_OF_AN_ENTRY, f"a tree of {folders} folders")
    entries = list(_counted("", depth, width, count(1)))
    return [*entries, *_edges()] if fill == "edge" else entries


def _counted(top: str, depth: int, width: int, numbers: Iterator[int]) -> Iterator[Entry]:
    if depth == 0:
        return
    for at in range(1, width + 1):
        content = b"%d\n" % next(numbers)
        yield Entry(path=f"{top}file{at}.txt", content=content)
    for at in range(1, width + 1):
        if depth > 1:
            folder = f"{top}folder{at}"
            yield Entry(path=folder, mode=0o755)
            yield from _counted(f"{folder}/", depth - 1, width, numbers)


def _edges() -> Iterator[Entry]:
    """Yield the names and files that break programs."""
    names = (
        "two words", "-dash", ".hidden", "new\nline", "quote'\"", "back\\slash", "*", "$HOME",
        "#hash", "%20", "a:b", "CON", "UPPER", "upper", "name.tar.gz", "trailing ", "\u00e9",
        "e\u0301", "\u202egnp.exe", "👩\u200d👩\u200d👧", os.fsdecode(b"\xff not UTF-8"), "x" * _LONGEST,
    )  # fmt: skip
    yield from (Entry(path=name, content=os.fsencode(name) + b"\n") for name in names)
    yield Entry(path="empty.txt", content=b"")
    yield Entry(path="no end of line.txt", content=b"last line")
    yield Entry(path="forbidden.txt", content=b"nobody may read this\n", mode=0)
    yield Entry(path="program.sh", content=b"#!/bin/sh\necho 1\n", mode=0o755)
    yield Entry(path="empty folder", mode=0o755)
    yield Entry(path="link", target="empty.txt")
    yield Entry(path="link to nothing", target="nothing")
    yield Entry(path="link to itself", target="link to itself")
    yield Entry(path="link to above", target="..")
    for level in range(1, _DEEP + 1):
        yield Entry(path="/".join(["deep"] * level), mode=0o755)
    yield Entry(path="/".join([*["deep"] * _DEEP, "file.txt"]), content=b"deep\n")


def write_tree(entries: list[Entry], path: Path) -> None:
    """Write a tree: whole, or not at all.

    Raises:
        CannotWrite: if something is there already, or it can't be written.
        DiskFull: if there is no space left.
    """
    if os.path.lexists(path) and not (path.is_dir() and not any(path.iterdir())):
        raise CannotWrite(
            f"`{path}` is there already", hint="name a folder that isn't there, or an empty one"
        )
    beside = path_of_part(path)
    try:
        beside.mkdir()
        for each in entries:
            _write(each, beside / each.path)
        _set_times(beside)
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            remove_tree(beside)
        if isinstance(error, OSError):
            raise part_error(error, path, beside) from error
        raise


def _write(entry: Entry, path: Path) -> None:
    if entry.target:
        path.symlink_to(entry.target)
    elif entry.content is None:
        path.mkdir(entry.mode)
    else:
        path.write_bytes(entry.content)
        path.chmod(entry.mode)


def _set_times(top: Path) -> None:
    for folder, folders, files in os.walk(top, topdown=False):
        for name in (*files, *folders):
            os.utime(Path(folder, name), (_MADE_AT, _MADE_AT), follow_symlinks=False)
    os.utime(top, (_MADE_AT, _MADE_AT))
