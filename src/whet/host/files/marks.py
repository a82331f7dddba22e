"""A mark for each state of a file, link or folder; equal marks mean no change. Imports next to nothing."""

import os

from whet.host.files.file_times import unsettled_ns

TYPE_CHECKING = False  # importing `typing` would add 5 ms to the start of a spawner
if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from typing import TypeAlias

    Mark: TypeAlias = tuple["int | str", ...]
    # time of change (0: too young to be trusted), number, device, names with their kinds
    Listing: TypeAlias = tuple[int, int, int, "tuple[str, ...]"]

_KIND_BITS = 0o170000
_FOLDER, _LINK, _FILE = 0o040000, 0o120000, 0o100000

_VIRTUAL = frozenset(os.stat(path).st_dev for path in ("/proc", "/sys") if os.path.exists(path))
"""File systems that create a file's content when a program reads it, with the time of that moment."""

_METADATA = (".dist-info", ".egg-info", ".egg")
"""What tells of an installed package; `importlib.metadata` looks for nothing else."""

_DIGEST_AT = 5
"""Where the digest is in the mark of a file of which only the contents count."""

_MOST_BYTES = 1 << 20
"""Of a larger file more than the contents count: a program waits while they are read."""

UNSURE: "Mark" = ()
"""The mark of a file that changed so recently that its next change may not show."""

NO_LINK: "Mark" = (0, "")
"""The mark of a file that only has to stay a file, not a link."""


def of_file(path: str) -> "Mark":
    """Return the mark of what a path leads to, links followed."""
    try:
        status = os.stat(path)
    except (OSError, ValueError) as error:
        return (-1, getattr(error, "errno", 0) or 0)
    return _of_stat(status)


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):
        return None


def _of_stat(found: os.stat_result) -> "Mark":
    if found.st_dev in _VIRTUAL:
        return (0, "made by the kernel")
    if found.st_mode & _KIND_BITS != _FILE:
        # A folder's times change with each file in it, which whoever looks it up doesn't see.
        return (0, found.st_mode, found.st_uid, found.st_gid, found.st_ino, found.st_dev)
    return (found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino, found.st_dev)


def of_link(path: str) -> "Mark":
    """Return the mark of a path itself, a link not followed."""
    try:
        status = os.lstat(path)
        if status.st_mode & _KIND_BITS == _LINK:
            return (0, os.readlink(path))
    except (OSError, ValueError) as error:
        return (-1, getattr(error, "errno", 0) or 0)
    return _of_stat(status)


def of_kind(path: str) -> "Mark":
    """Return a mark of which kind of file a path leads to, and nothing else of it."""
    try:
        return (0, os.stat(path).st_mode & _KIND_BITS)
    except (OSError, ValueError) as error:
        return (-1, getattr(error, "errno", 0) or 0)


def is_of_kind(mark: "Mark") -> bool:
    """Whether a mark says of which kind a file was, and nothing else of it."""
    return len(mark) == len(NO_LINK) and mark[0] == 0 and isinstance(mark[1], int)


def is_of_link(mark: "Mark") -> bool:
    """Whether a mark is that of a link, or says that there is none."""
    return len(mark) > 1 and isinstance(mark[1], str)


def is_of_nothing(mark: "Mark") -> bool:
    """Whether a mark says that nothing was there, or nothing that could be looked at."""
    return mark[:1] == (-1,)


def sure(mark: "Mark") -> "Mark":
    """Return a mark that was just taken, if a later change would show."""
    moment, device = mark[0], mark[-1]
    if not isinstance(moment, int) or not isinstance(device, int) or moment <= 0:
        return mark
    return UNSURE if unsettled_ns(moment, device) else mark


def is_of_package(path: str) -> bool:
    """Whether a path belongs to an installed package or to Python."""
    return "/site-packages/" in path or "/dist-packages/" in path or "/lib/python3" in path


def with_contents(path: str, mark: "Mark") -> "Mark":
    """Return a mark that stays the same while a file holds the same, whenever it was written.

    It has to be the same file, not one that took its place: the program may have the first one open.
    That is enough for a program that opens a file and doesn't look it up otherwise. It may ask the open file
    when it was written; the answer to that, like any time, is the copy's.

    Args:
        path: the file.
        mark: of what it leads to, just taken; returned if it isn't that of a small file.
    """
    if len(mark) != _DIGEST_AT or not isinstance(size := mark[2], int) or size > _MOST_BYTES:
        return mark
    digest = _digest(path, size)
    return (*mark, digest) if digest and of_file(path) == mark else mark


def without_contents(mark: "Mark") -> "Mark":
    """Return a mark of which all that is known of a file counts."""
    return mark[:_DIGEST_AT] if _has_digest(mark) else mark


def _has_digest(mark: "Mark") -> bool:
    return len(mark) > _DIGEST_AT and isinstance(mark[_DIGEST_AT], str)


def _digest(path: str, size: int) -> str:
    """Return a digest of a file; empty if it can't be read or has another size."""
    import hashlib  # few programs read files of their own

    try:
        # A pipe may have taken the file's place: the open waits for nobody.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with open(descriptor, "rb", buffering=0) as file:
            is_file = os.fstat(descriptor).st_mode & _KIND_BITS == _FILE
            contents = file.read(size + 1) if is_file else b""
    except OSError:
        return ""
    is_whole = is_file and len(contents) == size
    return hashlib.blake2b(contents, digest_size=16).hexdigest() if is_whole else ""


def listing(path: str) -> "Listing":
    """Return what a folder holds, in the order in which a program gets it."""
    try:
        # First: what changes meanwhile then shows as a change.
        status = os.stat(path)
        with os.scandir(path) as entries:
            names = tuple(f"{_kind(entry)}{entry.name}" for entry in entries)
    except (OSError, ValueError) as error:
        return (-1, getattr(error, "errno", 0) or 0, 0, ())
    moment = status.st_ctime_ns  # the other one can be set back, as `tar` and `rsync` do
    is_young = unsettled_ns(moment, status.st_dev) > 0
    return (0 if is_young else moment, status.st_ino, status.st_dev, names)


def _kind(entry: "os.DirEntry[str]") -> str:
    if entry.is_file(follow_symlinks=False):
        return "."  # most are: a program waits while they are looked through
    if entry.is_symlink():
        return "@"
    return "/" if entry.is_dir(follow_symlinks=False) else "?"  # a pipe, a socket


def first_other(
    files: "Mapping[str, Mark]",
    links: "Mapping[str, Mark]",
    folders: "Mapping[str, Listing]",
    places: "Mapping[str, Listing]",
    modules: "Collection[str]",
    seen: "dict[str, os.stat_result] | None" = None,
) -> str:
    """Return the first path that isn't what it was; empty if there is none.

    Each path is asked for once: what is no link is the same whether links are followed or not.
    A large program has looked at some thousand paths, and the user waits for the answer.

    Args:
        files: path to mark, links followed.
        links: path to mark, links not followed.
        folders: path to entries, all of which count, as they come.
        places: path to entries of which those count that may be modules of these names.
        modules: the names.
        seen: is given what the system says of each file and folder that is there.
    """
    seen = {} if seen is None else seen
    other = _other_link(links, seen) or _other_file(files, seen)
    if other:
        return other
    for listings, names in ((folders, None), (places, modules)):
        for path, then in listings.items():
            found = seen.get(path) or _stat(path)
            if has_other_entries(path, then, names, found):
                return path
            if found is not None:
                seen[path] = found
    return ""


def _other_link(links: "Mapping[str, Mark]", seen: "dict[str, os.stat_result]") -> str:
    for path, mark in links.items():
        try:
            status = os.lstat(path)
        except (OSError, ValueError):
            if mark != of_link(path):
                return path
            continue
        if status.st_mode & _KIND_BITS == _LINK:
            if mark != of_link(path):
                return path
        elif mark in (NO_LINK, _of_stat(status)):
            seen[path] = status
        else:
            return path
    return ""


def _other_file(files: "Mapping[str, Mark]", seen: "dict[str, os.stat_result]") -> str:
    for path, mark in files.items():
        status = seen.get(path)
        try:
            if status is None:
                status = seen[path] = os.stat(path)
        except (OSError, ValueError):
            if mark != of_file(path):
                return path
        else:
            if not _is_as_marked(path, mark, status):
                return path
    return ""


def _is_as_marked(path: str, mark: "Mark", status: os.stat_result) -> bool:
    if is_of_kind(mark):
        return mark == (0, status.st_mode & _KIND_BITS)
    now = _of_stat(status)
    if not _has_digest(mark):
        return mark == now
    return mark[:_DIGEST_AT] == now or (
        mark[2:_DIGEST_AT] == now[2:] and mark == (*mark[:_DIGEST_AT], with_contents(path, now)[-1])
    )


def has_other_entries(
    path: str,
    then: "Listing",
    modules: "Collection[str] | None",
    found: "os.stat_result | None" = None,
) -> bool:
    """Whether a folder holds other entries than it did.

    Args:
        path: the folder.
        then: what it held.
        modules: only entries of these names count, in any order; None: all do, as they come.
        found: what it is now, as far as is known already.
    """
    try:
        found = found or os.stat(path)
    except (OSError, ValueError):
        return then[0] != -1
    if then[0] > 0 and (found.st_ctime_ns, found.st_ino, found.st_dev) == then[:3]:
        return False
    now = listing(path)
    if (now[0] == -1) != (then[0] == -1):
        return True
    if modules is None:
        return now[3] != then[3]
    return _of_modules(now[3], modules) != _of_modules(then[3], modules)


def _of_modules(names: "tuple[str, ...]", modules: "Collection[str]") -> "set[str]":
    return {
        name for name in names if name[1:].partition(".")[0] in modules or name.endswith(_METADATA)
    }
