"""Where a stack failed: the innermost function of the user's own code and of a library."""

from collections import Counter
from collections.abc import Sequence

from whet.core.value_class import value_class
from whet.evidence.signature.ownership import OwnedFrame, Owner

_NEARLY_ALWAYS = 0.8
_CYCLE_FUNCTIONS = 6
_DEEP = 40
_CYCLE_TIMES = 3  # fewer repetitions aren't a cycle
"""A function that is in one stack this often calls itself."""


@value_class
class Place:
    """Where a stack failed.

    Attributes:
        user_function: innermost function of the user's own code, ``file.py:function``.
        library_function: innermost library function that it called, or, without code of the
            user's, of all.
    """

    user_function: str = ""
    library_function: str = ""


def place_of(frames: Sequence[OwnedFrame], *, is_recursion: bool = False) -> Place:
    """Return where the stack failed; ``frames`` stand outermost first.

    A library frame counts only where the user's code called it: the frames around that code
    (runpy, a web server, a test runner) say how the program was started, not what failed.

    Args:
        frames: the stack.
        is_recursion: it failed because it was too deep. How far in it failed is chance then,
            so that the functions of the cycle count, in the order of the alphabet.
    """
    if is_recursion:
        cycle = _cycle(frames)
        if cycle:
            return _place_of_cycle(frames, cycle)
    users = [index for index, frame in enumerate(frames) if frame.owner is Owner.USER]
    inside = frames[users[-1] + 1 :] if users else frames
    libraries = [frame.place for frame in inside if frame.owner is Owner.LIBRARY]
    user_function = frames[users[-1]].place if users else ""
    if not users and not libraries and frames:
        user_function = frames[-1].place
    return Place(user_function, libraries[-1] if libraries else "")


def is_deep(frames: Sequence[OwnedFrame]) -> bool:
    """Whether a function is in the stack often enough that it must call itself."""
    counts = _counts(frames)
    return bool(counts) and max(counts.values()) >= _DEEP


def _counts(frames: Sequence[OwnedFrame]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for frame in frames:
        counts[frame.place] += frame.repeats
    return counts


def _cycle(frames: Sequence[OwnedFrame]) -> set[str]:
    """Return the functions that are in the stack about as often as the most frequent one."""
    counts = _counts(frames)
    highest = max(counts.values(), default=0)
    if highest < _CYCLE_TIMES:
        return set()
    return {place for place, count in counts.items() if count >= _NEARLY_ALWAYS * highest - 1}


def _place_of_cycle(frames: Sequence[OwnedFrame], cycle: set[str]) -> Place:
    owners = {frame.place: frame.owner for frame in frames}
    users = sorted(place for place in cycle if owners[place] is Owner.USER)
    libraries = sorted(place for place in cycle if owners[place] is not Owner.USER)
    if not users:
        callers = [frame.place for frame in frames if frame.owner is Owner.USER]
        users = callers[-1:]
    return Place(" ".join(users[:_CYCLE_FUNCTIONS]), " ".join(libraries[:_CYCLE_FUNCTIONS]))
