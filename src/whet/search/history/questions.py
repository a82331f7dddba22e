"""Which versions to test at once, so that the fewest rounds are to be expected.

The verdicts of one round cut what is left into parts: two versions are in the same part if the
same questions have them before them. One part stays. On a line k questions make k + 1 parts,
and parts of equal size are best, because the rounds that a part still takes grow faster than
its size. On a graph the questions begin where a line would have them, counted by what each
version reaches, and are then moved one by one while the entropy of what stays gets smaller.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nsmallest
from math import log2

from whet.search.history.skips import beside_skips

_PLACES = 64  # tried for all questions of a round together
_PLACES_IN_LARGE = (
    12  # the same for more than `_LARGE` suspects: each place costs a walk over all of them
)
_LARGE = 20_000
_SWEEPS = 3


def spread(
    reached: Mapping[int, int],
    skipped: Sequence[int],
    count: int,
    flags_of: Callable[[int], bytearray],
) -> list[int]:
    """Return up to ``count`` positions to ask at once, ascending by what they reach.

    Args:
        reached: for each suspect how many suspects it reaches, itself included.
        skipped: suspects that were asked and can't be judged.
        count: how many to return at most.
        flags_of: returns for each position whether the given one is it or has it before it.
    """
    total = len(reached)
    unclear = set(skipped)
    free = [each for each in reached if each not in unclear and reached[each] < total]
    if len(free) > count:
        if unclear:
            free = beside_skips(reached, free, unclear, count)
        else:
            free = _balanced(reached, free, count, flags_of)
    return sorted(free, key=lambda each: reached[each])


def _balanced(
    reached: Mapping[int, int],
    free: Sequence[int],
    count: int,
    flags_of: Callable[[int], bytearray],
) -> list[int]:
    """Return the positions that leave parts of equal size."""
    total = len(reached)
    targets = [number * total // (count + 1) for number in range(1, count + 1)]
    places = max(2, (_PLACES if total < _LARGE else _PLACES_IN_LARGE) // count)
    near = [_nearest(free, reached, target, places) for target in targets]
    chosen = _first_of_each(near)
    is_line = len(set(reached.values())) == total
    return chosen if is_line else _moved(chosen, near, reached, flags_of)


def _nearest(free: Sequence[int], reached: Mapping[int, int], target: int, count: int) -> list[int]:
    return nsmallest(count, free, lambda each: abs(reached[each] - target))


def _first_of_each(near: Sequence[Sequence[int]]) -> list[int]:
    """Return the nearest place to each target that no other target has taken."""
    chosen: dict[int, None] = {}
    for places in near:
        free = next((each for each in places if each not in chosen), None)
        if free is not None:
            chosen[free] = None
    return list(chosen)


def _moved(
    chosen: list[int],
    near: Sequence[Sequence[int]],
    reached: Mapping[int, int],
    flags_of: Callable[[int], bytearray],
) -> list[int]:
    """Move the questions one by one while less is to be expected to stay."""
    places = dict.fromkeys(each for some in near for each in some)
    # One byte, 0 or 1, for each position: then the bits that are set count the versions.
    masks = {each: int.from_bytes(flags_of(each), "little") for each in places}
    flags = bytearray(1 + max(reached))
    for position in reached:
        flags[position] = 1
    everything = int.from_bytes(flags, "little")
    for _ in range(_SWEEPS):
        before = list(chosen)
        for index in range(len(chosen)):
            others = chosen[:index] + chosen[index + 1 :]
            parts = _parts(everything, (masks[each] for each in others))
            free = [each for each in places if each not in others]
            chosen[index] = min(
                free, key=lambda each: (_entropy_left(parts, masks[each]), each != before[index])
            )
        if chosen == before:
            break
    return chosen


def _parts(everything: int, masks: Iterable[int]) -> list[int]:
    parts = [everything]
    for mask in masks:
        cut = [piece for part in parts for piece in (part & mask, part & ~mask)]
        parts = [part for part in cut if part]
    return parts


def _entropy_left(parts: Sequence[int], mask: int) -> float:
    """Return what stays to be found out, in bits times versions, once ``mask`` is asked too."""
    left = 0.0
    for part in parts:
        size = part.bit_count()
        inside = (part & mask).bit_count()
        left += sum(count * log2(count) for count in (inside, size - inside) if count)
    return left
