"""Facts about a path at the moment when a system call of another process failed on it."""

import difflib
import grp
import os
import pwd
import re
import stat
from collections import Counter
from contextlib import suppress
from pathlib import Path

from whet.core.observations.system_call import OpenFiles, PathFacts
from whet.host.files.file_systems import file_system_of

_MOST_NAMES = 5000
_LEAST_ALIKE = 0.5
_MOST_NEAR = 3
_MOST_KINDS = 3
_MOST_OPEN = 20_000
_DIGITS = re.compile(r"\d+")
_TEMPORARY = re.compile(r"(?<=/tmp)[a-z0-9_]{8}(?=$|/)")


def facts_on(tid: int, path: str, *, looks_beside: bool) -> PathFacts | None:
    """Return what is true of a path as a process sees it; None if nothing can be known.

    Args:
        tid: the process.
        path: absolute.
        looks_beside: it doesn't exist: are there names much like it?
    """
    root = _root_of(tid)
    existing = path
    while not os.path.lexists(root + existing) and existing != os.path.dirname(existing):
        existing = os.path.dirname(existing)
    try:
        status = os.lstat(root + existing)
    except OSError:
        return None
    # Of a folder that may not be entered nothing behind it is known either.
    system = file_system_of(existing, seen_by=tid, root=root)
    near = _near(root, existing, path) if looks_beside and existing != path else ()
    facts = PathFacts(
        existing=existing,
        owner=_user(status.st_uid),
        group=_group(status.st_gid),
        mode=stat.filemode(status.st_mode),
        user=_user_of(tid),
        near=near,
    )
    if system is None:
        return facts
    return PathFacts(
        existing=existing, owner=facts.owner, group=facts.group, mode=facts.mode, user=facts.user,
        near=near, file_system=system.kind, mount_point=system.point,
        is_read_only=system.is_read_only, total_bytes=system.total_bytes,
        free_bytes=system.free_bytes, free_files=system.free_files,
    )  # fmt: skip


def open_files_of(pid: int, own: tuple[str, ...] = ()) -> OpenFiles | None:
    """Return what a process holds open, most of it by what it has in common.

    Args:
        pid: the process.
        own: folders of whet's own; what is there doesn't count.
    """
    try:
        names = os.listdir(f"/proc/{pid}/fd")
        limits = Path(f"/proc/{pid}/limits").read_text()
    except OSError:
        return None
    kinds: Counter[str] = Counter()
    for name in names[:_MOST_OPEN]:
        with suppress(OSError):
            target = os.readlink(f"/proc/{pid}/fd/{name}")
            kinds[_kind(target)] += not (own and target.startswith(own))
    most = re.search(r"^Max open files\s+(\d+)", limits, flags=re.MULTILINE)
    return OpenFiles(
        held=kinds.total() + max(0, len(names) - _MOST_OPEN),
        most=int(most[1]) if most else 0,
        kinds=tuple(kinds.most_common(_MOST_KINDS)),
    )


def _kind(target: str) -> str:
    """Return what files of one kind have in common: numbers and names made up are left out."""
    if not target.startswith("/"):
        return target.partition(":")[0]
    return _DIGITS.sub("*", _TEMPORARY.sub("*", target))


def _near(root: str, existing: str, path: str) -> tuple[str, ...]:
    missing = path[len(existing) :].lstrip("/").partition("/")[0]
    names: list[str] = []
    with suppress(OSError), os.scandir(root + existing) as entries:
        for entry in entries:
            names.append(entry.name)
            if len(names) >= _MOST_NAMES:
                break
    lowered = {name.lower(): name for name in sorted(names)}
    matches = difflib.get_close_matches(missing.lower(), lowered, n=_MOST_NEAR, cutoff=0.7)
    return tuple(lowered[name] for name in matches if _is_alike(missing.lower(), name))


def _is_alike(missing: str, name: str) -> bool:
    """Whether two names have more in common than how they end: `a.txt` isn't `b.txt`."""
    one, other = os.path.splitext(missing)[0], os.path.splitext(name)[0]
    return difflib.SequenceMatcher(None, one, other).ratio() >= _LEAST_ALIKE


def _root_of(tid: int) -> str:
    """Return what leads to the root folder of a process; empty: it is that of this one."""
    with suppress(OSError):
        is_same = os.readlink(f"/proc/{tid}/ns/mnt") == os.readlink("/proc/self/ns/mnt")
        if is_same and os.readlink(f"/proc/{tid}/root") == "/":
            return ""
        return f"/proc/{tid}/root"
    return ""


def _user_of(tid: int) -> str:
    with suppress(OSError, IndexError, ValueError):
        status = Path(f"/proc/{tid}/status").read_text(errors="replace")
        return _user(int(status.partition("\nUid:")[2].split()[1]))
    return ""


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)
