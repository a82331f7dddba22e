"""Files and folders that a program makes before a snapshot, and how to make them again before a resume.

It covers only effects that a cold run would repeat in any case: a file opened with `O_TRUNC`, a new
folder or file, a file of the program's own that replaces another or is removed, or what is appended to
a file that the program doesn't look at. For any other effect, the caller takes no more snapshots. Paths that didn't exist are marked: a snapshot isn't
usable if its folder exists now.
"""

import errno
import os
import stat

from whet.host.files.file_times import wait_until_settled
from whet.host.process.messages import APPEND, REMOVE, WRITE, LastingEffect
from whet.host.spawner.mapped import Mapped, files_mapped_by

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from typing import TypeAlias

    # path, kind, mode, times or none, content
    Kept: TypeAlias = "tuple[str, str, int, tuple[int, int] | None, bytes]"

_MOST_BYTES = 64 << 20
"""The most that whet keeps for one snapshot."""

_SAVED_AS = ".whet-{}"


class CannotPutBackError(Exception):
    """What the program did can't be done again."""


class FileEffect:
    """What became of one path.

    Attributes:
        kind: ``file``: opened again, or created; ``moved``: a file that took the place of what was
            there; ``gone``: a file that was made and removed; ``folder``; ``socket``: it is in a folder
            of the run's own, and no copy is taken while it is there.
        mode: of what is created.
        sets_mode: it was given a mode of its own.
        sets_times: it was given times of its own.
        was_absent: nothing was there when it was made.
    """

    def __init__(self, kind: str, mode: int) -> None:
        self.kind = kind
        self.mode = mode
        self.sets_mode = False
        self.sets_times = False
        self.was_absent = True

    def copy(self) -> "FileEffect":
        """Return another one like it."""
        deed = FileEffect(self.kind, self.mode)
        deed.sets_mode, deed.sets_times = self.sets_mode, self.sets_times
        deed.was_absent = self.was_absent
        return deed


class Appended:
    """A file that a run has added to.

    Attributes:
        node: its device and inode.
        size: how long it was before.
        was_looked_at: the run has looked at it, too, and may depend on what it holds.
    """

    def __init__(self, node: "tuple[int, int]", size: int) -> None:
        self.node = node
        self.size = size
        self.was_looked_at = False

    def is_it(self, found: os.stat_result) -> bool:
        """Whether what is there is still this file, and no shorter."""
        is_same = (found.st_dev, found.st_ino) == self.node
        return is_same and is_plain(found) and found.st_size >= self.size


class FileEffects:
    """What one run has made so far, and what runs had made at their snapshots."""

    def __init__(self) -> None:
        self._made: dict[str, FileEffect] = {}
        self._at: dict[int, dict[str, FileEffect]] = {}
        self._kept: dict[int, list[Kept]] = {}
        self._mapped: dict[int, dict[str, Mapped]] = {}
        self._appended: dict[str, Appended] = {}
        self._appended_at: dict[int, dict[str, tuple[Appended, bytes]]] = {}

    def begin(self) -> None:
        """Begin with a run that has made nothing yet."""
        self._made, self._appended = {}, {}

    def deed(self, path: str) -> "FileEffect | None":
        """Return what the run has made of a path; None: it isn't its own."""
        return self._made.get(key_of(path)) if self._made else None

    def made_where_none_was(self, path: str) -> bool:
        """Whether the run has made a path where nothing was."""
        deed = self.deed(path)
        return deed is not None and deed.was_absent

    def left(self) -> list[LastingEffect]:
        """Return what the run has left in the world."""
        return [
            LastingEffect(REMOVE if deed.kind == "gone" else WRITE, path)
            for path, deed in self._made.items()
            if not (deed.kind == "gone" and deed.was_absent)
        ] + [LastingEffect(APPEND, path) for path in self._appended]

    def paths(self) -> list[str]:
        """Return what the run has made, added to or removed, with folders for all that is in them."""
        return [*self._made, *self._appended]

    def owns(self, path: str) -> bool:
        """Whether what is at a path is the run's own work, and nothing that it found there."""
        return bool(self._made) and (key_of(path) in self._made or self.is_inside(path))

    def is_inside(self, path: str) -> bool:
        """Whether a path is below a folder that the run has made."""
        folder = os.path.dirname(key_of(path))
        while len(folder) > 1:
            if (deed := self._made.get(folder)) is not None:
                return deed.kind == "folder"
            folder = os.path.dirname(folder)
        return False

    def makes(self, path: str, kind: str, mode: int, *, was_absent: bool = True) -> None:
        """Note that a path is made."""
        before = self._made.get(key_of(path))
        if before is not None and before.kind == "gone" and kind == "file":
            kind = "moved"  # it is new, whatever was there at first
        deed = FileEffect(kind, mode)
        deed.was_absent = was_absent
        self._made[key_of(path)] = deed
        self._appended.pop(key_of(path), None)

    def appends(self, path: str, found: os.stat_result) -> None:
        """Note that a file which is there is opened to be added to."""
        self._appended.setdefault(
            key_of(path), Appended((found.st_dev, found.st_ino), found.st_size)
        )

    def looks_at(self, path: str) -> None:
        """Note that the run looks at a path."""
        if self._appended and (file := self._appended.get(key_of(path))) is not None:
            file.was_looked_at = True

    def removes(self, path: str) -> None:
        """Note that a file or folder of its own is removed."""
        key = key_of(path)
        if self._made[key].kind == "folder" or self.is_inside(path):
            del self._made[key]
        else:
            deed = FileEffect("gone", 0)
            deed.was_absent = self._made[key].was_absent
            self._made[key] = deed

    def moves(self, path: str, to: str) -> None:
        """Note that a file of its own takes another place."""
        traces = self._made[key_of(path)].copy()
        traces.kind = "moved"
        self.removes(path)
        self._made[key_of(to)] = traces
        self._appended.pop(key_of(to), None)

    def gets_name(self, path: str, other: str) -> None:
        """Note that a file of its own gets one more name."""
        traces = self._made[key_of(path)].copy()
        traces.kind = "moved"
        self._made[key_of(other)] = traces

    # ---- snapshots ----

    def keep(self, number: int, pid: int) -> None:
        """Keep the files made so far, for a snapshot.

        Raises:
            CannotPutBackError: if that can't be done.
        """
        copies: list[Kept] = []
        size = 0
        mapped = self._mapped[number] = self._mapped_by(pid)
        for path, deed in self._made.items():
            content, mode, times = b"", deed.mode, None
            # What is mapped is this file, as it is, and none that takes its place.
            kind = "file" if path in mapped else deed.kind
            sets_mode = deed.sets_mode or path in mapped
            if deed.kind != "gone":
                try:
                    status = os.lstat(path)
                    is_right = (stat.S_ISDIR if deed.kind == "folder" else stat.S_ISREG)(
                        status.st_mode
                    )
                    size += status.st_size
                    if is_right and deed.kind != "folder" and size <= _MOST_BYTES:
                        content = _content(path)
                except OSError as error:
                    raise CannotPutBackError(f"{path}: {error.strerror}") from error
                if not is_right:
                    raise CannotPutBackError(f"{path} is no longer the program's file")
                if deed.kind != "folder" and status.st_nlink > 1:
                    raise CannotPutBackError(f"{path} has two names")
                mode = stat.S_IMODE(status.st_mode) if sets_mode else deed.mode
                times = (status.st_atime_ns, status.st_mtime_ns) if deed.sets_times else None
            if size > _MOST_BYTES:
                raise CannotPutBackError(
                    f"writes more than {_MOST_BYTES >> 20} MB, for example {path}"
                )
            copies.append((path, f"{kind}{'!' if sets_mode else ''}", mode, times, content))
        added = {path: (file, _added(path, file)) for path, file in self._appended.items()}
        size += sum(len(content) for _, content in added.values())
        if size > _MOST_BYTES:
            raise CannotPutBackError(f"writes more than {_MOST_BYTES >> 20} MB")
        self._appended_at[number] = added
        self._kept[number] = copies
        self._at[number] = {path: deed.copy() for path, deed in self._made.items()}

    def _mapped_by(self, pid: int) -> dict[str, Mapped]:
        """Return what a snapshot has mapped of the files that were made; no change is missed."""
        files = [path for path, deed in self._made.items() if deed.kind in {"file", "moved"}]
        try:
            all_mapped = files_mapped_by(pid) if files else {}
            states = {path: os.lstat(path) for path in files if path in all_mapped}
        except OSError as error:
            raise CannotPutBackError(f"{error.filename}: {error.strerror}") from error
        wait_until_settled(states.values())
        return {
            path: Mapped(path, each, is_written=all_mapped[path]) for path, each in states.items()
        }

    def drop(self, number: int) -> None:
        """Forget the files kept for a snapshot."""
        self._mapped.pop(number, None)
        self._kept.pop(number, None)
        self._at.pop(number, None)
        self._appended_at.pop(number, None)

    def put_back(self, number: int) -> None:
        """Make the files of a snapshot's moment again, and resume from there.

        Raises:
            CannotPutBackError: if something else is in the way, or the system fails.
        """
        mapped = self._mapped.get(number, {})
        standing = {path for path, file in mapped.items() if file.stands()}
        for path in mapped.keys() - standing:
            if not mapped[path].may_be_written_again():
                raise CannotPutBackError(f"{path} is mapped into memory, and changed")
        copies = [each for each in self._kept.get(number, []) if each[0] not in standing]
        folders = {path for path, kind, *_ in copies if kind.startswith("folder")}
        for path, kind, *_ in copies:
            _check(path, kind, folders)
        added = self._appended_at.get(number, {})
        for path, (file, _) in added.items():
            _check_appended(path, file)
        before, path = os.umask(0), ""
        try:
            for each in sorted(copies, key=lambda one: (not one[1].startswith("folder"), one[0])):
                path = each[0]  # the system names none where there is no space for a text
                _make(*each)
            self._appended = {}
            for path, (file, content) in added.items():
                self._appended[path] = Appended(file.node, _append(path, file, content))
        except OSError as error:
            for other, file in self._appended.items():
                os.truncate(other, file.size)  # the run from the start appends to it
            raise CannotPutBackError(f"{path}: {error.strerror}") from error
        finally:
            os.umask(before)
        self._made = {path: deed.copy() for path, deed in self._at.get(number, {}).items()}


def key_of(path: str) -> str:
    """Return a path that is the same for all ways to a file; a link at its end isn't followed."""
    folder, name = os.path.split(path.rstrip("/"))
    if name in {"", ".", ".."}:
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(folder), name)


def _content(path: str) -> bytes:
    with open(path, "rb", 0) as file:
        return file.read()


def _check(path: str, kind: str, folders: "set[str]") -> None:
    """Raise if something is in the way of making a path."""
    try:
        status = os.lstat(path)
    except OSError:
        if os.path.dirname(path) in folders or os.path.isdir(os.path.dirname(path)):
            return
        raise CannotPutBackError(f"the folder of {path} is gone") from None
    if kind.startswith("folder") or not is_plain(status) or not os.access(path, os.W_OK):
        raise CannotPutBackError(f"{path} is in the way")


def is_plain(found: os.stat_result) -> bool:
    """Whether it is a file that has no other name."""
    return stat.S_ISREG(found.st_mode) and found.st_nlink == 1


def _make(path: str, kind: str, mode: int, times: "tuple[int, int] | None", content: bytes) -> None:
    """Make a path as the program did."""
    kind, sets_mode = kind.rstrip("!"), kind.endswith("!")
    if kind == "folder":
        os.mkdir(path, mode)
    elif kind == "gone":
        if os.path.lexists(path):
            os.unlink(path)
    elif kind == "moved":
        folder, name = os.path.split(path)
        beside = os.path.join(folder, f".{name}{_SAVED_AS.format(os.getpid())}")
        _write(beside, mode, content)
        os.replace(beside, path)
    else:
        _write(path, mode, content)
    if sets_mode:
        os.chmod(path, mode)
    if times is not None:
        os.utime(path, ns=times)


def _added(path: str, file: Appended) -> bytes:
    """Return what a run has added to a file."""
    if file.was_looked_at:
        raise CannotPutBackError(f"appends to {path} and looks at it (mode `w` allows copies)")
    try:
        if not file.is_it(os.lstat(path)):
            raise CannotPutBackError(f"{path} is no longer what the program appended to")
        with open(path, "rb", 0) as content:
            content.seek(file.size)
            return content.read(_MOST_BYTES + 1)
    except OSError as error:
        raise CannotPutBackError(f"{path}: {error.strerror}") from error


def _check_appended(path: str, file: Appended) -> None:
    """Raise unless a file that is to be added to again is there still."""
    try:
        is_right = file.is_it(os.lstat(path)) and os.access(path, os.W_OK)
    except OSError:
        is_right = False
    if not is_right:
        raise CannotPutBackError(f"{path} is no longer what the program appended to")


def _append(path: str, file: Appended, content: bytes) -> int:
    """Add to a file; return how long it was before."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not file.is_it(found):
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            os.ftruncate(descriptor, found.st_size)
            raise
        return found.st_size
    finally:
        os.close(descriptor)


def _write(path: str, mode: int, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(path, flags, mode), "wb", 0) as file:
        rest = memoryview(content)
        while rest:
            rest = rest[file.write(rest) or 0 :]
