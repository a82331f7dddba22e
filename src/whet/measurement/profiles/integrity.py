"""A profiler's file can be cut off or damaged: then there is no profile, and the note says what is wrong."""

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from whet.core.observations.profile import Obstacle, Profile, Recording
from whet.core.text.record import MalformedRecordError

_MOST = 2.0**60
"""No number of bytes, nanoseconds or calls is larger: the formats of other viewers hold it."""

_LEAST_RATE = 1e-3
_NANOSECONDS = 1e9


def read_checked(
    read: Callable[[Recording], Profile], recording: Recording, question: str
) -> Profile:
    """Return the profile of a recording; of a damaged one, an empty profile whose note says so.

    Args:
        read: reads it.
        recording: what the profiler wrote.
        question: ``cpu``, ``memory`` or ``gpu``.
    """
    try:
        profile = checked(read(recording))
        return (
            profile
            if profile.stacks
            else replace(profile, obstacle=recording.obstacle or profile.obstacle)
        )
    except MalformedRecordError as error:
        note = f"the file that {recording.engine} wrote is damaged: {error}"
        return Profile(
            question=question,
            engine=recording.engine,
            unit="",
            rate=recording.rate,
            notes=tuple(each for each in (note, recording.complaint) if each),
            obstacle=recording.obstacle or Obstacle.DAMAGED,
        )


def checked(profile: Profile) -> Profile:
    """Return the profile.

    Raises:
        MalformedRecordError: if a stack names a line that isn't there, or a number is impossible.
    """
    count = len(profile.frames)
    for stack in profile.stacks:
        for place in stack.frames:
            if not 0 <= place < count:
                raise MalformedRecordError(f"a stack names line {place} of {count}")
    for name, number, most in _numbers(profile):
        if not 0 <= number <= most:  # a NaN isn't
            raise MalformedRecordError(f"`{name}` is {number}")
    if 0 < profile.rate < _LEAST_RATE:
        raise MalformedRecordError(f"`rate` is {profile.rate}")
    for span in profile.timeline.spans:
        if not math.isfinite(span.start + (span.seconds or 0.0)):
            raise MalformedRecordError(f"`{span.name[:40]}` has no time: {span.start}")
    return profile


def _numbers(profile: Profile) -> Iterator[tuple[str, float, float]]:
    """Yield the numbers of a profile, with their names and the most that each can be."""
    seconds = _MOST / _NANOSECONDS
    yield "seconds", profile.seconds, seconds
    yield "rate", profile.rate, seconds
    for frame in profile.frames:
        yield "line", frame.line, _MOST
    for name, number in profile.facts.items():
        yield name, number, seconds if "seconds" in name else _MOST
    for stack in profile.stacks:
        yield "pid", stack.pid, seconds
        for name, number in stack.numbers.items():
            yield name, number, seconds if "seconds" in name else _MOST
