"""The smallest sizes with which something still fails: which of them it needs, and how much of each.

Sizes are numbers in a fixed order. They are all lowered at once first; if that isn't it, one after
the other is raised alone, then as few together as possible. Of each that is needed the least value
is searched, the others as they are.
"""

from collections.abc import Callable, Iterator, Sequence

from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.batch import LazyBatch
from whet.search.proposal import Search
from whet.search.subsets.delta import minimize

Sizes = tuple[int, ...]


@value_class(kw_only=True)
class NeededSizes:
    """The smallest sizes that fail.

    Attributes:
        sizes: all of them.
        needed: the positions of those that had to be raised.
        below: for each of these, the greatest lesser size that isn't BAD; what lies between can't be
            made with the others; None: nothing lesser can.
    """

    sizes: Sizes
    needed: tuple[int, ...]
    below: tuple[int | None, ...] = ()


def needed_sizes(
    low: Sizes,
    high: Sizes,
    is_possible: Callable[[Sizes], bool] = lambda _: True,
    *,
    is_low_known: bool = False,
) -> Search[Sizes, NeededSizes]:
    """Search the smallest sizes that are BAD, from ``low`` to ``high``, which must be BAD itself.

    Args:
        low: the least of each.
        high: the most of each.
        is_possible: whether sizes make sense together; others aren't asked about.
        is_low_known: the least was seen not to be BAD.
    """
    if low == high:
        return NeededSizes(sizes=high, needed=())
    if not is_low_known and is_possible(low):
        verdicts = yield [low]
        if verdicts[-1] is Verdict.BAD:
            return NeededSizes(sizes=low, needed=())
    places = [place for place in range(len(low)) if low[place] != high[place]]
    needed = yield from _one_alone(low, high, places, is_possible)
    if not needed:
        needed = yield from _few_together(low, high, places, is_possible)
    sizes = _raised(low, high, needed)
    below: list[int | None] = []
    for place in needed:
        sizes, passed = yield from _least(sizes, place, low[place], is_possible)
        below.append(passed)
    return NeededSizes(sizes=sizes, needed=tuple(needed), below=tuple(below))


def _raised(low: Sizes, high: Sizes, places: Sequence[int]) -> Sizes:
    return tuple(high[n] if n in places else each for n, each in enumerate(low))


def _one_alone(
    low: Sizes, high: Sizes, places: Sequence[int], is_possible: Callable[[Sizes], bool]
) -> Search[Sizes, list[int]]:
    """Return the first size that is enough if it alone is raised; none: there is none."""
    tried: list[int] = []

    def candidates() -> Iterator[Sizes]:
        for place in places:
            sizes = _raised(low, high, [place])
            if sizes != high and is_possible(sizes):
                tried.append(place)
                yield sizes

    batch = LazyBatch(candidates())
    if not batch:
        return []
    verdicts = yield batch
    return [tried[len(verdicts) - 1]] if verdicts[-1] is Verdict.BAD else []


def _few_together(
    low: Sizes, high: Sizes, places: Sequence[int], is_possible: Callable[[Sizes], bool]
) -> Search[Sizes, list[int]]:
    """Return few sizes that are enough if they are raised together."""
    search = minimize(len(places))
    verdicts: Sequence[Verdict] = ()
    is_first = True
    while True:
        try:
            batch = next(search) if is_first else search.send(verdicts)
        except StopIteration as end:
            return [places[each] for each in end.value.elements()]
        is_first = False
        asked: list[Verdict] = []
        for kept in batch:
            sizes = _raised(low, high, [places[each] for each in kept.elements()])
            asked.append((yield from _asked(sizes, low, is_possible)))
            if asked[-1] is Verdict.BAD:
                break
        verdicts = asked


def _asked(
    sizes: Sizes, low: Sizes, is_possible: Callable[[Sizes], bool]
) -> Search[Sizes, Verdict]:
    if sizes == low or not is_possible(sizes):
        return Verdict.SKIP
    (verdict,) = yield [sizes]
    return verdict


def _least(
    sizes: Sizes, place: int, low: int, is_possible: Callable[[Sizes], bool]
) -> Search[Sizes, tuple[Sizes, int | None]]:
    """Halve what lies between a value that is too little and one that is enough.

    Returns:
        the sizes with the least value, and the greatest lesser one that isn't enough; None: nothing
        lesser is possible with the others.
    """
    high = sizes[place]
    passed = low if is_possible(_with(sizes, place, low)) else None
    while high - low > 1:
        middle = (low + high) // 2
        found = None
        for value in _near(middle, low, high):
            candidate = _with(sizes, place, value)
            if is_possible(candidate):
                (verdict,) = yield [candidate]
                found = value, verdict
                break
        if found is None:
            break
        if found[1] is Verdict.BAD:
            high = found[0]
        else:
            low = passed = found[0]
    return _with(sizes, place, high), passed


def _with(sizes: Sizes, place: int, value: int) -> Sizes:
    return (*sizes[:place], value, *sizes[place + 1 :])


def _near(middle: int, low: int, high: int) -> Iterator[int]:
    """Yield a value and its neighbours between two, the nearest first."""
    for distance in range(high - low):
        for value in dict.fromkeys((middle + distance, middle - distance)):
            if low < value < high:
                yield value
