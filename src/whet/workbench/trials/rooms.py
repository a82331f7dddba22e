"""The options of a sandbox on this machine: absolute paths, checked before anything runs."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from whet.core.errors import BadUsage, LimitMakesNoSense
from whet.core.limits import shown_size
from whet.core.room import Disk, Fault, Room
from whet.host.limits.sandbox.room_plan import temporary_folder

_LEAST_BYTES = 4096
_MOST_FILES = 1 << 32


def settle_room(room: Room, *, project: str, cwd: str, environment: Mapping[str, str]) -> Room:
    """Return a room with absolute paths that are there.

    Args:
        room: as the options say.
        project: top folder of the project, which a clean room protects.
        cwd: what paths are relative to.
        environment: what the trial inherits.

    Raises:
        BadUsage: if a path doesn't exist, or two options contradict each other.
        LimitMakesNoSense: if there is less than a size.
    """
    temporary = temporary_folder(environment)
    disks = tuple(_settled(disk, cwd, temporary) for disk in room.disks)
    paths: set[str] = set()
    for disk in disks:
        if disk.path in paths:
            raise BadUsage(
                f"`{disk.path}` gets two file systems",
                hint="keep one of `--disk` and `--disk-free`",
            )
        paths.add(disk.path)
    for fault in room.faults:
        _check_fault(fault)
    if room.clock:
        room = replace(room, clock=_moment(room.clock))
    if room.is_clean and os.path.realpath(project) == "/":
        raise BadUsage(
            "`--clean` can't apply to the whole machine, and the project is `/`",
            hint="run whet in the project's folder; `mkdir .whet` there marks it as one",
        )
    if room.keep_writes and not room.is_clean:
        raise BadUsage(
            f"`--keep-writes {room.keep_writes}` needs `--clean`, which holds back writes",
            hint="add `--clean`",
        )
    if room.gpus == 0:
        from whet.host.limits.gpu.gpus import device_nodes

        room = replace(room, hidden=device_nodes())
    return replace(
        room,
        disks=disks,
        read_only=tuple(_existing(path, cwd, "--read-only") for path in room.read_only),
        project=os.path.realpath(project) if room.is_clean else "",
        keep_writes=os.path.abspath(Path(cwd, room.keep_writes)) if room.keep_writes else "",
    )


def _settled(disk: Disk, cwd: str, temporary: str) -> Disk:
    option = f"--{disk.option}"
    if disk.size_bytes is not None:
        _check_size(disk, option)
    if (disk.inodes or 0) > _MOST_FILES:
        raise LimitMakesNoSense(
            f"`--inodes {disk.inodes}` is more than a file system can hold",
            hint="lower it, or leave it out",
        )
    path = _existing(disk.path, cwd, option) if disk.path else temporary
    if not Path(path).is_dir():
        raise BadUsage(f"`{path}` of `{option}` isn't a folder", hint="name its folder")
    if path == "/":
        raise BadUsage(
            f"`{option}` can't apply to the whole machine", hint="name a folder, such as /tmp"
        )
    if Path(path).is_relative_to("/proc") or Path(path).is_relative_to("/sys"):
        raise BadUsage(
            f"`{path}` of `{option}` belongs to the kernel, and isn't a disk",
            hint="name a folder, such as /tmp",
        )
    if disk.is_rest:
        _check_rest(disk, path)
    return replace(disk, path=path)


def _check_rest(disk: Disk, path: str) -> None:
    """Refuse to leave more than there is: that would limit nothing."""
    size, there = disk.size_bytes or 0, os.statvfs(path)
    free = there.f_bavail * there.f_frsize
    if size > free:
        raise LimitMakesNoSense(
            f"`--disk-free {shown_size(size)}:{path}` is more than the {shown_size(free)} free "
            "there",
            hint="lower it: the disk should be almost full",
        )


def _check_size(disk: Disk, option: str) -> None:
    size = disk.size_bytes or 0
    if size < _LEAST_BYTES:
        raise LimitMakesNoSense(
            f"`{option} {size}` is less than one page of memory",
            hint=f"the least that works is {_LEAST_BYTES}",
        )
    whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if size > whole:
        raise LimitMakesNoSense(
            f"`{option} {shown_size(size)}` is more than this machine's memory, which holds it: {shown_size(whole)}",
            hint="give it less; a disk that never fills limits nothing",
        )


def _moment(words: str) -> str:
    from datetime import datetime

    try:
        moment = datetime.fromisoformat(words)
    except ValueError as error:
        raise BadUsage(
            f"`--clock {words}` isn't a date and time: {error}",
            hint="write 2038-01-19 or '2038-01-19 03:14:07'",
        ) from error
    if moment.tzinfo is not None:
        moment = moment.astimezone().replace(tzinfo=None)
    return moment.isoformat(" ", "seconds")


def _existing(path: str, cwd: str, option: str) -> str:
    if not path:
        raise BadUsage(f"`{option}` was given no path", hint=f"such as `{option} data`")
    real_path = os.path.realpath(Path(cwd, Path(path).expanduser()))
    if not Path(real_path).exists():
        raise BadUsage(
            f"`{path}` of `{option}` doesn't exist", hint=f"create it first: `mkdir -p {path}`"
        )
    return real_path


def _check_fault(fault: Fault) -> None:
    import errno

    from whet.host.kernel.fault_calls import faultable
    from whet.host.kernel.seccomp import why_not

    reason = why_not()
    if reason:
        raise BadUsage(f"`--fail` doesn't work here: {reason}", hint="leave it out")
    if not isinstance(getattr(errno, fault.error, None), int):
        raise BadUsage(
            f"`{fault.error}` of `--fail {fault.words}` isn't an error of this system",
            hint="such as ENOSPC, EIO, EMFILE; `python -c 'import errno; "
            "print(*errno.errorcode.values())'`",
        )
    if fault.call not in faultable():
        from difflib import get_close_matches

        near = get_close_matches(fault.call, faultable(), n=3) or ["openat", "read", "write"]
        raise BadUsage(
            f"`{fault.call}` of `--fail {fault.words}` isn't a system call that whet can make fail",
            hint=f"did you mean {' or '.join(f'`{name}`' for name in near)}? `strace -c` shows a"
            " program's calls",
        )
