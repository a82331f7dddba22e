"""A room around a trial: what it sees of the disk, and what has become of it afterwards."""

import errno
import os
import shutil
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from whet.core.limits import LimitMet
from whet.core.room import Disk, Room
from whet.host.ceilings.ceiling import End, Order
from whet.host.mounts import points_of
from whet.host.room_reports import received
from whet.host.spawner_process import Program
from whet.host.workplace import AGENT_VARIABLE, PYCACHE_VARIABLE

_OWN_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a mount of that name, not a file in it
_FOR_A_WHILE = ("/tmp", "/var/tmp")  # noqa: S108 - these folders themselves
_NAME_BYTES = 16
_FULL_SHARE = 0.98
_SOURCES = str(Path(__file__).resolve().parents[3])


@dataclass(slots=True, kw_only=True)
class PreparedRoom:
    """A room that is planned; the trial's own process makes it, and takes it along when it ends.

    Attributes:
        room: what was asked for.
        steps: what the child does.
        environment: variables that the program gets because of it.
        way: how it is made, in words.
        listener: where the child reports.
        disks: the small file systems, as the child numbers them.
        overlays: the folders that are seen through.
        notes: what the user should know, once the trial has ended.
    """

    room: Room
    steps: tuple[Order, ...]
    environment: Mapping[str, str]
    listener: socket.socket
    disks: tuple[Disk, ...]
    overlays: tuple[str, ...]
    way: str = "namespaces"
    probes: tuple[Order, ...] = ()
    watches: tuple[Order, ...] = ()
    notes: list[str] = field(default_factory=list[str])

    def met(self, end: End) -> tuple[LimitMet, ...]:  # noqa: ARG002 - asks the file systems
        """Return the disks that are full, and note what was written and what was unmounted."""
        descriptors = self._descriptors()
        try:
            self._look_for_unmounted(descriptors.get("mounts", -1))
            rests = {f"upper {self.overlays.index(disk.path)}": disk for disk in self.disks if disk.is_rest}
            small = [disk for disk in self.disks if not disk.is_rest]
            places = rests | {f"disk {number}": disk for number, disk in enumerate(small)}
            found = [
                full
                for name, disk in places.items()
                if name in descriptors and (full := _full(disk, descriptors[name])) is not None
            ]
            if self.room.keep_writes:
                from whet.host.kept_writes import keep_writes

                upper = descriptors.get(f"upper {self.overlays.index(self.room.project)}", -1)
                self.notes += keep_writes(upper, Path(self.room.keep_writes), Path(self.room.project))
            return tuple(found)
        finally:
            for descriptor in descriptors.values():
                os.close(descriptor)

    def close(self) -> None:
        """Stop listening; the room itself goes with its last process."""
        self.listener.close()

    def _descriptors(self) -> dict[str, int]:
        found: dict[str, int] = {}
        self.listener.setblocking(False)
        with suppress(OSError):  # it never came so far
            connection, _ = self.listener.accept()
            with connection, suppress(OSError):
                while (report := received(connection)) is not None:
                    found[report[0].decode()] = report[1]
        return found

    def _look_for_unmounted(self, mounts: int) -> None:
        if mounts < 0:
            return
        with open(os.dup(mounts), "rb", buffering=0) as file:
            text = file.readall()
        left = {os.fsdecode(point) for point in points_of(text)}
        for path in (*(disk.path for disk in self.disks), *self.room.read_only, *self.overlays):
            if path not in left:
                self.notes.append(
                    f"the program has unmounted `{path}`: from then on its limit did not hold"
                )


def prepare_room(room: Room, program: Program) -> PreparedRoom:
    """Return the plan of a room for one trial.

    Args:
        room: what was asked for, with absolute paths.
        program: what runs in it.

    Raises:
        OSError: if the system gives no socket.
    """
    name = os.urandom(_NAME_BYTES).hex().encode()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(b"\0" + name)
    listener.listen(1)
    temporary = temporary_folder(program.environment)
    rests = {disk.path: disk for disk in room.disks if disk.is_rest}
    small = [disk for disk in room.disks if not disk.is_rest]
    spaces = [(disk.path, disk.size_bytes or 0, disk.inodes or 0) for disk in small]
    if room.is_clean and Path(_OWN_SHARED_MEMORY).is_dir():
        spaces.append((_OWN_SHARED_MEMORY, 0, 0))
    clean = _seen_through(room, program.cwd, temporary) if room.is_clean else ()
    overlays = tuple(sorted({*clean, *rests}, key=lambda path: (len(path), path)))
    own = [program.environment.get(each, "") for each in (AGENT_VARIABLE, PYCACHE_VARIABLE)]
    real = [os.path.dirname(own[0]) if own[0] else "", own[1]]
    plan = (
        name,
        room.network,
        room.is_clean,
        tuple(
            (os.fsencode(path), _size_of(rests.get(path)), _inodes_of(rests.get(path)))
            for path in overlays
        ),
        tuple((os.fsencode(path), size, inodes) for path, size, inodes in spaces),
        tuple(os.fsencode(path) for path in room.read_only),
        tuple(os.fsencode(path) for path in real if path),
        tuple(os.fsencode(path) for path in _stays_visible(room, program)),
    )
    gets_temporary = any(disk.path == temporary for disk in room.disks)
    return PreparedRoom(
        room=room,
        steps=(("room", *plan),),
        environment={"TMPDIR": temporary} if gets_temporary else {},
        listener=listener,
        disks=room.disks,
        overlays=overlays,
    )


def temporary_folder(environment: Mapping[str, str]) -> str:
    """Return where a program with this environment puts its temporary files."""
    return os.path.realpath(environment.get("TMPDIR") or _FOR_A_WHILE[0])


def _size_of(disk: Disk | None) -> int:
    return (disk.size_bytes or 0) if disk is not None else 0


def _inodes_of(disk: Disk | None) -> int:
    return (disk.inodes or 0) if disk is not None else 0


def _seen_through(room: Room, cwd: str, temporary: str) -> set[str]:
    """Return the folders to which nothing is written that stays."""
    paths = {room.project, temporary, *filter(os.path.isdir, _FOR_A_WHILE)}
    real = os.path.realpath(cwd)
    if not any(real == path or _is_below(real, path) for path in paths):
        paths.add(real)
    return {path for path in paths if path}


def _stays_visible(room: Room, program: Program) -> list[str]:
    """Return what lies below a small disk that the program cannot do without."""
    disks = [disk.path for disk in room.disks if not disk.is_rest]
    if not disks:
        return []
    found = shutil.which(program.command[0], path=program.environment.get("PATH"))
    words = [os.path.join(program.cwd, word) for word in program.command]
    paths = [room.project, program.cwd, _SOURCES, *filter(os.path.exists, words)]
    if found is not None:  # a virtual environment, for one
        paths.append(os.path.dirname(os.path.dirname(os.path.abspath(found))))
    paths += program.environment.get("PYTHONPATH", "").split(os.pathsep)
    below = {os.path.realpath(path) for path in paths if path}
    below = {path for path in below if any(_is_below(path, disk) for disk in disks)}
    return sorted(path for path in below if not any(_is_below(path, other) for other in below))


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _full(disk: Disk, descriptor: int) -> LimitMet | None:
    """Return the limit of a disk that holds as much as it can; None: it has space left."""
    try:
        state = os.fstatvfs(descriptor)
    except OSError as error:
        if error.errno in {errno.ENOSYS, errno.EIO}:
            return None
        raise
    if disk.size_bytes is not None:
        used = (state.f_blocks - state.f_bfree) * state.f_frsize
        if used >= _FULL_SHARE * disk.size_bytes:
            return LimitMet(
                name=disk.option, limit=disk.size_bytes, reached=used, process=""
            )
    if disk.inodes is not None and state.f_ffree == 0:
        return LimitMet(name="inodes", limit=disk.inodes, reached=disk.inodes)
    return None
