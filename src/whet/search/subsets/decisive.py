"""Which element of a change decides, where elements need each other.

The elements stand in an order in which each comes after those that it needs; those that need each other
stand together. So a beginning that cuts none of these groups makes sense. The beginning that passes and the next longer one that fails differ in one
element or group: halving finds it. Then the search asks for less beside it: the element with only those that it needs, and
everything without it and without those that need it. Where elements need each other, delta debugging from
one side keeps nearly all of them; one of these two is small nearly always.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.proposal import Search
from whet.search.rendering import rendering
from whet.search.subsets.delta import Kept, minimize
from whet.search.subsets.hierarchy import Numbers

_AHEAD = 2
"""Beginnings in a batch: what one run too early costs, and what a stop in between loses."""

_MOST_SKIPS = 4
"""Beginnings between the same two ends that may come to nothing before the search looks at what is between."""

_MOST_LOOKS = 40
"""Beginnings around the middle of which whet asks whether they make sense."""

_MOST_ALONE = 4
"""How many elements the search tries one by one, where halving leaves several."""


@value_class(kw_only=True)
class Decided:
    """What decides.

    Attributes:
        brings: elements that are BAD without all others; none of them can be left out.
        undone: elements without which all others are GOOD; empty: the search knows of none but all.
    """

    brings: Numbers
    undone: Numbers


def few_that_decide(
    needs: Sequence[frozenset[int]], makes_sense: Callable[[Numbers], bool] = bool
) -> Search[Numbers, Decided]:
    """Look for what decides among elements of which all together are BAD, and none of them is GOOD.

    Candidates are the numbers of the elements that are kept, ascending.

    Args:
        needs: for each element the numbers of all elements that it needs, directly or not: smaller ones,
            and those that need it too.
        makes_sense: whether a beginning can be tested at all; another one is tried instead.

    Returns:
        The elements that bring the failure, and those without which it is gone. Of ``size`` elements this
        takes about ``log2(size) + 2`` candidates if every beginning is BAD or GOOD.
    """
    low, high = yield from _halved(_ends(needs), makes_sense)
    suspects = range(low, high)
    beginning = tuple(range(high))
    brings: Numbers = beginning
    undone: Numbers = ()
    tried = {(), beginning, _without((), len(needs))}
    for choice in _choices(suspects, needs):
        kept, left_out = _with(choice, needs), _with_users(choice, needs)
        rest = _without(left_out, len(needs))
        if (yield from _is_new(kept, Verdict.BAD, tried)):
            brings = kept
        if (yield from _is_new(rest, Verdict.GOOD, tried)):
            undone = left_out
        if undone or brings != beginning:
            break
    undone = yield from _fewer_undone(undone, len(needs))
    all_suspects = _with(suspects, needs)
    if brings == beginning and (yield from _is_new(all_suspects, Verdict.BAD, tried)):
        brings = all_suspects
    if len(brings) > 1:
        brings = yield from _fewer(brings)
    return Decided(brings=brings, undone=undone)


def _ends(needs: Sequence[frozenset[int]]) -> list[int]:
    """Return the lengths of the beginnings that have all that their elements need, none and all of them too."""
    ends = [0]
    reach = 0
    for at, needed in enumerate(needs):
        reach = max((reach, at, *needed))
        if reach == at:
            ends.append(at + 1)
    return ends


def _halved(
    ends: Sequence[int], makes_sense: Callable[[Numbers], bool]
) -> Search[Numbers, tuple[int, int]]:
    """Return the lengths of a beginning that is GOOD and of one that is BAD, as near as can be judged."""
    low, high = 0, len(ends) - 1
    skipped: set[int] = set()

    @cache
    def can_be_tested(cut: int) -> bool:
        return makes_sense(tuple(range(ends[cut])))

    while len(skipped) < _MOST_SKIPS:
        cuts = list(_cuts(low, high, skipped, can_be_tested))
        if not cuts:
            break
        verdicts = yield [tuple(range(ends[cut])) for cut in cuts]
        for cut, verdict in zip(cuts, verdicts, strict=False):
            if verdict is Verdict.SKIP:
                skipped.add(cut)
            elif verdict is Verdict.BAD:
                high = cut
            else:
                low = cut
        skipped = {cut for cut in skipped if low < cut < high}
    return ends[low], ends[high]


def _cuts(
    low: int, high: int, skipped: set[int], can_be_tested: Callable[[int], bool]
) -> Iterator[int]:
    """Yield the next beginnings to try; each is the next question after the one before it, if that isn't BAD."""
    for _ in range(_AHEAD):
        middle = (low + high) // 2
        nearest = sorted(range(low + 1, high), key=lambda cut: abs(cut - middle))
        untried = [cut for cut in nearest if cut not in skipped]
        cut = next(filter(can_be_tested, untried[:_MOST_LOOKS]), None)
        if cut is None:
            return
        low = cut
        yield cut


def _choices(suspects: Sequence[int], needs: Sequence[frozenset[int]]) -> Iterator[Numbers]:
    """Yield suspects alone, those first that need the least, then all together."""
    by_needs = sorted(suspects, key=lambda each: (len(needs[each]), -each))
    yield from ((each,) for each in by_needs[:_MOST_ALONE])
    if len(suspects) > 1:
        yield tuple(suspects)


def _with(choice: Iterable[int], needs: Sequence[frozenset[int]]) -> Numbers:
    """Return elements with all that they need."""
    kept = frozenset(choice)
    return tuple(sorted(kept.union(*(needs[each] for each in kept))))


def _with_users(choice: Numbers, needs: Sequence[frozenset[int]]) -> Numbers:
    """Return elements with all that need them."""
    return tuple(
        each for each, needed in enumerate(needs) if each in choice or not needed.isdisjoint(choice)
    )


def _is(kept: Numbers, wanted: Verdict) -> Search[Numbers, bool]:
    verdicts = yield [kept]
    return verdicts[-1] is wanted


def _is_new(kept: Numbers, wanted: Verdict, tried: set[Numbers]) -> Search[Numbers, bool]:
    """Ask for elements, if that wasn't done before."""
    if kept in tried:
        return False
    tried.add(kept)
    return (yield from _is(kept, wanted))


def _without(numbers: Iterable[int], size: int) -> Numbers:
    left_out = frozenset(numbers)
    return tuple(each for each in range(size) if each not in left_out)


def _fewer(numbers: Numbers) -> Search[Numbers, Numbers]:
    """Leave out of elements that are BAD what can be."""
    search = minimize(len(numbers))
    return rendering(search, lambda kept: _chosen(numbers, kept), numbers)


def _fewer_undone(numbers: Numbers, size: int) -> Search[Numbers, Numbers]:
    """Put back of elements without which all others are GOOD what can be."""
    if len(numbers) <= 1:
        return numbers
    best, search = numbers, minimize(len(numbers))
    try:
        wanted = next(search)
        while True:
            answers: list[Verdict] = []
            for kept in wanted:
                chosen = _chosen(numbers, kept)
                # Nothing undone is all of them, which is BAD.
                passes = bool(chosen) and (yield from _is(_without(chosen, size), Verdict.GOOD))
                answers.append(Verdict.BAD if passes else Verdict.GOOD)
                if passes:
                    best = chosen
                    break
            wanted = search.send(answers)
    except StopIteration:
        return best


def _chosen(numbers: Numbers, kept: Kept) -> Numbers:
    return tuple(numbers[at] for at in kept.elements())
