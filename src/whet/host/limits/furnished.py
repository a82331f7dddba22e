"""All parts of a trial's sandbox, each prepared after the one before."""

from collections.abc import Iterator

from whet.core.room import Room
from whet.host.limits.enforcer import Prepared
from whet.host.limits.program import Program
from whet.host.process.cleanup_journal import CleanupJournal


def furnished(room: Room, program: Program, cleanup_journal: CleanupJournal) -> Iterator[Prepared]:
    """Yield the parts of a trial's environment other than its limits.

    Raises:
        WhetError: if something can't be had on this machine.
    """
    if room.needs_namespaces:
        from whet.host.limits.sandbox.rooms import prepare_room

        yield prepare_room(room, program)
    if room.clock:
        from whet.host.limits.clock import prepare_clock

        yield prepare_clock(room.clock, program.environment, cleanup_journal)
    if room.faults:
        from whet.host.limits.fault_injector import prepare_faults

        yield prepare_faults(room.faults, program)
    if room.gpus is not None:
        from whet.host.limits.gpu.gpus import visible_gpus

        yield visible_gpus(room.gpus, program.environment)
    if room.gpu_memory_bytes is not None:
        from whet.host.limits.gpu.gpu_caps import cap_memory

        yield cap_memory(room.gpu_memory_bytes, program.environment)
    if room.gpu_free:
        from whet.host.limits.gpu.gpus import hold_memory

        yield hold_memory(room.gpu_free, program.environment, cleanup_journal)
    if room.cpu_load:
        from whet.host.limits.load import keep_busy

        yield keep_busy(room.cpu_load, cleanup_journal)
