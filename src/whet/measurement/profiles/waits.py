"""A profile of waiting, from the system calls of a trial that took long."""

from whet.core.failure import Frame
from whet.core.observations.profile import COUNT, SECONDS, Profile
from whet.core.observations.system_call import LongCall, SystemCalls
from whet.core.text.quantity import shown_count
from whet.measurement.profiles.stack_table import StackTable


def waits_of(calls: SystemCalls) -> Profile:
    """Return which lines waited in system calls, and for how long."""
    table = StackTable()
    for each in calls.waits:
        frames = (*each.frames, _call(each))
        table.add(each.pid, "", frames, SECONDS, each.seconds)
        table.add(each.pid, "", frames, COUNT, each.count)
    notes = list(calls.notes)
    if not calls.waits:
        notes.append("no system call took long enough to count as waiting")
    processes = (
        shown_count(calls.processes, "process")
        if calls.processes == 1
        else (f"{calls.processes} processes")
    )
    return Profile(
        question="io",
        engine=f"{calls.seen:,} system calls of {processes}",
        unit=SECONDS,
        frames=table.frames,
        stacks=table.stacks,
        notes=tuple(notes),
    )


def _call(call: LongCall) -> Frame:
    name = f"{call.call} {call.target}" if call.target else call.call
    return Frame(path="", line=0, function=name, in_user_code=False)
