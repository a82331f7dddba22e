"""Plainer characters of the same number: what is left is read more easily."""

import re
from collections.abc import Callable

from whet.reduction.edit import Edit, make_changes
from whet.reduction.formats.pieces import Pieces
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage

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


def _plainer(pattern: bytes, text: bytes) -> Callable[[Pieces], PassSearch]:
    compiled = re.compile(pattern, re.DOTALL)

    def search(pieces: Pieces) -> PassSearch:
        changes: dict[object, list[Edit]] = {}
        for match in compiled.finditer(pieces.payload):
            if match[0] != text:
                is_single = len(pieces.payload) <= SINGLE_CHARACTERS
                key = match.start() if is_single else match[0]
                changes.setdefault(key, []).append(Edit(*match.span(), text))
        return make_changes(pieces.payload, list(changes.values()))

    return search


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
