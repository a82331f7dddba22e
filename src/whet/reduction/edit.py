"""Edits of a payload, and the search for as many of them as the failure survives.

A pass says what could be cut or replaced and where; the one delta debugging of
`whet.search.subsets.delta` finds out what of it can be done at once. A candidate is the payload with
some edits made, so that it costs a few slices, not a new rendering of a whole tree.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, chain, islice
from typing import TypeAlias

from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.answering import answering
from whet.search.batch import LazyBatch
from whet.search.proposal import CandidateT, Search
from whet.search.subsets.delta import BATCH_WIDTH, Kept, minimize

BATCH_BYTES = 64 * 1024 * 1024
"""A batch has the candidates that a driver has read: fewer for large payloads."""

LEAST_WIDTH = 8


@value_class
class Edit:
    """Put ``text`` instead of the bytes from ``start`` to ``end``.

    One of several siblings with separators between them also says where its separators
    are: ``before`` is the end of the sibling before it, ``after`` the start of the one
    behind it (or its own ends). When it is cut, the separator before it goes too; when all
    before it are cut as well, the one behind it.
    """

    start: int
    end: int
    text: bytes = b""
    before: int = -1
    after: int = -1


Change: TypeAlias = Sequence[Edit]
"""Edits that apply together or not at all."""


def siblings(spans: Sequence[tuple[int, int]]) -> list[Edit]:
    """Return the edits that cut each of these neighbours, with its separator."""
    last = len(spans) - 1
    return [
        Edit(
            start,
            end,
            before=spans[index - 1][1] if index else start,
            after=spans[index + 1][0] if index < last else end,
        )
        for index, (start, end) in enumerate(spans)
    ]


def splice(payload: bytes, edits: Iterable[Edit]) -> bytes:
    """Return the payload with these edits made.

    Args:
        payload: what is edited.
        edits: sorted by their start. An edit inside of a cut has no effect.
    """
    pieces: list[bytes] = []
    position = 0
    previous_end, is_leading = -1, False
    for edit in edits:
        start, end = edit.start, edit.end
        if start < position and end <= position:
            continue
        if edit.before >= 0:
            is_leading = edit.before == start or (is_leading and edit.before == previous_end)
            start, end = (start, edit.after) if is_leading else (edit.before, end)
            previous_end = edit.end
        pieces.append(payload[position:start])  # empty where an edit overlaps the last cut
        pieces.append(edit.text)
        position = end
    pieces.append(payload[position:])
    return b"".join(pieces)


def make_changes(
    payload: bytes, changes: Sequence[Change], *, grain: int = 1, again: bool = True
) -> Search[bytes, bytes]:
    """Make as many of the changes as the failure survives; return the payload then.

    Args:
        payload: what is changed.
        changes: all that may be.
        grain: fewest changes to make at once. With 1 the result is 1-minimal: no change that is left
            can be made alone.
        again: try those that could not be made once more after others were made
            (`whet.search.subsets.delta.minimize`).
    """
    made: list[Edit] = []
    made_at: tuple[range, ...] | None = None

    def render(kept: Kept) -> bytes:
        nonlocal made, made_at
        if kept.blocks is not made_at:
            # The candidates of one state share what is changed in all of them.
            made, made_at = edits_of(_others(kept.blocks, len(changes))), kept.blocks
        window = kept.blocks[kept.start : kept.stop]
        return splice(payload, sorted([*made, *edits_of(chain(*window))], key=_position))

    def edits_of(indices: Iterable[int]) -> list[Edit]:
        return sorted((edit for each in indices for edit in changes[each]), key=_position)

    return keep_least(len(changes), render, start=payload, grain=grain, again=again)


def delete_pieces(
    payload: bytes, bounds: Sequence[int], *, again: bool = False
) -> Search[bytes, bytes]:
    """Cut as many pieces as the failure survives; return the payload then.

    Args:
        payload: what is cut.
        bounds: at least one, ascending; a piece reaches from each bound to the next one.
        again: try those that were needed once more after others went. A pass gets turns until it
            cuts nothing: without this, none is tried twice in a turn, but there are more turns, and each
            begins with large candidates.
    """
    shared = _Shared(payload, bounds, ())
    head, tail = payload[: bounds[0]], payload[bounds[-1] :]

    def render(kept: Kept) -> bytes:
        nonlocal shared
        if kept.blocks is not shared.blocks:
            shared = _Shared(payload, bounds, kept.blocks)
        return b"".join((head, shared.without(kept.start, kept.stop), tail))

    return keep_least(len(bounds) - 1, render, start=payload, again=again)


class _Shared:
    """The pieces of one state of the search, joined once for all its candidates."""

    def __init__(self, payload: bytes, bounds: Sequence[int], blocks: tuple[range, ...]) -> None:
        pieces = [payload[bounds[block.start] : bounds[block.stop]] for block in blocks]
        self.blocks = blocks
        self._text = b"".join(pieces)
        self._offsets = [0, *accumulate(map(len, pieces))]

    def without(self, start: int, stop: int) -> bytes:
        return self._text[: self._offsets[start]] + self._text[self._offsets[stop] :]


def first_that_fails(
    candidates: Iterable[CandidateT],
) -> Search[CandidateT, CandidateT | None]:
    """Propose alternatives; return the first that is BAD, or None."""
    batch = LazyBatch(candidates)
    if not batch:
        return None
    verdicts = yield batch
    return batch[len(verdicts) - 1] if verdicts[-1] is Verdict.BAD else None


def rendered(
    search: Search[Kept, Kept], render: Callable[[Kept], bytes], *, start: bytes
) -> Search[bytes, bytes]:
    """Propose the payloads of what a search would keep; return the last that is BAD.

    Args:
        search: proposes what to keep.
        render: returns the payload of that.
        start: what is left if none is BAD. Of large ones few candidates are in memory at once.
    """
    width = max(LEAST_WIDTH, min(BATCH_WIDTH, BATCH_BYTES // (len(start) + 1)))
    best = start
    try:
        batch = next(search)
        while True:
            candidates = map(render, batch)
            verdicts: list[Verdict] = []
            while proposed := LazyBatch(islice(candidates, width)):
                verdicts += yield proposed
                if verdicts[-1] is Verdict.BAD:
                    best = proposed[(len(verdicts) - 1) % width]
                    break
            batch = search.send(verdicts)
    except StopIteration:
        return best


def keep_least(
    size: int,
    render: Callable[[Kept], bytes],
    *,
    start: bytes,
    grain: int = 1,
    again: bool = True,
) -> Search[bytes, bytes]:
    """Look for a small part of ``size`` elements that still fails; return the payload then.

    Args:
        size: how many there are.
        render: returns the payload in which only these elements are kept.
        start: the payload with all of them.
        grain: fewest elements to remove at once.
        again: try those that were needed once more after others went.
    """
    return rendered(minimize(size, grain=grain, again=again), render, start=start)


def _others(blocks: tuple[range, ...], size: int) -> Iterator[int]:
    """Yield the numbers of the elements that are in none of the blocks."""
    position = 0
    for block in (*blocks, range(size, size)):
        yield from range(position, block.start)
        position = block.stop


def _position(edit: Edit) -> tuple[int, int]:
    return edit.start, -edit.end


def only(search: Search[bytes, bytes], is_right: Callable[[bytes], bool]) -> Search[bytes, bytes]:
    """Answer GOOD to what isn't right, and propose the rest.

    Args:
        search: proposes payloads.
        is_right: whether one is worth a trial; it must not depend on what was asked before.
    """
    return answering(search, lambda payload: None if is_right(payload) else Verdict.GOOD)
