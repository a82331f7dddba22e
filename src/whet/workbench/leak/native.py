"""Which line allocates native memory that piles up, from one more run with a memory profiler."""

from collections.abc import Mapping

from whet.core.failure import Frame
from whet.core.observations.profile import BYTES, COUNT, Profile
from whet.core.value_class import value_class
from whet.measurement.profiles.line_table import innermost_own

_MUCH = 0.5
"""A line is named if so much of the growth is still held there at the peak, in as many blocks as rounds."""


@value_class(kw_only=True)
class NativeBlocks:
    """What one line has allocated and what is still held at the peak.

    Attributes:
        place: the line, the user's own if one leads there.
        calls: the function in which most of it is allocated; empty: the line's own.
        held: bytes.
        count: in how many blocks.
    """

    place: Frame
    calls: str
    held: int
    count: int


def growing_blocks(profile: Profile, growth: float, rounds: int) -> NativeBlocks | None:
    """Return the line whose blocks explain what piles up; None: no single line does.

    Args:
        profile: of the memory at the peak of a run.
        growth: the bytes that the rounds of such a run add.
        rounds: how many there are.
    """
    sizes: dict[Frame, float] = {}
    counts: dict[Frame, float] = {}
    called: dict[Frame, dict[str, float]] = {}
    for stack in profile.stacks:
        frames = profile.lines_of(stack)
        place = innermost_own(frames)
        if place is None:
            continue
        sizes[place] = sizes.get(place, 0.0) + stack.number(BYTES)
        counts[place] = counts.get(place, 0.0) + stack.number(COUNT)
        by_name = called.setdefault(place, {})
        name = frames[-1].function if frames[-1] != place else ""
        by_name[name] = by_name.get(name, 0.0) + stack.number(BYTES)
    many = [
        each
        for each in sizes
        if sizes[each] >= _MUCH * growth and counts[each] >= _MUCH * rounds and growth > 0
    ]
    if not many:
        return None
    place = max(many, key=lambda each: sizes[each])
    return NativeBlocks(
        place=place,
        calls=_most(called[place]),
        held=round(sizes[place]),
        count=round(counts[place]),
    )


def _most(by_name: Mapping[str, float]) -> str:
    return max(by_name, key=lambda each: by_name[each])
