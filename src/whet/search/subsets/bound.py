"""Elements that make sense only together, such as the two hunks that open and close a block."""

from collections.abc import Callable, Collection, Iterator

_MOST_ELEMENTS = 60
"""Of more, each is taken on its own: it takes up to the square of their number to find out."""


def bound_together(
    count: int, makes_sense: Callable[[Collection[int]], bool]
) -> list[tuple[int, ...]]:
    """Return the elements in groups that can be left out, and be taken alone.

    It is a guess that saves tests: an element that can't be left out of all of them is put
    with the nearest one that can be left out with it; one that can't stand on its own with
    the nearest that it can stand with. If there is none it stays alone.

    Args:
        count: how many elements there are.
        makes_sense: whether a choice of them does; all and none of them must.
    """
    group = list(range(count))
    everything = frozenset(range(count))
    for is_left_out in (True, False):
        for each in range(count) if count <= _MOST_ELEMENTS else ():
            own = frozenset(other for other in everything if group[other] == group[each])
            if makes_sense(everything - own if is_left_out else own):
                continue
            for other in _nearest(each, count):
                more = own | {at for at in everything if group[at] == group[other]}
                if makes_sense(everything - more if is_left_out else more):
                    group = [group[each] if at in more else group[at] for at in range(count)]
                    break
    found: dict[int, list[int]] = {}
    for each in range(count):
        found.setdefault(group[each], []).append(each)
    return [tuple(members) for members in found.values()]


def _nearest(each: int, count: int) -> Iterator[int]:
    for distance in range(1, count):
        for other in (each + distance, each - distance):
            if 0 <= other < count:
                yield other
