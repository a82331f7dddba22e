"""Plainer characters of the same number: what is left is read more easily."""

import re
from collections.abc import Callable

from whet.reduction.edit import Edit, keep_least, make_changes
from whet.reduction.formats.pieces import Pieces
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage
from whet.search.delta import Kept

_STRANGE = rb"[\xc0-\xff][\x80-\xbf]*|[^\x20-\x7e\r\n]"
_WORD = re.compile(rb"[A-Za-z]+")
_LOOKS = (
    ("put a for letters", rb"[a-z]|(?<![A-Za-z])[A-Z](?![A-Za-z])", b"a"),
    ("put A for capitals", rb"[A-Z]", b"A"),
    ("put b for letters", rb"[a-z]|(?<![A-Za-z])[A-Z](?![A-Za-z])", b"b"),
    ("put 0 for digits", rb"[1-9]", b"0"),
    ("put 1 for digits", rb"[2-9]", b"1"),
    ("put a for strange characters", _STRANGE, b"a"),
    ("put 0 for signs", _STRANGE + rb"|[!-/:-@\[-`{-~]", b"0"),
    ("put blanks for other space", rb"[\t\r\n\x0b\x0c]", b" "),
)

SINGLE_CHARACTERS = 64
"""In payloads up to this size each character is replaced by itself; in larger ones all that
are equal together, as the looks of one letter in a hundred are not worth a trial."""

MOST_GROUPS = 64
"""Where more characters than these differ several of them are replaced together."""


def _plainer(pattern: bytes, text: bytes) -> Callable[[Pieces], PassSearch]:
    compiled = re.compile(b"(%b)" % pattern, re.DOTALL)

    def search(pieces: Pieces) -> PassSearch:
        payload = pieces.payload
        if len(payload) > SINGLE_CHARACTERS:
            return (yield from _replace_equal_ones(payload, compiled, text))
        changes = [
            [Edit(*match.span(), text)] for match in compiled.finditer(payload) if match[0] != text
        ]
        return (yield from make_changes(payload, changes))

    return search


def _replace_equal_ones(payload: bytes, pattern: re.Pattern[bytes], text: bytes) -> PassSearch:
    """Put a text for all that is equal of what matches, in one step over the payload."""
    parts = pattern.split(payload)
    matches = parts[1::2]
    found = list(dict.fromkeys(match for match in matches if match != text))

    def render(kept: Kept) -> bytes:
        by = dict.fromkeys((*found, text), text)
        by.update((found[index], found[index]) for index in kept.elements())
        parts[1::2] = map(by.__getitem__, matches)
        return b"".join(parts)

    grain = -(-len(found) // MOST_GROUPS)
    return keep_least(len(found), render, start=payload, grain=max(1, grain))


def _lower_words(pieces: Pieces) -> PassSearch:
    """Put small letters for all capitals of a word together: half a word reads worse."""
    changes = [
        [Edit(*match.span(), match[0].lower())]
        for match in _WORD.finditer(pieces.payload)
        if match[0] != match[0].lower()
    ]
    return make_changes(pieces.payload, changes)


LOOKS_PASSES = (
    ReductionPass(name="lower words", stage=Stage.LOOKS, search=_lower_words),
    *(
        ReductionPass(name=name, stage=Stage.LOOKS, search=_plainer(pattern, text))
        for name, pattern, text in _LOOKS
    ),
)
