"""First cuts in documents too large to read as a tree: runs of neighbours at one depth.

The depth at some places is counted, not parsed. A cut may then be none of the format, which costs
a call; where it fails the same way, it was a good one.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator

from whet.core.value_class import value_class
from whet.reduction.edit import delete_pieces
from whet.reduction.reduction_pass import PassSearch

LARGE_BYTES = 1024 * 1024
"""whet cuts larger documents coarsely first: a tree takes 100 times the memory of its text."""

HUGE_BYTES = 16 * LARGE_BYTES
"""whet builds no tree of a larger document, which would take gigabytes."""

PIECES = 64
WINDOW_BYTES = 16 * 1024


@value_class
class Nesting:
    """What opens and closes in a kind of document.

    Attributes:
        counts: texts, and by how much each changes the depth.
        token: matches what is looked at; a group ``place`` is a place between neighbours.
        step: by how much a token changes the depth.
        outside: matches up to the last place that is in no string; None: there are no strings.
        string: matches a string, in which nothing counts.
        is_behind: whether a piece starts behind such a place, not with it.
    """

    counts: tuple[tuple[bytes, int], ...]
    token: re.Pattern[bytes]
    step: Callable[[bytes], int]
    is_behind: bool
    outside: re.Pattern[bytes] | None = None
    string: re.Pattern[bytes] | None = None


def _step_of_bracket(token: bytes) -> int:
    return {b"[": 1, b"{": 1, b"]": -1, b"}": -1}.get(token, 0)


def _step_of_tag(token: bytes) -> int:
    return 1 if token == b"<" else -1


_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*"'

BRACKETS = Nesting(
    ((b"[", 1), (b"{", 1), (b"]", -1), (b"}", -1)),
    re.compile(_STRING + rb"|[\[\]{}]|(?P<place>,)", re.DOTALL),
    _step_of_bracket,
    is_behind=True,
    outside=re.compile(rb'(?:[^"]++|' + _STRING + rb")*", re.DOTALL),
    string=re.compile(_STRING, re.DOTALL),
)

TAGS = Nesting(
    ((b"<", 1), (b"</", -2), (b"/>", -1), (b"<!", -1), (b"<?", -1)),
    re.compile(rb"</|/>|(?P<place><)(?![!?])"),
    _step_of_tag,
    is_behind=False,
)


def cutting_coarsely(nesting: Nesting) -> Callable[[bytes], PassSearch]:
    """Return the search that cuts runs of neighbours while a payload is large."""

    def search(payload: bytes) -> PassSearch:
        before = None
        while len(payload) > LARGE_BYTES and payload != before:
            before = payload
            payload = yield from delete_pieces(
                payload, _bounds(payload, nesting) or [0], again=True
            )
        return payload

    return search


def _bounds(payload: bytes, nesting: Nesting) -> list[int]:
    """Return places between neighbours at the depth at which most of them are."""
    found = list(_places(payload, nesting))
    if not found:
        return []
    (depth, _), *_ = Counter(depth for depth, _ in found).most_common(1)
    return sorted({place for at, place in found if at == depth})


def _places(payload: bytes, nesting: Nesting) -> Iterator[tuple[int, int]]:
    """Yield depths and places: of each part of the payload the outermost near its start."""
    depth, counted_to = 0, 0
    for number in range(PIECES):
        start = len(payload) * number // PIECES
        between, start = _counted(payload, counted_to, start, nesting)
        depth += sum(step * between.count(text) for text, step in nesting.counts)
        counted_to = start
        here = depth
        found: list[tuple[int, int]] = []
        for match in nesting.token.finditer(payload, start, start + WINDOW_BYTES):
            if match["place"]:
                found.append((here, match.end() if nesting.is_behind else match.start()))
            here += nesting.step(match[0])
        if found:
            yield min(found)


def _counted(payload: bytes, start: int, end: int, nesting: Nesting) -> tuple[bytes, int]:
    """Return what counts between two places, and the second one, moved out of a string."""
    if nesting.outside is None or nesting.string is None:
        return payload[start:end], end
    match = nesting.outside.match(payload, start, end)
    end = start if match is None else match.end()
    return nesting.string.sub(b"", payload[start:end]), end
