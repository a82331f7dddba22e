"""Writing a file atomically, and removing a folder with any content."""

import errno
import fcntl
import os
import stat
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from whet.core.errors import CannotWrite, DiskFull, WhetError
from whet.host.files.below import held_folder, held_path

_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL, errno.EPERM})
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NOT_ALLOWED = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})

_MOST_BYTES = 64 * 1024 * 1024
_PIECE_BYTES = 1 << 16
_MOST_NAME_BYTES = 240
"""Linux allows names of 255 bytes; the rest is for a number or another suffix."""


def fitting_name(stem: str, end: str) -> str:
    """Return the stem with its end; the stem is cut where the file system takes no such name."""
    while len(os.fsencode(stem + end)) > _MOST_NAME_BYTES:
        stem, end = (stem[:-1], end) if stem else (stem, end[:-1])
    return stem + end


def path_of_part(path: Path) -> Path:
    """Return a new hidden path beside ``path``, for what isn't yet whole."""
    return path.with_name(fitting_name(f".{path.name}", f".{os.urandom(4).hex()}.part"))


def write_atomically(
    path: Path, data: bytes, *, mode: int = 0o666, beside: Path | None = None
) -> None:
    """Make ``path`` hold ``data``: a reader sees the old content or the new, never a part.

    Args:
        path: the file; its folder must exist.
        data: what it will hold.
        mode: permissions of a new file, less the umask.
        beside: where it is written before it is whole (`path_of_part`); None: anywhere beside.

    Raises:
        DiskFull: if there is no space left; ``path`` is as it was.
        CannotWrite: if the folder may not be written to, or ``path`` is a device, a pipe or a
            folder, in whose place a file would stand; ``path`` is as it was.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise CannotWrite(f"whet can't write `{path}`: it isn't a file", hint="name a file")
    beside = beside or path_of_part(path)
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        with open(descriptor, "wb", buffering=0) as file:
            write_all(file.fileno(), data)
        os.replace(beside, path)
    except BaseException as error:  # Ctrl-C may come in the middle of a large file
        with suppress(OSError):
            os.unlink(beside)
        if isinstance(error, OSError):
            raise part_error(error, path, beside) from error
        raise


def put_back(path: Path, data: bytes) -> bool:
    """Make an existing file hold ``data`` again, in place; return whether that was needed.

    Raises:
        CannotWrite, DiskFull: if it can't be written.
    """
    with suppress(OSError):
        if path.read_bytes() == data:
            return False
    try:
        path.write_bytes(data)
    except OSError as error:
        raise storage_error(error, path) from error
    return True


def content_of(
    path: str | bytes | Path, *, most_bytes: int = _MOST_BYTES, follows: bool = True
) -> bytes:
    """Return the content of an untrusted file; one that blocks or has no end is refused.

    Args:
        path: the file.
        most_bytes: a larger one is refused.
        follows: whether it may be a link.

    Raises:
        OSError: if it is no file, a pipe or a device say, or is larger than that.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follows else os.O_NOFOLLOW)
    with open(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fsdecode(path))
        if status.st_size > most_bytes:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), os.fsdecode(path))
        parts: list[bytes] = []
        left, wanted = most_bytes, status.st_size + 1  # Python makes room for all that is asked for
        while part := file.read(min(left, wanted)):
            parts.append(part)
            left, wanted = left - len(part), _PIECE_BYTES
        return b"".join(parts)


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Write all of ``data``: a single ``write`` may take only a part, such as on a nearly full disk."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def storage_error(error: OSError, path: Path) -> WhetError | OSError:
    """Return the error to raise when writing ``path`` failed with ``error``."""
    if error.errno in _NO_SPACE:
        return DiskFull(
            f"no space left to write `{path}`",
            hint="free some space there (`df -h`, `df -i`), or set `TMPDIR` (for temporary files) or"
            " `WHET_DIR` (for the rest) to a folder with space",
        )
    if error.errno in _NOT_ALLOWED:
        return CannotWrite(
            f"whet can't write `{path}`: {error.strerror}",
            hint="name a folder that you can write to: `-o` for a result, `WHET_DIR` for whet's own files",
        )
    return error


def part_error(error: OSError, path: Path, part: Path) -> WhetError | OSError:
    """Return the error to raise when ``path`` failed, or its `path_of_part` before."""
    is_new = error.filename2 is None and str(error.filename) == str(part)
    if error.errno == errno.ENOENT and is_new and part.parent.is_dir():  # such as in /proc
        return CannotWrite(
            f"whet can't write `{path}`: its folder takes no files", hint="name another folder"
        )
    return storage_error(error, path)


def sync(path: Path) -> None:
    """Wait until a file or folder is on the disk as it is now, where no power cut takes it.

    Raises:
        OSError: if it can't be.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def lock_file(descriptor: int, *, waits: bool) -> bool:
    """Lock a file for as long as its descriptor is open; return whether that worked.

    Some file systems keep no locks, such as some NFS mounts: there it is always True.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    return True


def remove_tree(top: Path) -> None:
    """Remove a folder and all that is in it, read-only folders included; none there is fine.

    Folders are moved up to ``top`` before they are looked into, so that a tree of any depth
    needs no recursion and no path longer than the system allows. Each is held open meanwhile: a link
    that a program puts in its place isn't followed.

    Raises:
        OSError: if something in it can't be removed, such as a mount point.
    """
    try:
        with held_folder(top) as held:
            _empty(held)
    except FileNotFoundError:
        return
    except NotADirectoryError:
        os.unlink(top)
        return
    os.rmdir(top)


def _empty(top: int) -> None:
    number = 0
    while folders := _without_files(top):
        for name in folders:
            with held_folder(name, top) as folder:
                for inner in _without_files(folder):
                    with held_folder(inner, folder):
                        pass  # its `..` changes, which needs the right to write it
                    moved = f".whet-{number}-{os.urandom(3).hex()}"
                    os.rename(inner, moved, src_dir_fd=folder, dst_dir_fd=top)
                    number += 1
            os.rmdir(name, dir_fd=top)


def empty_of_files(folder: Path, *, but: Collection[str] = ()) -> list[str]:
    """Remove everything but folders from ``folder``, and return the names of its folders."""
    with held_folder(folder) as held:
        return _without_files(held, but=but)


def _without_files(held: int, *, but: Collection[str] = ()) -> list[str]:
    folders: list[str] = []
    with os.scandir(held_path(held)) as entries:
        for entry in list(entries):
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
            elif entry.name not in but:
                with suppress(FileNotFoundError):
                    os.unlink(entry.name, dir_fd=held)
    return folders
