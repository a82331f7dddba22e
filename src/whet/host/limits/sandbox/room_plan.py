"""The plan of a sandbox: which folders of the machine a trial sees changed, and which unchanged."""

import marshal
import os
from collections.abc import Mapping
from pathlib import Path

from whet.core.room import Disk, Room
from whet.core.value_class import value_class
from whet.host.limits.enforcer import Order
from whet.host.limits.program import AGENT_VARIABLE, PYCACHE_VARIABLE, Program
from whet.host.process.messages import Plan

_SHARED_MEMORY = os.path.join(os.sep, "dev", "shm")
_FOR_A_WHILE = (os.path.join(os.sep, "tmp"), os.path.join(os.sep, "var", "tmp"))
_SOURCES = str(Path(__file__).resolve().parents[4])


@value_class(kw_only=True)
class RoomPlan:
    """What the trial's own process makes (`whet.host.spawner.room_entry`).

    Attributes:
        order: for that process.
        overlays: folders that are seen through, as it numbers them.
        environment: variables that the program gets because of it.
    """

    order: Order
    overlays: tuple[str, ...]
    environment: Mapping[str, str]


def plan_of(room: Room, program: Program, name: bytes) -> RoomPlan:
    """Return the plan of a sandbox for one trial.

    Args:
        room: the request, with absolute paths.
        program: what runs in it.
        name: of the socket to which the trial's process reports.
    """
    temporary = temporary_folder(program.environment)
    rests = {disk.path: disk for disk in room.disks if disk.is_rest}
    small = [disk for disk in room.disks if not disk.is_rest]
    spaces = [(disk.path, disk.size_bytes or 0, disk.inodes or 0) for disk in small]
    # libfaketime leaves files there when a program is killed.
    if (room.is_clean or room.clock) and os.path.isdir(_SHARED_MEMORY):
        spaces.append((_SHARED_MEMORY, 0, 0))
    clean = _seen_through(room, program.cwd, temporary) if room.is_clean else ()
    overlays = tuple(sorted({*clean, *rests}, key=lambda path: (len(path), path)))
    own = [program.environment.get(each, "") for each in (AGENT_VARIABLE, PYCACHE_VARIABLE)]
    real = [os.path.dirname(own[0]) if own[0] else "", own[1]]
    plan = Plan(
        reporter=name,
        network=room.network,
        has_own_pids=room.is_clean,
        overlays=tuple(
            (os.fsencode(path), _size_of(rests.get(path)), _inodes_of(rests.get(path)))
            for path in overlays
        ),
        disks=tuple((os.fsencode(path), size, inodes) for path, size, inodes in spaces),
        read_only=tuple(os.fsencode(path) for path in room.read_only),
        hidden=tuple(os.fsencode(path) for path in room.hidden),
        real=tuple(os.fsencode(path) for path in real if path),
        shown=tuple(os.fsencode(path) for path in _stays_visible(room, program)),
    )
    gets_temporary = any(disk.path == temporary for disk in room.disks)
    return RoomPlan(
        order=("room", marshal.dumps(tuple(plan))),
        overlays=overlays,
        environment={"TMPDIR": temporary} if gets_temporary else {},
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
    return paths - {"", "/"}  # over the root nothing can be shown that a process would see


def _stays_visible(room: Room, program: Program) -> list[str]:
    """Return what is below a small disk that the program can't do without."""
    disks = [disk.path for disk in room.disks if not disk.is_rest]
    if not disks:
        return []
    name = program.command[0]
    places = [os.path.join(folder, name) for folder in os.get_exec_path(program.environment)]
    entrance = next((place for place in places if os.access(place, os.X_OK)), None)
    words = [os.path.join(program.cwd, word) for word in program.command]
    paths = [room.project, program.cwd, _SOURCES, *filter(os.path.exists, words)]
    if entrance is not None:  # a virtual environment, for one
        paths.append(os.path.dirname(os.path.dirname(os.path.abspath(entrance))))
    paths += program.environment.get("PYTHONPATH", "").split(os.pathsep)
    below = {os.path.realpath(path) for path in paths if path}
    below = {path for path in below if any(_is_below(path, disk) for disk in disks)}
    return sorted(path for path in below if not any(_is_below(path, other) for other in below))


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")
