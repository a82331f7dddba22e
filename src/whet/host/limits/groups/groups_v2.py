"""Memory, processes, processors and disks of a whole process tree, with one control group of version 2.

whet creates the group next to its own, because a group of version 2 with processes in it can't have
limited groups below it. So that a trial can't escape a limit on whet, whet does this only if its own
group has no memory limit. It copies a limit on processes, which systemd sets for every service and
scope, to the trial's group. The program is in a group below the trial's, so a whet inside the
trial can create groups under the same limits.

See Documentation/admin-guide/cgroup-v2.rst of the kernel.
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
    read_number,
    read_words,
    remove_group,
    write_words,
)
from whet.host.limits import disk_speed
from whet.host.limits.enforcer import End, Order, Plain
from whet.host.limits.groups.group_limits import met_in_groups
from whet.host.limits.groups.user_scope import (
    home_group,
    is_home_given,
    is_in_scope,
    scope_blocker,
)
from whet.host.limits.processors import bind_step
from whet.host.process.cleanup_journal import CleanupJournal
from whet.host.spawner.probes import SLOW_PROBE_BYTES
from whet.host.spawner.watches import PROGRAM

_CONTROLLERS = {
    "memory": "memory",
    "memory-high": "memory",
    "swap": "memory",
    "processes": "pids",
    "cpus": "cpu",
    "slow-disk": "io",
}
_PERIOD_MICROSECONDS = 100_000  # the kernel's own choice


@value_class
class GroupsV2:
    """Makes one group for all limits of a trial."""

    way: str = "cgroup v2"

    def blocker(self, name: str, limits: Limits, /) -> str:
        """Return what is missing for a limit."""
        if name == "swap" and limits.memory_bytes is None:
            return "`--swap` needs `--memory`"
        controller = _CONTROLLERS[name]
        own = home_group()
        if own is None:
            return "it isn't mounted"
        if controller not in read_words(f"{own}/cgroup.controllers").split():
            return f"it has no controller `{controller}`"
        parent = os.path.dirname(own)
        if controller not in read_words(f"{parent}/cgroup.subtree_control").split():
            return f"`{parent}` doesn't get the controller `{controller}` (delegation)"
        if not os.access(f"{parent}/cgroup.procs", os.W_OK):
            lacking = scope_blocker() or "the system refused it"
            return f"you can't write to `{parent}` (`systemd-run --user --scope`: {lacking})"
        limited = [
            each
            for each in ("memory.max", "memory.high")
            if read_words(f"{own}/{each}").strip() not in {"", "max"}
        ]
        around = read_number(f"{own}/pids.max")
        if name == "processes" and around is not None and around < (limits.processes or 0):
            return f"`{own}` itself has only {around}"
        if limited:
            return f"`{own}` already has a limit (`{limited[0]}`), which the trial would escape"
        return disk_speed.blocker(own, 2) if name == "slow-disk" else ""

    def prepare(
        self, names: Collection[str], limits: Limits, cleanup_journal: CleanupJournal, /
    ) -> "_Prepared":
        """Make the group, the one below it for the program, and set the limits."""
        own = home_group()
        if own is None:
            raise FileNotFoundError("no group of version 2")
        folder = new_group(os.path.dirname(own))
        prepared = _prepared(folder, frozenset(names), limits, cleanup_journal)
        try:
            cleanup_journal.adopt("group", folder)
            os.mkdir(folder)
            _pass_on_processes(own, folder)
            _set(folder, frozenset(names), limits)
            controllers = sorted({f"+{_CONTROLLERS[name]}" for name in names})
            write_words(f"{folder}/cgroup.subtree_control", " ".join(controllers))
            os.mkdir(f"{folder}/{PROGRAM}")
        except OSError:
            prepared.close()
            raise
        return prepared

    def is_worth_a_scope(self, names: Collection[str], spawner: int) -> bool:
        """Whether all that is in the way of some limits is that this user may make no groups.

        Their own systemd may then give them a part of the tree (`whet.host.limits.groups.user_scope`).
        """
        own = own_group("")
        if own is None or is_in_scope(spawner) or scope_blocker():
            return False
        there = set(read_words(f"{own}/cgroup.controllers").split())
        there |= set(read_words("/sys/fs/cgroup/cgroup.controllers").split())
        may = os.access(f"{os.path.dirname(own)}/cgroup.procs", os.W_OK)
        return not may and there.issuperset(_CONTROLLERS[name] for name in names)


def _prepared(
    folder: str, names: frozenset[str], limits: Limits, cleanup_journal: CleanupJournal
) -> "_Prepared":
    probes: list[Order] = []
    watches: list[Order] = []
    notes: list[str] = []
    steps: list[Order] = [("join", f"{folder}/{PROGRAM}/cgroup.procs")]
    if limits.memory_bytes is not None and "memory" in names:
        probes.append(("memory v2", folder, limits.memory_bytes, _high(limits)))
        watches.append(("memory v2", folder, limits.memory_bytes, int(limits.spares_command)))
        notes.append(f"memory {shown_size(limits.memory_bytes)}")
    if limits.memory_high_bytes is not None and "memory-high" in names:
        notes.append(f"memory slowed from {shown_size(limits.memory_high_bytes)} on")
    if limits.processes is not None and "processes" in names:
        probes.append(("processes", folder, limits.processes))
        watches.append(("processes", folder))
        notes.append(f"processes {limits.processes}")
    if limits.cpus is not None and "cpus" in names:
        probes.append(("cpus v2", folder, _quota(limits.cpus)))
        steps.append(bind_step(limits.cpus))
        notes.append(f"processors {limits.cpus:g}")
    if limits.slow_disk_bytes is not None and "slow-disk" in names:
        lines = disk_speed.v2_limits
        speed = limits.slow_disk_bytes
        probes.append(("disks", folder, tuple(lines(SLOW_PROBE_BYTES)), tuple(lines(speed))))
        notes.append(f"disks {shown_size(speed)} a second")
    watches.append(("members", f"{folder}/{PROGRAM}", os.path.basename(folder)))
    return _Prepared(
        way=f"{', '.join(notes)} by cgroup v2{' (systemd scope)' if is_home_given() else ''}",
        steps=tuple(steps),
        probes=tuple(probes),
        watches=tuple(watches),
        limits=limits,
        folder=folder,
        cleanup_journal=cleanup_journal,
        is_slow="slow-disk" in names,
    )


def _pass_on_processes(own: str, folder: str) -> None:
    most = read_words(f"{own}/pids.max").strip()
    if most not in {"", "max"}:
        write_words(f"{folder}/pids.max", most)


def _set(folder: str, names: frozenset[str], limits: Limits) -> None:
    if limits.memory_bytes is not None and "memory" in names:
        write_words(f"{folder}/memory.max", limits.memory_bytes)
        if os.path.exists(f"{folder}/memory.swap.max"):  # not where swap isn't counted
            write_words(f"{folder}/memory.swap.max", limits.swap_bytes or 0)
        if not limits.spares_command:
            write_words(f"{folder}/memory.oom.group", 1)  # all of the trial, not its largest alone
    if limits.memory_high_bytes is not None and "memory-high" in names:
        write_words(f"{folder}/memory.high", limits.memory_high_bytes)
    if limits.processes is not None and "processes" in names:
        write_words(f"{folder}/pids.max", limits.processes)
    if limits.cpus is not None and "cpus" in names:
        write_words(f"{folder}/cpu.max", _quota(limits.cpus))
    if limits.slow_disk_bytes is not None and "slow-disk" in names:
        for name, words in disk_speed.v2_limits(limits.slow_disk_bytes):
            write_words(f"{folder}/{name}", words)


def _high(limits: Limits) -> str:
    return "max" if limits.memory_high_bytes is None else str(limits.memory_high_bytes)


def _quota(cpus: float) -> str:
    return f"{max(1000, int(cpus * _PERIOD_MICROSECONDS))} {_PERIOD_MICROSECONDS}"


@value_class(kw_only=True)
class _Prepared(Plain):
    """The group of one trial."""

    limits: Limits
    folder: str
    cleanup_journal: CleanupJournal
    is_slow: bool
    notes: list[str] = field(default_factory=list[str])

    def met(self, end: End, /) -> tuple[LimitMet, ...]:
        """Return what the watches have seen."""
        if self.is_slow:
            self.notes.append(disk_speed.traffic_words(self.folder, 2))
        return met_in_groups(end, self.limits)

    def close(self) -> None:
        """Remove the group; what is still in it is killed."""
        with suppress(OSError):  # it stays written down, and the next whet removes it
            remove_group(self.folder)
            self.cleanup_journal.forget(self.folder)
