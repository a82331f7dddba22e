"""Folders as bytes: a tar archive that is equal for equal folders.

A folder is stored by digest, like the content of a file. Names, contents, modes, symbolic links and
empty folders count; owners and times don't. A folder that isn't empty is in the archive only if its
mode isn't the usual one, so a part of an archive stays the same when it is unpacked and packed again.
"""

import errno
import io
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from whet.core.errors import PayloadMissing, PayloadTooLarge, PayloadUnreadable
from whet.core.text.quantity import shown_bytes
from whet.host.code.project import STATE_FOLDER
from whet.host.files.files import path_of_part, remove_tree, storage_error
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.process.ending import cleaning_up

if TYPE_CHECKING:
    import tarfile

MOST_BYTES = 256 * 1024 * 1024
"""Each trial gets a copy, and a search keeps several in memory."""

MOST_FILES = 20_000
"""Writing more takes seconds in each trial."""

_USUAL_FOLDER = 0o755
_UNLOCKED = 0o700
_BYTE_CODE = "__pycache__"
_EXCHANGE = 2
_AT_CWD = -100


def pack_folder(folder: Path, shown: str = "") -> bytes:
    """Return a folder's content as bytes; a link is kept as it is, wherever it leads.

    Args:
        folder: what is packed.
        shown: its name in messages; empty: its path.

    Raises:
        PayloadTooLarge: if it holds too much.
        PayloadUnreadable: if something in it can't be read or is no file, such as a socket.
        PayloadMissing: if something in it goes while it is read.
    """
    shown = shown or str(folder)
    try:
        entries = list(_entries(folder))
    except OSError as error:
        raise _unreadable(error, shown) from error
    _refuse_large(folder, entries, shown)
    parts: list[bytes] = []
    parents = {path.rpartition("/")[0] for path, _ in entries}
    for path, status in entries:
        usual = stat.S_IMODE(status.st_mode) == _USUAL_FOLDER and path in parents
        if not (stat.S_ISDIR(status.st_mode) and usual):
            try:
                parts += _packed(folder, path, status)
            except OSError as error:
                raise _unreadable(error, shown) from error
    return b"".join((*parts, bytes(1024)))


def unpack_folder(data: bytes, folder: Path) -> None:
    """Make a folder that holds what was packed.

    Args:
        data: what `pack_folder` returned, or a part of its members.
        folder: it must not be there yet.

    Raises:
        OSError: if it can't be written.
    """
    folder.mkdir(mode=_USUAL_FOLDER)
    modes: list[tuple[Path, int]] = []
    with _opened(data) as archive:
        for member in archive:
            path = _place(folder, member)
            if member.isdir():
                path.mkdir(mode=_UNLOCKED, parents=True, exist_ok=True)
                modes.append((path, member.mode))
                continue
            path.parent.mkdir(mode=_USUAL_FOLDER, parents=True, exist_ok=True)
            _write_member(archive, member, path)
    for path, mode in reversed(modes):
        path.chmod(mode)


def replace_folder(folder: Path, data: bytes, cleanup_journal: CleanupJournal) -> None:
    """Make ``folder`` hold what was packed: who looks sees the old folder or the new one.

    Args:
        folder: what is replaced; its parent must exist.
        data: what was packed.
        cleanup_journal: writes down what is half made, so that it goes when whet is killed.

    Raises:
        DiskFull, CannotWrite: if it can't be written; it is as it was.
    """
    with made_beside(folder, cleanup_journal) as beside:
        unpack_folder(data, beside)


@contextmanager
def made_beside(path: Path, cleanup_journal: CleanupJournal) -> Generator[Path]:
    """Let a file or folder be made beside ``path``, and put it there once it is whole.

    Args:
        path: what is replaced; its parent must exist.
        cleanup_journal: writes down what is half made, so that it goes when whet is killed.

    Yields:
        where to make it: nothing is there.

    Raises:
        DiskFull, CannotWrite: if it can't be written; ``path`` is as it was.
    """
    beside = path_of_part(path)
    cleanup_journal.adopt("folder", str(beside))
    try:
        yield beside
        if path.is_dir() or (beside.is_dir() and os.path.lexists(path)):
            _exchange(beside, path)
        else:
            os.replace(beside, path)
    except OSError as error:
        raise storage_error(error, path) from error
    finally:
        with cleaning_up(), suppress(OSError):
            remove_tree(beside)
            cleanup_journal.forget(str(beside))


def put_folder_back(folder: Path, data: bytes) -> bool:
    """Put back what is changed or gone of a packed folder; return whether that was needed.

    What is new in it stays: it is what the command left there, or the user wrote meanwhile. Byte
    code goes, or the same command would next time start from another folder.

    Raises:
        CannotWrite, DiskFull: if it can't be written.
    """
    is_different = False
    members: set[str] = set()
    try:
        folder.mkdir(exist_ok=True)
        with _opened(data) as archive:
            for member in archive:
                members.add(member.name)
                path = _place(folder, member)
                if not _is_as_packed(archive, member, path):
                    is_different = True
                    _restore(archive, member, path)
        _remove_byte_code(folder, members)
    except OSError as error:
        raise storage_error(error, folder) from error
    return is_different


def _remove_byte_code(folder: Path, packed: set[str]) -> None:
    for path, status in reversed(list(_entries(folder))):
        if _BYTE_CODE in path.split("/") and path not in packed:
            remove = os.rmdir if stat.S_ISDIR(status.st_mode) else os.unlink
            with suppress(OSError):  # a folder that holds what was packed
                remove(folder / path)


def _entries(folder: Path) -> Iterator[tuple[str, os.stat_result]]:
    """Yield what is in a folder, by its path there, in order; a folder before what is in it."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with os.scandir(os.path.join(folder, below)) as listing:
            # What whet writes down while it works is no part of a payload.
            children = sorted(listing, key=lambda entry: entry.name)
        entries = [entry for entry in children if entry.name != STATE_FOLDER]
        for entry in entries:
            path = f"{below}/{entry.name}" if below else entry.name
            yield path, entry.stat(follow_symlinks=False)
        # The last is taken first: all of one folder stands together.
        waiting += [
            f"{below}/{entry.name}" if below else entry.name
            for entry in reversed(entries)
            if entry.is_dir(follow_symlinks=False)
        ]


def _refuse_large(folder: Path, entries: list[tuple[str, os.stat_result]], shown: str) -> None:
    sizes: dict[str, int] = {}
    for path, status in entries:
        if stat.S_ISREG(status.st_mode):
            top = path.partition("/")[0]
            sizes[top] = sizes.get(top, 0) + status.st_size
    total = sum(sizes.values())
    if total <= MOST_BYTES and len(entries) <= MOST_FILES:
        return
    largest = sorted(sizes, key=lambda name: -sizes[name])[:3]
    names = ", ".join(f"`{name}` ({shown_bytes(sizes[name])})" for name in largest)
    raise PayloadTooLarge(
        f"`{shown}` holds {shown_bytes(total)} in {len(entries)} files; each trial gets a copy, so whet shrinks at most {shown_bytes(MOST_BYTES)} in {MOST_FILES} files",
        hint=f"move out what the failure doesn't need; the largest parts are {names}"
        if largest
        else f"name a folder inside `{folder}`",
    )


def _packed(folder: Path, path: str, status: os.stat_result) -> list[bytes]:
    import tarfile

    info = tarfile.TarInfo(path)
    info.mode = stat.S_IMODE(status.st_mode)
    content = b""
    if stat.S_ISLNK(status.st_mode):
        info.type, info.linkname = tarfile.SYMTYPE, os.readlink(folder / path)
    elif stat.S_ISDIR(status.st_mode):
        info.type = tarfile.DIRTYPE
    elif stat.S_ISREG(status.st_mode):
        content = (folder / path).read_bytes()
    else:
        raise PayloadUnreadable(
            f"`{folder / path}` is a pipe, a socket or a device, not a file",
            hint="remove it, or name a folder without it",
        )
    info.size = len(content)
    header = info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")
    return [header, content, bytes(-len(content) % tarfile.BLOCKSIZE)]


@contextmanager
def _opened(data: bytes) -> "Generator[tarfile.TarFile]":
    import tarfile

    try:
        with tarfile.open(
            fileobj=io.BytesIO(data), mode="r:", encoding="utf-8", errors="surrogateescape"
        ) as archive:
            yield archive
    except tarfile.TarError as error:
        raise OSError(errno.EINVAL, f"can't read the packed folder: {error}") from error


def _place(folder: Path, member: "tarfile.TarInfo") -> Path:
    path = Path(member.name)
    above = path.parents[:-1]
    if (
        path.is_absolute()
        or ".." in path.parts
        or any((folder / each).is_symlink() for each in above)
    ):
        raise PermissionError(1, "a path that leaves the folder", member.name)
    return folder / path


def _write_member(archive: "tarfile.TarFile", member: "tarfile.TarInfo", path: Path) -> None:
    if member.issym():
        path.symlink_to(member.linkname)
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    with open(os.open(path, flags, 0o600), "wb") as file:
        file.write(_content(archive, member))
    path.chmod(member.mode)


def _content(archive: "tarfile.TarFile", member: "tarfile.TarInfo") -> bytes:
    file = archive.extractfile(member)
    return b"" if file is None else file.read()


def _is_as_packed(archive: "tarfile.TarFile", member: "tarfile.TarInfo", path: Path) -> bool:
    try:
        status = path.lstat()
        if member.issym():
            return stat.S_ISLNK(status.st_mode) and os.readlink(path) == member.linkname
        if stat.S_IMODE(status.st_mode) != member.mode:
            return False
        if member.isdir():
            return stat.S_ISDIR(status.st_mode)
        is_file = stat.S_ISREG(status.st_mode) and status.st_size == member.size
        return is_file and path.read_bytes() == _content(archive, member)
    except OSError:
        return False


def _restore(archive: "tarfile.TarFile", member: "tarfile.TarInfo", path: Path) -> None:
    if member.isdir() and path.is_dir() and not path.is_symlink():
        path.chmod(member.mode)
        return
    if os.path.lexists(path):
        remove_tree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if member.isdir():
        path.mkdir(mode=member.mode)
    else:
        _write_member(archive, member, path)


def _exchange(one: Path, other: Path) -> None:
    """Let two names change what they name, at one moment where the system can do that."""
    import ctypes

    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is not None and not call(
        _AT_CWD, os.fsencode(one), _AT_CWD, os.fsencode(other), _EXCHANGE
    ):
        return
    old = one.with_suffix(".old")
    os.rename(other, old)
    os.rename(one, other)
    os.rename(old, one)


def _unreadable(error: OSError, shown: str) -> PayloadUnreadable | PayloadMissing:
    path = error.filename or shown
    if isinstance(error, FileNotFoundError):
        return PayloadMissing(
            f"`{path}` disappeared while whet read `{shown}`",
            hint="stop other programs from writing to it",
        )
    return PayloadUnreadable(
        f"`{path}` cannot be read: {error.strerror}", hint=f"`ls -ld {path}` shows who can"
    )
