"""Delta debugging: a smallest part of a sequence of elements that still fails.

The one difference search of whet. The elements may be lines to keep, edits not to make,
differences of two configurations or hunks of a diff: the search knows only their number.

It is ddmin (Zeller and Hildebrandt 2002) in the order that later work found cheaper: only
complements are tested (Hodován and Kiss 2016), one sweep per block size without a restart
after a success, from the end to the front, because what stands later tends to use what
stands earlier. One thing is inferred, not tested: when a block can't be left out but all
its parts except one could, then that one can't. The last sweep infers nothing, so that the
result is 1-minimal whatever the test says.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.batch import LazyBatch
from whet.search.proposal import Search

FEW_AT_ONCE = 24
"""Up to this number of elements, try each one alone, unless the caller needs a smallest part at once."""

BATCH_WIDTH = 64
"""Candidates in a batch: four for each of 16 cores, so that few cores idle at its end."""


@value_class
class Kept:
    """Which elements are kept: those of ``blocks`` without a window of them.

    Candidates of one state share their blocks, so that what they make can be shared too.

    Attributes:
        blocks: ascending runs of numbers of elements that don't overlap.
        start: position in ``blocks`` of the first one that is left out.
        stop: position behind the last one that is left out.
    """

    blocks: tuple[range, ...]
    start: int = 0
    stop: int = 0

    def elements(self) -> Iterator[int]:
        """Yield the numbers of the elements, ascending."""
        for block in self.blocks[: self.start]:
            yield from block
        for block in self.blocks[self.stop :]:
            yield from block


def minimize(
    size: int, *, grain: int = 1, ranks: Sequence[int] | None = None, again: bool = True
) -> Search[Kept, Kept]:
    """Look for a small part of ``size`` elements that is still BAD.

    All of them together must be BAD; this isn't tested. A candidate is what is kept. What
    was inferred is tested in the end, so that sometimes a candidate comes a second time.

    Args:
        size: how many elements there are.
        grain: blocks of fewer elements aren't tried. With a grain of 1 the result is
            1-minimal: no element of it can be left out alone.
        ranks: for each element how deep the smallest subtree lies that holds it and the one
            before it: blocks are cut where that is least, so that what belongs together falls
            together (hierarchical delta debugging, Misherghi and Su 2006, without a search of
            its own for each level). None: the elements are a plain sequence.
        again: try what was needed before others went once more. Without that the result is
            1-minimal only where nothing went: for a caller who searches again until that is so.
            Few elements are tried one by one then, as most of what such a caller has left is needed.

    Returns:
        What is kept in the end. About ``1.5 log2(size)`` candidates find one element that
        decides, and less than ``2.5 size`` show that all are needed.
    """
    if size == 0:
        return Kept(())
    verdicts = yield [Kept(())]
    if verdicts[-1] is Verdict.BAD:
        return Kept(())
    state = _State(blocks=(range(size),), asks_again=again)
    factor = 2 if again or size > FEW_AT_ONCE else size
    while any(len(block) >= 2 * grain for block in state.blocks):
        before = state.version
        families = _cut_blocks(state, factor, grain, ranks)
        if max(len(block) for block in state.blocks) < 2 * grain:
            break
        yield from _sweep_parts(state, families)
        # Where nothing could be left out, most elements are needed: hurry to the small ones.
        factor = 2 if state.version > before else 4
    yield from _sweep_until_stuck(state)
    return Kept(state.blocks)


FEW = 6
"""Up to this many elements go one by one; more go in blocks."""


def pick(size: int, ranks: Sequence[int] | None = None) -> Search[Kept, Kept]:
    """Look for a small part of ``size`` elements that is still BAD, where few are expected.

    All of them together must be BAD, and none of them not; this isn't tested. The shortest
    beginning that is BAD ends in an element that is needed; what stands before it is searched in
    the same way, with those found so far. Each answer halves what is left, either way. That pays
    while few are needed and whatever is tried can be judged: where one of two doesn't hold it stops.

    Returns:
        What is kept in the end, which `minimize` may make smaller still. Of 1,000 elements one
        that decides takes 11 candidates, three that decide together about 30.
    """
    found: tuple[range, ...] = ()
    bound = size
    while bound:
        if found:
            verdicts = yield [Kept(found)]
            if verdicts[-1] is Verdict.BAD:
                return Kept(found)
        if len(found) == FEW:
            break
        bound, is_judged = yield from _shortest(bound, found, ranks)
        if not is_judged:
            break
        bound -= 1
        found = (range(bound, bound + 1), *found)
    return Kept((range(bound), *found))


def _shortest(
    bound: int, found: tuple[range, ...], ranks: Sequence[int] | None
) -> Search[Kept, tuple[int, bool]]:
    """Return the length of a beginning that is BAD with what was found, one less of it isn't.

    The second is false if one of those in between was neither good nor bad.
    """
    low, high = 0, bound
    while high - low > 1:
        # If none of these is BAD each is the next question after the one before it.
        cuts = list(_cuts(low, high, ranks))
        verdicts = yield [Kept((range(cut), *found)) for cut in cuts]
        if verdicts[-1] is Verdict.BAD:
            high = cuts[len(verdicts) - 1]
            del cuts[len(verdicts) - 1 :]
        if Verdict.SKIP in verdicts:
            return high, False
        low = cuts[-1] if cuts else low
    return high, True


def _cuts(low: int, high: int, ranks: Sequence[int] | None) -> Iterator[int]:
    while high - low > 1:
        low = _middle(low, high, ranks)
        yield low


def _middle(low: int, high: int, ranks: Sequence[int] | None) -> int:
    middle = (low + high) // 2
    return middle if ranks is None else _best_cut(middle, (high - low) // 8, ranks)


@dataclass(slots=True)
class _State:
    """The blocks that are kept, and which of them is known to be needed by the others.

    ``version`` counts the successes; ``needed_at`` has the version at which a block could
    not be left out.
    """

    blocks: tuple[range, ...]
    asks_again: bool
    version: int = 0
    needed_at: dict[range, int] = field(default_factory=dict[range, int])

    def without(self, start: int, stop: int) -> Kept:
        return Kept(self.blocks, start, stop)

    def leave_out(self, start: int, stop: int) -> None:
        self.blocks = (*self.blocks[:start], *self.blocks[stop:])
        self.version += 1

    def note_needed(self, position: int) -> None:
        self.needed_at[self.blocks[position]] = self.version

    def is_open(self, position: int) -> bool:
        # That not all can be left out is known from the start.
        at = self.needed_at.get(self.blocks[position], -1)
        is_tested = at == self.version if self.asks_again else at >= 0
        return not is_tested and len(self.blocks) > 1


@dataclass(slots=True)
class _Family:
    """The parts of one block: how many there were and are."""

    parts: int
    left: int


def _cut_blocks(
    state: _State, factor: int, grain: int, ranks: Sequence[int] | None
) -> list[_Family]:
    """Cut each block into parts; return the family of each part."""
    cuts = [_parts(block, factor, grain, ranks) for block in state.blocks]
    state.blocks = tuple(part for cut in cuts for part in cut)
    return [family for cut in cuts for family in [_Family(len(cut), len(cut))] * len(cut)]


def _sweep_parts(state: _State, families: list[_Family]) -> Search[Kept, None]:
    """Leave out every part that can be, from the last on."""
    position = len(state.blocks) - 1
    while True:
        tried: list[int] = []
        open_parts = _open_parts(state, families, position, tried)
        batch = LazyBatch(islice(open_parts, BATCH_WIDTH))
        if not batch:
            return
        verdicts = yield batch
        for at in tried[: len(verdicts)]:
            state.note_needed(at)
        position = tried[len(verdicts) - 1]
        if verdicts[-1] is Verdict.BAD:
            families[position].left -= 1
            del families[position]
            state.leave_out(position, position + 1)
        position -= 1


def _parts(block: range, factor: int, grain: int, ranks: Sequence[int] | None) -> list[range]:
    """Cut a block into up to ``factor`` parts of nearly one size, none below ``grain``.

    With ranks no cut is moved by more than a quarter of a part, so that none comes out empty.
    """
    count = max(1, min(factor, len(block) // grain))
    edges = [block.start + len(block) * index // count for index in range(count + 1)]
    if ranks is not None and grain == 1:
        reach = len(block) // (4 * count)
        edges[1:-1] = [_best_cut(edge, reach, ranks) for edge in edges[1:-1]]
    return [range(edges[index], edges[index + 1]) for index in range(count)]


def _best_cut(wanted: int, reach: int, ranks: Sequence[int]) -> int:
    """Return the cut of the least rank near ``wanted``, the nearest of them."""
    near = range(wanted - reach, wanted + reach + 1)
    return min(near, key=lambda cut: (ranks[cut], abs(cut - wanted)))


def _open_parts(
    state: _State, families: list[_Family], position: int, tried: list[int]
) -> Iterator[Kept]:
    """Leave out each part from ``position`` down to the first, less the inferred ones."""
    for at in range(position, -1, -1):
        family = families[at]
        is_last_of_its_block = family.left == 1 < family.parts
        if state.is_open(at) and not is_last_of_its_block:
            tried.append(at)
            yield state.without(at, at + 1)


def _sweep_until_stuck(state: _State) -> Search[Kept, None]:
    """Leave out block by block, round and round, until none can be left out alone.

    Two successes side by side are the start of a run, which is then followed in steps that
    double: dependent elements fall together once the one that uses them has gone.
    """
    position, stretch, last = len(state.blocks) - 1, 1, -1
    while True:
        tried: list[tuple[int, int]] = []
        batch = LazyBatch(islice(_windows(state, position, stretch, tried), BATCH_WIDTH))
        if not batch:
            return
        verdicts = yield batch
        for start, stop in tried[: len(verdicts)]:
            if stop - start == 1:
                state.note_needed(start)
        start, stop = tried[len(verdicts) - 1]
        if verdicts[-1] is Verdict.BAD:
            stretch = 2 * (stop - start) if stop == last else 1
            last = start
            state.leave_out(start, stop)
        else:
            stretch = 1
        position = start - 1 if start else len(state.blocks) - 1


def _windows(
    state: _State, position: int, stretch: int, tried: list[tuple[int, int]]
) -> Iterator[Kept]:
    while stretch > 1:
        if position + 1 >= stretch and stretch < len(state.blocks):
            tried.append((position + 1 - stretch, position + 1))
            yield state.without(*tried[-1])
        stretch //= 2
    for at in (*range(position, -1, -1), *range(len(state.blocks) - 1, position, -1)):
        if state.is_open(at):
            tried.append((at, at + 1))
            yield state.without(at, at + 1)
