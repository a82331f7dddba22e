"""Reads what memray found: the blocks that each process held at its peak."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import dropwhile

from whet.core.failure import Frame
from whet.core.observations.profile import BYTES, COUNT, Profile, ProfiledProcess, Recording
from whet.core.text.record import (
    as_record,
    boolean,
    decoded,
    integer,
    items_of,
    number,
    row,
    rows,
    sequence,
)
from whet.measurement.profiles.stack_table import StackTable

PEAK = "peak_bytes"
"""Name of the fact that tells how much the allocators held at the peak, all processes together."""

RESERVED, OUTSIDE, ASKED = "reserved_bytes", "outside_bytes", "asked_bytes"
"""Facts of the memory of GPUs: what torch had from the driver at the peak; what was taken
outside its allocator, at the end; the size that was refused, if memory ran out."""

_MOST_STACKS = 5000
_INTERPRETER = Frame(path="", line=0, function="the interpreter", in_user_code=False)
_LEFT_OUT = Frame(path="", line=0, function="smaller blocks", in_user_code=False)


def read_blocks(recording: Recording, is_own: Callable[[str], bool]) -> Profile:
    """Return the profile of the memory that was held at the peak.

    Args:
        recording: what was found in each process, as JSON.
        is_own: whether a file is the user's own.
    """
    table = StackTable()
    peak = 0.0
    processes: list[ProfiledProcess] = []
    for each in items_of(decoded(recording.running)):
        told = as_record(each, "process")
        pid = integer(told, "pid")
        processes.append(ProfiledProcess(pid=pid))
        peak += number(told, "peak")
        blocks = sorted(
            _blocks(sequence(told, "blocks"), is_own), key=lambda block: block[0], reverse=True
        )
        for place, (size, count, frames) in enumerate(blocks):
            stack = frames if place < _MOST_STACKS else (_LEFT_OUT,)
            table.add(pid, "", stack, BYTES, size)
            table.add(pid, "", stack, COUNT, count)
    return Profile(
        question="memory",
        engine=recording.engine,
        unit=BYTES,
        frames=table.frames,
        stacks=table.stacks,
        processes=tuple(processes),
        facts={PEAK: peak},
        notes=(recording.complaint,) if recording.complaint else (),
    )


def read_allocations(recording: Recording, is_own: Callable[[str], bool]) -> Profile:
    """Return the profile of the memory of GPUs that torch held at the peak.

    Args:
        recording: what the allocator of each GPU held in each process, as JSON.
        is_own: whether a file is the user's own.
    """
    gpus = [as_record(each, "gpu") for each in items_of(decoded(recording.running))]
    profile = read_blocks(recording, is_own)
    outside = sum(integer(each, "used") - integer(each, "reserved_at_end") for each in gpus)
    facts = {
        **profile.facts,
        RESERVED: sum(integer(each, "reserved") for each in gpus),
        OUTSIDE: max(0, outside),
        ASKED: max((integer(each, "asked") for each in gpus), default=0),
    }
    cut = "the history was too long: blocks from its beginning have no line"
    notes = [*profile.notes, *([cut] if any(boolean(each, "is_cut") for each in gpus) else [])]
    return replace(profile, question="gpu_memory", facts=facts, notes=tuple(notes))


def _blocks(
    blocks: object, is_own: Callable[[str], bool]
) -> Iterator[tuple[float, float, tuple[Frame, ...]]]:
    for size, count, stack in rows(blocks, 3):
        frames = [_frame(frame, is_own) for frame in items_of(stack)]
        own = tuple(dropwhile(_is_around, frames))
        yield (
            number({"size": size}, "size"),
            number({"count": count}, "count"),
            own or (_INTERPRETER,),
        )


def _frame(frame: object, is_own: Callable[[str], bool]) -> Frame:
    function, path, line = row(frame, 3)
    where = path if isinstance(path, str) else ""
    return Frame(
        path=where,
        line=line if isinstance(line, int) else 0,
        function=function if isinstance(function, str) and function else "…",
        in_user_code=bool(where) and is_own(where),
    )


def _is_around(frame: Frame) -> bool:
    """Whether a frame is around the program: of memray, or of what runs a script."""
    path = frame.path.replace("\\", "/")
    return (
        "/memray/" in path
        or "/whet/agent/" in path
        or path.endswith(("/runpy.py", "<frozen runpy>"))
    )
