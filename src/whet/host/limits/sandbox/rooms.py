"""A trial's sandbox, and its state when the trial has ended."""

import errno
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from whet.core.limits import LimitMet, shown_size
from whet.core.room import Disk, Room
from whet.host.kernel.mounts import points_of
from whet.host.limits.enforcer import End, Order
from whet.host.limits.program import Program
from whet.host.limits.sandbox.room_plan import RoomPlan, plan_of
from whet.host.process.room_reports import new_listener, received

_FULL_SHARE = 0.98


@dataclass(slots=True, kw_only=True)
class PreparedRoom:
    """A planned sandbox; the trial's own process makes it, and it disappears with that process.

    Attributes:
        room: what was asked for.
        plan: what the child does.
        listener: where the child reports.
        way: how it is made, in words.
        notes: what the user should know, once the trial has ended.
    """

    room: Room
    plan: RoomPlan
    listener: socket.socket
    way: str = "namespaces"
    probes: tuple[Order, ...] = ()
    watches: tuple[Order, ...] = ()
    notes: list[str] = field(default_factory=list[str])

    @property
    def steps(self) -> tuple[Order, ...]:
        """What the child does."""
        return (self.plan.order,)

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables that the program gets because of it."""
        return self.plan.environment

    def met(self, _end: End, /) -> tuple[LimitMet, ...]:
        """Return the full disks, and record writes and unmounts."""
        descriptors = self._descriptors()
        try:
            self._look_for_unmounted(descriptors.get("mounts", -1))
            rests = {
                f"upper {self.plan.overlays.index(disk.path)}": disk
                for disk in self.room.disks
                if disk.is_rest
            }
            small = [disk for disk in self.room.disks if not disk.is_rest]
            places = rests | {f"disk {number}": disk for number, disk in enumerate(small)}
            limits = [
                full
                for name, disk in places.items()
                if name in descriptors and (full := _full(disk, descriptors[name])) is not None
            ]
            if self.room.keep_writes:
                from whet.host.limits.sandbox.kept_writes import keep_writes

                upper = descriptors.get(f"upper {self.plan.overlays.index(self.room.project)}", -1)
                self.notes += keep_writes(
                    upper, Path(self.room.keep_writes), Path(self.room.project)
                )
            return tuple(limits)
        finally:
            for descriptor in descriptors.values():
                os.close(descriptor)

    def close(self) -> None:
        """Stop listening; the sandbox itself disappears with its last process."""
        self.listener.close()

    def _descriptors(self) -> dict[str, int]:
        descriptors: dict[str, int] = {}
        self.listener.settimeout(0)
        with suppress(OSError):  # it never came so far
            connection, _ = self.listener.accept()
            with connection, suppress(OSError):
                while (report := received(connection)) is not None:
                    descriptors[report[0].decode()] = report[1]
        return descriptors

    def _look_for_unmounted(self, mounts: int) -> None:
        if mounts < 0:
            return
        with open(os.dup(mounts), "rb", buffering=0) as file:
            text = file.readall()
        rest = {os.fsdecode(point) for point in points_of(text)}
        for path in (
            *(disk.path for disk in self.room.disks),
            *self.room.read_only,
            *self.plan.overlays,
        ):
            if path not in rest:
                self.notes.append(f"the program unmounted `{path}`, which ended that limit")


def prepare_room(room: Room, program: Program) -> PreparedRoom:
    """Return the plan of a sandbox for one trial.

    Raises:
        OSError: if the system gives no socket.
    """
    listener = new_listener()
    plan = plan_of(room, program, listener.getsockname()[1:])
    prepared = PreparedRoom(room=room, plan=plan, listener=listener)
    if program.limits.memory_bytes is not None and room.disk_bytes:
        prepared.notes.append(
            f"files on a small disk are in memory, so `--memory` is {shown_size(room.disk_bytes)} more"
        )
    return prepared


def _full(disk: Disk, descriptor: int) -> LimitMet | None:
    """Return the limit of a disk that holds as much as it can; None: it has space left."""
    try:
        state = os.fstatvfs(descriptor)
    except OSError as error:
        if error.errno in {errno.ENOSYS, errno.EIO}:
            return None
        raise
    if disk.size_bytes is not None:
        usage = (state.f_blocks - state.f_bfree) * state.f_frsize
        if usage >= _FULL_SHARE * disk.size_bytes:
            return LimitMet(name=disk.option, limit=disk.size_bytes, reached=usage, process="")
    if disk.inodes is not None and state.f_ffree == 0:
        return LimitMet(name="inodes", limit=disk.inodes, reached=disk.inodes)
    return None
