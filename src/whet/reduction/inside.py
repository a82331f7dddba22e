"""Reducing what is in a payload where it lies: a JSON text in a cell of a table in an archive."""

from collections.abc import Callable

from whet.reduction.payload_kind import Part
from whet.reduction.problem import Reduced
from whet.reduction.reduction_pass import PassSearch
from whet.search.proposal import Search
from whet.search.rendering import rendering


def reduce_inside(
    payload: bytes,
    parts_of: Callable[[bytes], list[Part]],
    reduce_part: Callable[[Part], Search[Reduced, object]],
) -> PassSearch:
    """Reduce each part on its own, the longest one first: what goes from it speeds up the most.

    Args:
        payload: where they stand.
        parts_of: returns the parts that are worth it.
        reduce_part: proposes better contents for one.
    """
    sizes = [len(part.content) for part in parts_of(payload)]
    for place in sorted(range(len(sizes)), key=lambda place: -sizes[place]):
        parts = parts_of(payload)
        if place < len(parts):  # fewer may be worth it now
            payload = yield from _put_back(payload, parts[place], reduce_part(parts[place]))
    return payload


def _put_back(payload: bytes, part: Part, search: Search[Reduced, object]) -> PassSearch:
    def put(candidate: Reduced) -> bytes:
        whole = part.put(candidate.data)
        return payload if whole is None else whole  # what is no better is never tried

    return rendering(search, put, payload)
