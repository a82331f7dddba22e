"""Elements that make sense only together, such as the two hunks that open and close a block."""

from collections.abc import Callable, Collection, Iterator
from functools import cache

_MOST_ELEMENTS = 60
"""Of more, each is taken on its own: it takes up to the square of their number to find out."""

_MOST_GROWN = 10
"""How many elements whet adds to one that makes sense with none of the others alone."""


def bound_together(
    count: int, makes_sense: Callable[[Collection[int]], bool]
) -> list[tuple[int, ...]]:
    """Return the elements in groups that can be left out, and be taken alone.

    It is a guess that saves tests: an element that can't be left out of all of them is put
    with the nearest one that can be left out with it; one that can't stand on its own with
    the nearest that it can stand with. If there is none it gets its neighbors, one after the other,
    until all of them together can; if they can't, it stays alone.

    Args:
        count: how many elements there are.
        makes_sense: whether a choice of them does; all and none of them must.
    """
    group = list(range(count))
    everything = frozenset(range(count))
    for is_left_out in (True, False):
        is_whole = _asking_once(everything if is_left_out else None, makes_sense)
        for each in range(count) if count <= _MOST_ELEMENTS else ():
            own = _group_of(each, group)
            if is_whole(own):
                continue
            others = list(_nearest(each, count))
            pairs = (own | _group_of(other, group) for other in others)
            more = next(filter(is_whole, pairs), None)
            if more is None:
                grown = next(filter(is_whole, _growing(own, others[:_MOST_GROWN], group)), own)
                more = _without_needless(grown, own, group, is_whole)
            group = [group[each] if at in more else group[at] for at in range(count)]
    found: dict[int, list[int]] = {}
    for each in range(count):
        found.setdefault(group[each], []).append(each)
    return [tuple(members) for members in found.values()]


def _asking_once(
    everything: frozenset[int] | None, makes_sense: Callable[[Collection[int]], bool]
) -> Callable[[frozenset[int]], bool]:
    """Return what says whether elements can be left out of all, or else be taken, and remembers it."""

    @cache
    def is_whole(own: frozenset[int]) -> bool:
        return makes_sense(own if everything is None else everything - own)

    return is_whole


def _without_needless(
    grown: frozenset[int],
    own: frozenset[int],
    group: list[int],
    is_whole: Callable[[frozenset[int]], bool],
) -> frozenset[int]:
    """Return a group without the neighbors that it doesn't need."""
    for each in sorted(grown - own):
        fewer = grown - _group_of(each, group)
        grown = fewer if each in grown and is_whole(fewer) else grown
    return grown


def _group_of(each: int, group: list[int]) -> frozenset[int]:
    return frozenset(at for at, own in enumerate(group) if own == group[each])


def _growing(
    own: frozenset[int], others: Collection[int], group: list[int]
) -> Iterator[frozenset[int]]:
    """Yield a group with one neighbor more each time."""
    for other in others:
        own |= _group_of(other, group)
        yield own


def _nearest(each: int, count: int) -> Iterator[int]:
    for distance in range(1, count):
        for other in (each + distance, each - distance):
            if 0 <= other < count:
                yield other
