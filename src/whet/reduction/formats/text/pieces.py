"""Payloads as a row of pieces: lines, tokens, words, bytes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from whet.core.value_class import value_class
from whet.reduction.edit import Edit, delete_pieces, make_changes
from whet.reduction.order import TEXT
from whet.reduction.reduction_pass import Format, PassSearch, ReductionPass, Stage, last_view
from whet.reduction.utf8 import BrokenPlaces

LONG_LINE = 1024
"""With longer lines on average whet takes stretches of bytes first."""

STRETCHES = 64
SHORTEST_STRETCH = 64

MOST_COPIES = 40
"""With many lines, only the shortest replace others; with more than this, none."""

MOST_PIECES = 256 * 1024
"""whet groups the short pieces of a large payload, so that their places fit into memory."""


@value_class
class Pieces:
    """A payload cut into pieces.

    Attributes:
        payload: all of it.
        bounds: where each piece starts, then the end of the last one. What stands before
            the first, such as a byte order mark, belongs to none.
    """

    payload: bytes
    bounds: Sequence[int]

    def texts(self) -> list[bytes]:
        """Return the pieces."""
        bounds = self.bounds
        return [self.payload[a:b] for a, b in pairwise(bounds)]


_LETTER = (
    rb"(?:[A-Za-z0-9_]|[\xc2-\xf4][\x80-\xbf]{1,3}"
    rb"|[\x80-\xff](?=[A-Za-z0-9_])|(?<=[A-Za-z0-9_])[\x80-\xff])"
)
"""One of a word: of several bytes in UTF-8, of one in Latin-1 if it stands beside another.

Bytes that are no text are no word of thousands of letters: each is a piece on its own.
"""

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")

_TOKEN = re.compile(
    rb"""
    "\"""(?:[^\\]|\\.)*?"\"" | '''(?:[^\\]|\\.)*?'''       # Python's long strings
  | "[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*" | '[^'\\\r\n]*(?:\\.[^'\\\r\n]*)*'
  | [0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?                # numbers
  | %b+ | [ \t]+ | \r?\n | .
    """
    % _LETTER,
    re.VERBOSE | re.DOTALL,
)

_WORD = re.compile(_LETTER + rb"+|[ \t]+|\r?\n|.", re.DOTALL)

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def _parse_with(pattern: re.Pattern[bytes], payload: bytes) -> Pieces:
    start = len(_BYTE_ORDER_MARK) if payload.startswith(_BYTE_ORDER_MARK) else 0
    ends = (match.end() for match in pattern.finditer(payload, start))
    least = len(payload) // MOST_PIECES
    return Pieces(payload, (start, *(_spread(ends, start, least) if least else ends)))


def _spread(ends: Iterable[int], start: int, least: int) -> Iterator[int]:
    """Yield the ends that are at least ``least`` bytes apart, and the last one."""
    end = start
    for end in ends:
        if end - start >= least:
            start = end
            yield end
    if end != start:
        yield end


def parse_lines(payload: bytes) -> Pieces:
    """Cut a payload behind each line end (LF, CR LF or CR)."""
    return _parse_with(_LINE, payload)


def parse_tokens(payload: bytes) -> Pieces:
    """Cut a payload as a programming language would: strings and numbers are one token."""
    return _parse_with(_TOKEN, payload)


def parse_words(payload: bytes) -> Pieces:
    """Cut a payload between words, blanks and signs."""
    return _parse_with(_WORD, payload)


def parse_bytes(payload: bytes) -> Pieces:
    """Cut a payload into its bytes."""
    return Pieces(payload, range(len(payload) + 1))


LINES = Format(name="lines", parse=last_view(parse_lines))
TOKENS = Format(name="tokens", parse=last_view(parse_tokens))
WORDS = Format(name="words", parse=last_view(parse_words))
BYTES = Format(name="bytes", parse=parse_bytes)


def _delete(pieces: Pieces) -> PassSearch:
    return delete_pieces(pieces.payload, pieces.bounds)


def _delete_stretches(pieces: Pieces) -> PassSearch:
    """Cut large parts of what is no text or has no lines, before anything smaller is looked at."""
    size = len(pieces.payload)
    has_lines = size < LONG_LINE * len(pieces.bounds) and b"\0" not in pieces.payload
    if size <= LONG_LINE or has_lines:
        return pieces.payload
    step = max(SHORTEST_STRETCH, size // STRETCHES)
    return (yield from delete_pieces(pieces.payload, [*range(0, size, step), size]))


def _delete_duplicates(pieces: Pieces) -> PassSearch:
    """Leave the first of equal pieces."""
    seen: set[bytes] = set()
    changes: list[list[Edit]] = []
    for start, text in zip(pieces.bounds, pieces.texts(), strict=False):
        if text in seen:
            changes.append([Edit(start, start + len(text))])
        seen.add(text)
    return make_changes(pieces.payload, changes)


def _copy_lines(lines: Pieces) -> PassSearch:
    """Put one line instead of others: what a record says may only hold as a whole."""
    payload, spans = lines.payload, _contents(lines)
    texts = sorted({payload[start:end] for start, end in spans}, key=TEXT.key)
    for text in texts[: MOST_COPIES // max(1, len(spans))]:
        changes = [
            [Edit(start, end, text)]
            for start, end in spans
            if TEXT.is_better(text, payload[start:end])
        ]
        copied = yield from make_changes(payload, changes)
        if copied != payload:
            return copied
    return payload


def _empty_alike_lines(lines: Pieces) -> PassSearch:
    """Empty lines that say the same together."""
    places: dict[bytes, list[Edit]] = {}
    for start, end in _contents(lines):
        places.setdefault(lines.payload[start:end], []).append(Edit(start, end))
    changes = [edits for text, edits in places.items() if text and len(edits) > 1]
    return make_changes(lines.payload, changes)


def _contents(lines: Pieces) -> list[tuple[int, int]]:
    """Return where each line of a text is, without its end."""
    if b"\0" in lines.payload or BrokenPlaces()(lines.payload):
        return []
    return [
        (start, start + len(text.rstrip(b"\r\n")))
        for start, text in zip(lines.bounds, lines.texts(), strict=False)
    ]


DELETE_LINES = ReductionPass(name="delete lines", stage=Stage.LINES, search=_delete, unit="lines")
COPY_LINES = ReductionPass(name="copy lines", stage=Stage.PAIRS, search=_copy_lines)
EMPTY_ALIKE_LINES = ReductionPass(
    name="empty alike lines", stage=Stage.PAIRS, search=_empty_alike_lines
)
DELETE_STRETCHES = ReductionPass(
    name="delete stretches", stage=Stage.STRUCTURE, search=_delete_stretches
)
DELETE_DUPLICATE_LINES = ReductionPass(
    name="delete duplicate lines", stage=Stage.LINES, search=_delete_duplicates
)
DELETE_TOKENS = ReductionPass(
    name="delete tokens", stage=Stage.TOKENS, search=_delete, unit="tokens"
)
DELETE_WORDS = ReductionPass(name="delete words", stage=Stage.TOKENS, search=_delete, unit="words")
DELETE_BYTES = ReductionPass(name="delete bytes", stage=Stage.BYTES, search=_delete, unit="bytes")
