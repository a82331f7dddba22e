"""Memory, processes, processors and disks of a whole process tree, with control groups of version 1.

whet creates a group below its own, so the trial can't escape limits on whet, and whets can nest.
When memory runs out, the kernel pauses the program instead of killing a process of its choice
(`memory.oom_control`). whet sees which process was largest, records its stack, and ends the whole
trial. See Documentation/admin-guide/cgroup-v1/memory.rst of the kernel.
"""

import os
from collections.abc import Collection
from contextlib import suppress
from dataclasses import field

from whet.core.limits import LimitMet, Limits, shown_size
from whet.core.value_class import value_class
from whet.host.kernel.control_groups import (
    new_group,
    own_group,
    remove_group,
    write_words,
)
from whet.host.limits import disk_speed
from whet.host.limits.enforcer import End, Order, Plain
from whet.host.limits.groups.group_limits import met_in_groups
from whet.host.limits.processors import bind_step
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.spawner.probes import SLOW_PROBE_BYTES

_CONTROLLERS = {
    "memory": "memory",
    "swap": "memory",
    "processes": "pids",
    "cpus": "cpu",
    "slow-disk": "blkio",
}
_PERIOD_MICROSECONDS = 100_000  # the kernel's own choice


@value_class
class GroupsV1:
    """Makes one group for each controller that is needed."""

    way: str = "cgroup v1"

    def blocker(self, name: str, limits: Limits, /) -> str:
        """Return what is missing for a limit."""
        if name == "memory-high":
            return "version 1 has no limit that slows a program down; version 2 has"
        if name == "swap" and limits.memory_bytes is None:
            return "`--swap` needs `--memory`"
        controller = _CONTROLLERS[name]
        folder = own_group(controller)
        if folder is None:
            return f"the controller `{controller}` isn't mounted"
        if not os.access(folder, os.W_OK):
            return f"you can't write to `{folder}`, or it's mounted read-only"
        if name == "swap" and not os.path.exists(f"{folder}/{_BOTH}"):
            return "the kernel doesn't count swap (`swapaccount=1`)"
        return disk_speed.blocker(folder, 1) if name == "slow-disk" else ""

    def prepare(
        self, names: Collection[str], limits: Limits, cleanup_journal: CleanupJournal, /
    ) -> "_Prepared":
        """Make the groups and set their limits."""
        folders: dict[str, str] = {}
        for controller in sorted({_CONTROLLERS[name] for name in names}):
            parent = own_group(controller)
            if parent is None:
                raise FileNotFoundError(f"no group of the controller `{controller}`")
            folders[controller] = new_group(parent)
        prepared = _prepared(folders, limits, cleanup_journal)
        try:
            for folder in folders.values():
                cleanup_journal.adopt("group", folder)
                os.mkdir(folder)
            _set(folders, limits)
        except OSError:
            prepared.close()
            raise
        return prepared


_BOTH = "memory.memsw.limit_in_bytes"  # memory and swap together


def _prepared(
    folders: dict[str, str], limits: Limits, cleanup_journal: CleanupJournal
) -> "_Prepared":
    probes: list[Order] = []
    watches: list[Order] = []
    notes: list[str] = []
    steps: list[Order] = [("join", f"{folder}/cgroup.procs") for folder in folders.values()]
    if "memory" in folders:
        most = limits.memory_bytes or 0
        probes.append(("memory v1", folders["memory"], most, most + (limits.swap_bytes or 0)))
        watches.append(("memory v1", folders["memory"], int(limits.spares_command)))
        notes.append(f"memory {shown_size(most)}")
    if "pids" in folders:
        probes.append(("processes", folders["pids"], limits.processes or 0))
        watches.append(("processes", folders["pids"]))
        notes.append(f"processes {limits.processes}")
    if "cpu" in folders:
        probes.append(("cpus v1", folders["cpu"], _quota(limits)))
        steps.append(bind_step(limits.cpus or 1))
        notes.append(f"processors {limits.cpus:g}")
    if "blkio" in folders:
        speed = limits.slow_disk_bytes or 0
        lines = disk_speed.v1_limits
        probes.append(
            ("disks", folders["blkio"], tuple(lines(SLOW_PROBE_BYTES)), tuple(lines(speed)))
        )
        notes.append(f"disks {shown_size(speed)} a second")
    watches += [("members", folder) for folder in folders.values()]
    return _Prepared(
        way=f"{', '.join(notes)} by cgroup v1",
        steps=tuple(steps),
        probes=tuple(probes),
        watches=tuple(watches),
        limits=limits,
        folders=folders,
        cleanup_journal=cleanup_journal,
    )


def _set(folders: dict[str, str], limits: Limits) -> None:
    if "memory" in folders:
        folder, most = folders["memory"], limits.memory_bytes or 0
        write_words(f"{folder}/memory.limit_in_bytes", most)
        if os.path.exists(f"{folder}/{_BOTH}"):
            write_words(f"{folder}/{_BOTH}", most + (limits.swap_bytes or 0))
    if "pids" in folders:
        write_words(f"{folders['pids']}/pids.max", limits.processes)
    if "cpu" in folders:
        write_words(f"{folders['cpu']}/cpu.cfs_period_us", _PERIOD_MICROSECONDS)
        write_words(f"{folders['cpu']}/cpu.cfs_quota_us", _quota(limits))
    if "blkio" in folders:
        for name, words in disk_speed.v1_limits(limits.slow_disk_bytes or 0):
            write_words(f"{folders['blkio']}/{name}", words)


def _quota(limits: Limits) -> int:
    return max(1000, int((limits.cpus or 1) * _PERIOD_MICROSECONDS))  # the kernel takes no less


@value_class(kw_only=True)
class _Prepared(Plain):
    """Groups of one trial, each by its controller."""

    limits: Limits
    folders: dict[str, str]
    cleanup_journal: CleanupJournal
    notes: list[str] = field(default_factory=list[str])

    def met(self, end: End, /) -> tuple[LimitMet, ...]:
        """Return what the watches have seen."""
        if "blkio" in self.folders:
            self.notes.append(disk_speed.traffic_words(self.folders["blkio"], 1))
        return met_in_groups(end, self.limits)

    def close(self) -> None:
        """Remove the groups; what is still in them is killed."""
        for folder in self.folders.values():
            with suppress(OSError):  # it stays written down, and the next whet removes it
                remove_group(folder)
                self.cleanup_journal.forget(folder)
