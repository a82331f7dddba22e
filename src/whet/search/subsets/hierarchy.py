"""A smallest part of elements that stand in a tree: subtrees first, then what is in them.

Few elements that decide are picked one by one, at cuts between subtrees (`whet.search.subsets.delta`).
Where that meets what can't be judged, because half a subtree makes no sense, or where many
elements are needed, the tree is gone through level by level: whole subtrees are left out, then
of those that are left the parts (hierarchical delta debugging, Misherghi and Su 2006).
"""

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import TypeAlias

from whet.search.proposal import Search
from whet.search.rendering import rendering
from whet.search.subsets.delta import Kept, minimize, pick

Numbers: TypeAlias = tuple[int, ...]
"""Of elements, ascending."""

Path: TypeAlias = tuple[Hashable, ...]


def ranks_of(paths: Sequence[Path]) -> Numbers:
    """Return for each path how many of its first steps it shares with the path before it."""
    return (0, *(_shared(*pair) for pair in pairwise(paths)))[: len(paths)]


def _shared(one: Path, other: Path) -> int:
    same = (number for number, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(same, min(len(one), len(other)))


def few_of(paths: Sequence[Path]) -> Search[Numbers, Numbers]:
    """Look for a small part of the elements that is still BAD.

    All of them together must be BAD, and none of them not; this isn't tested.

    Args:
        paths: of each element the way to it from the root; those of a subtree stand together.

    Returns:
        A part of them that is 1-minimal.
    """
    everything: Numbers = tuple(range(len(paths)))
    picked = pick(len(paths), ranks_of(paths))
    kept = yield from rendering(picked, lambda kept: tuple(kept.elements()), everything)
    return (yield from _by_levels(paths, kept))


def _by_levels(paths: Sequence[Path], numbers: Numbers) -> Search[Numbers, Numbers]:
    """Leave out subtrees of the first level, then of the second, down to the elements."""
    for depth in range(1, max(len(path) for path in paths) + 1):
        units: dict[Path, list[int]] = {}
        for number in numbers:
            units.setdefault(paths[number][:depth], []).append(number)
        is_finer = depth == 1 or len(units) > len({paths[each][: depth - 1] for each in numbers})
        if is_finer:
            numbers = yield from _few_units(list(units.items()))
    return numbers


def _few_units(units: Sequence[tuple[Path, list[int]]]) -> Search[Numbers, Numbers]:
    def of(kept: Kept) -> Numbers:
        return tuple(number for at in kept.elements() for number in units[at][1])

    search = minimize(len(units), ranks=ranks_of([path for path, _ in units]))
    return rendering(search, of, of(Kept((range(len(units)),))))
