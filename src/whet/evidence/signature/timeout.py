"""The signature of a program that didn't end: the part of its stack that stays the same."""

from collections.abc import Sequence

from whet.core.failure import Frame
from whet.evidence.signature.ownership import OwnedFrame, Ownership, own
from whet.evidence.signature.place import Place, is_deep, place_of


def steady_frames(
    stacks: Sequence[Sequence[Frame]], ownership: Ownership
) -> tuple[OwnedFrame, ...]:
    """Return the outermost frames that all samples of a stack share, by file and function.

    A busy loop is caught now in one, now in another of the functions that it calls; the function
    that holds the loop is in every sample.
    """
    sampled = [own([(frame, 1) for frame in stack], ownership) for stack in stacks if stack]
    if not sampled:
        return ()
    common = sampled[-1]
    for frames in sampled:
        length = 0
        for mine, theirs in zip(common, frames, strict=False):
            if mine.place != theirs.place:
                break
            length += 1
        common = common[:length]
    return tuple(common)


def place_of_hang(frames: Sequence[OwnedFrame]) -> Place:
    """Return where a program hangs whose samples share ``frames``."""
    return place_of(frames, is_recursion=is_deep(frames))
