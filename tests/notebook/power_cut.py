"""What a power cut leaves of a folder: the system calls that wrote to it, replayed in part.

The disk may be any: of what was written to a file since it was last synced, any part may be there,
down to single sectors. A name that was made, moved or removed may be as before until its folder is
synced; a folder is there with what was synced in it, as on ext4, XFS and Btrfs.
"""

import os
import random
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_CALLS = (
    "openat,open,creat,write,pwrite64,writev,pwritev,pwritev2,ftruncate,truncate,fallocate,fsync,"
    "fdatasync,rename,renameat,renameat2,unlink,unlinkat,rmdir,mkdir,mkdirat,link,linkat,symlink,"
    "symlinkat,mmap,sendfile,copy_file_range,splice"
)
_LINE = re.compile(r"\d+ +(\w+)\((.*)\) += (-?\d+)(?:<(.*?)>(?:\(deleted\))?)?(?: [A-Z].*)?$")
_UNFINISHED = re.compile(r"(\d+) +(\w+\(.*?)(?:,? <unfinished \.\.\.>)$")
_RESUMED = re.compile(r"(\d+) +<\.\.\. \w+ resumed>(.*)$")
_WORD = re.compile(r'(?:(-?\w+)<((?:\\x[0-9a-f]{2})*)>)|"((?:\\x[0-9a-f]{2})*)"|([^,]+)')
_ON_NAMES = {
    "fsync": "sync", "fdatasync": "sync", "mkdir": "folder", "mkdirat": "folder",
    "unlink": "remove", "unlinkat": "remove", "rmdir": "remove", "link": "link", "linkat": "link",
    "rename": "move", "renameat": "move", "renameat2": "move",
}  # fmt: skip
_REBUILT = ".db-shm"
"""Shared memory of SQLite, which is made anew by the first who opens the notebook."""

SECTORS = (512, 4096)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to a file or folder, or that the user was told.

    Attributes:
        kind: `make`, `folder`, `write`, `size`, `move`, `link`, `remove`, `sync`, `said` or `end`.
        path: what it happened to.
        other: the new name, for `move` and `link`.
        offset: where it was written; the size, for `size`; the exit code, for `end`.
        data: what was written or said.
    """

    kind: str
    path: str = ""
    other: str = ""
    offset: int = 0
    data: bytes = b""


def record(
    words: Sequence[str], *, below: Path, cwd: Path, environment: Mapping[str, str], trace: Path
) -> Iterator[Event]:
    """Run a command to its end and yield what it did to files below a folder, and what it said."""
    strace = ["strace", "-f", "--seccomp-bpf", "-y", "-xx", "-s", "100000000", "-o", str(trace)]
    done = subprocess.run(
        [*strace, "-e", f"trace={_CALLS}", *words],
        cwd=cwd, env=environment, capture_output=True, check=False,
    )  # fmt: skip
    yield from _events(trace.read_text("ascii").splitlines(), os.fspath(below))
    yield Event("end", offset=done.returncode)


def _events(lines: Sequence[str], below: str) -> Iterator[Event]:
    begun: dict[str, str] = {}
    places: dict[str, int] = {}
    for line in lines:
        unfinished = _UNFINISHED.match(line)
        if unfinished:
            begun[unfinished[1]] = unfinished[2]
            continue
        resumed = _RESUMED.match(line)
        whole = f"{resumed[1]} {begun.pop(resumed[1])}{resumed[2]}" if resumed else line
        call = _LINE.match(whole)
        if call and int(call[3]) >= 0:
            words = [_Word.of(*each) for each in _WORD.findall(call[2].replace(", ", ","))]
            yield from _meaning(call[1], words, int(call[3]), below, places)


@dataclass(frozen=True, slots=True)
class _Word:
    """An argument: a plain word, the path of a descriptor, or text."""

    plain: str
    path: str | None
    text: bytes | None

    @classmethod
    def of(cls, descriptor: str, path: str, text: str, plain: str) -> "_Word":
        if descriptor:
            return cls(descriptor, _bytes(path).decode("utf-8", "surrogateescape"), None)
        return cls(plain, None, None if plain else _bytes(text))


def _bytes(escaped: str) -> bytes:
    return bytes.fromhex(escaped.replace("\\x", ""))


def _meaning(
    call: str, words: list[_Word], result: int, below: str, places: dict[str, int]
) -> Iterator[Event]:
    paths = [path for path in _paths(words) if path.startswith(below)]
    if call == "write" and words[0].plain in {"1", "2"}:
        yield Event("said", data=words[1].text or b"")
    if not paths or paths[0].endswith(_REBUILT):
        return
    path = paths[0]
    flags = next((each.plain for each in words if each.plain.startswith("O_")), "")
    if call in {"openat", "open", "creat"}:
        yield from _opening(path, flags, places)
    elif call in {"write", "pwrite64"}:
        assert words[1].text is not None
        offset = places.get(path, 0) if call == "write" else int(words[3].plain)
        yield Event("write", path, offset=offset, data=words[1].text[:result])
        places[path] = offset + result
    elif call == "ftruncate":
        yield Event("size", path, offset=int(words[1].plain))
    elif call in _ON_NAMES:
        yield Event(_ON_NAMES[call], path, other=(*paths, "")[1])
    elif call != "mmap" or any("PROT_WRITE" in each.plain for each in words):
        raise AssertionError(f"{call} of {path}: this replay does not know it")


def _opening(path: str, flags: str, places: dict[str, int]) -> Iterator[Event]:
    if "O_CREAT" in flags:
        yield Event("make", path)
    if "O_TRUNC" in flags:
        yield Event("size", path)
    if "O_WRONLY" in flags or "O_RDWR" in flags:
        places[path] = 0


def _paths(words: list[_Word]) -> Iterator[str]:
    at = "/"
    for word in words:
        if word.text is not None:
            yield str(Path(at, word.text.decode("utf-8", "surrogateescape")))
        elif word.path is not None:
            at = word.path
            if word.plain != "AT_FDCWD":
                yield word.path


@dataclass(slots=True)
class _File:
    """A file: what is on the disk for sure, and what may be."""

    synced: bytes = b""
    pending: list[Event] = field(default_factory=list[Event])

    def whole(self) -> bytes:
        return _applied(self.synced, self.pending)

    def left(self, draw: random.Random) -> bytes:
        """Return what may be left of it."""
        loss, sector = draw.choice((0.1, 0.5, 0.9)), draw.choice(SECTORS)
        kept: list[Event] = []
        for each in self.pending:
            if draw.random() >= loss:
                kept.append(each)
            elif each.kind == "write" and draw.random() < 0.5:
                kept.extend(_torn(each, sector, draw))
        return _applied(self.synced, kept)


def _torn(write: Event, sector: int, draw: random.Random) -> Iterator[Event]:
    start = 0
    while start < len(write.data):
        end = min(len(write.data), start + sector - (write.offset + start) % sector)
        if draw.random() < 0.5:
            yield Event("write", offset=write.offset + start, data=write.data[start:end])
        start = end


def _applied(data: bytes, changes: Sequence[Event]) -> bytes:
    content = bytearray(data)
    for each in changes:
        end = each.offset + len(each.data) if each.kind == "write" else each.offset
        if len(content) < end:
            content.extend(bytes(end - len(content)))
        if each.kind == "size":
            del content[end:]
        else:
            content[each.offset : end] = each.data
    return bytes(content)


class Disk:
    """The files below a folder, as they are written, and as they may be after a power cut."""

    def __init__(self) -> None:
        self._names: dict[str, _File | None] = {}
        self._synced: dict[str, _File | None] = {}
        self._pending: list[tuple[Event, _File | None]] = []

    def apply(self, event: Event) -> None:
        """Let an event happen."""
        path = event.path
        if event.kind in {"write", "size"}:
            file = self._names.get(path)
            if file is not None:  # without a name it is gone in any case
                file.pending.append(event)
        elif event.kind == "sync":
            self._sync(path)
        elif event.kind in {"make", "folder", "move", "link", "remove"}:
            if event.kind == "make" and path in self._names:
                return
            file = _File() if event.kind == "make" else self._names.get(path)
            _rename(self._names, event, file)
            self._pending.append((event, file))

    def _sync(self, path: str) -> None:
        file = self._names.get(path)
        if file is not None:
            file.synced, file.pending = file.whole(), []
        waiting = self._pending
        self._pending = []
        for event, each in waiting:
            changed = {str(Path(name).parent) for name in (event.path, event.other) if name}
            is_in_it = file is None and path in changed
            if is_in_it or (event.kind == "folder" and f"{path}/".startswith(f"{event.path}/")):
                _rename(self._synced, event, each)
            else:
                self._pending.append((event, each))

    def whole(self) -> dict[str, bytes | None]:
        """Return what each name holds, a folder None: what a kill leaves."""
        return {path: None if file is None else file.whole() for path, file in self._names.items()}

    def left(self, draw: random.Random) -> dict[str, bytes | None]:
        """Return what a power cut may leave."""
        names = dict(self._synced)
        if draw.random() < 0.5:
            kept = self._pending[: draw.randint(0, len(self._pending))]
        else:
            kept = [each for each in self._pending if draw.random() < 0.5]
        for event, file in kept:
            _rename(names, event, file)
        contents: dict[int, bytes] = {}
        for file in names.values():
            if file is not None and id(file) not in contents:
                contents[id(file)] = file.left(draw)
        return {path: None if file is None else contents[id(file)] for path, file in names.items()}


def _rename(names: dict[str, _File | None], event: Event, file: _File | None) -> None:
    if event.kind in {"make", "folder"}:
        names[event.path] = file
    elif event.kind == "link":
        names[event.other] = file
    elif event.kind == "move":
        names.pop(event.path, None)
        names[event.other] = file
    else:
        names.pop(event.path, None)


def write_out(left: Mapping[str, bytes | None], below: Path, folder: Path) -> None:
    """Make the files in another folder, as they were below the first; what lost its folder is lost."""
    top = os.fspath(below)
    for path in sorted(left):
        place = Path(folder, os.path.relpath(path, top))
        data = left[path]
        if place.parent.is_dir():
            if data is None:
                place.mkdir(mode=0o700, exist_ok=True)
            else:
                place.write_bytes(data)
                place.chmod(0o600)
