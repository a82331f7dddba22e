"""Plainer characters of the same number: what is left is read more easily."""

import re
from collections.abc import Callable, Sequence

from whet.reduction.edit import Edit, keep_least, make_changes
from whet.reduction.formats.text.pieces import Pieces
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage
from whet.search.subsets.delta import Kept

_STRANGE = rb"[\xc0-\xff][\x80-\xbf]*|[^\x20-\x7e\r\n]"
_WORD = re.compile(rb"[A-Za-z]+")
_ALONE = rb"(?<![A-Za-z])%b(?![A-Za-z])"
_RUN = re.compile(rb"[a-z]+|" + _ALONE % b"[A-Z]")
_NAME_A = re.compile(_ALONE % b"a")
_NAME = re.compile(_ALONE % b"[A-Za-z]")
_LETTER = re.compile(rb"([a-z]|" + _ALONE % b"[A-Z]" + rb")")
_LOOKS = (
    ("put A for capitals", rb"[A-Z]", b"A"),
    ("put 0 for digits", rb"[1-9]", b"0"),
    ("put 1 for digits", rb"[2-9]", b"1"),
    ("put a for strange characters", _STRANGE, b"a"),
    ("put 0 for signs", _STRANGE + rb"|[!-/:-@\[-`{-~]", b"0"),
    ("put blanks for other space", rb"[\t\r\n\x0b\x0c]", b" "),
)

SINGLE_CHARACTERS = 64
"""In payloads up to this size each character is replaced on its own; in larger ones all that
are equal together, as the looks of one letter in a hundred aren't worth a trial."""

MOST_GROUPS = 64
"""If more characters than this differ, whet replaces several of them together."""


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


def _put_letters(pieces: Pieces) -> PassSearch:
    """Put a for the letters of a word together, then for half of them.

    Single letters are tried only where a half could be changed: a word whose halves are both
    needed is a name that the program looks for, and to ask for each of its letters tells no more.
    """
    payload = pieces.payload
    if len(payload) > SINGLE_CHARACTERS:
        return (yield from _replace_equal_ones(payload, _LETTER, b"a"))
    runs = [match.span() for match in _RUN.finditer(payload)]
    before = payload = yield from make_changes(payload, _written(payload, runs, b"a"))
    halves = [each for run in runs for each in _halves(*run)]
    payload = yield from make_changes(payload, _written(payload, halves, b"a"))
    for letter in (b"a", b"b"):
        letters = [
            (place, place + 1)
            for start, end in runs
            if payload[start:end] != before[start:end]
            for place in range(start, end)
            if payload[place : place + 1] not in b"ab"
        ]
        payload = yield from make_changes(payload, _written(payload, letters, letter))
    return payload


def _written(payload: bytes, spans: Sequence[tuple[int, int]], letter: bytes) -> list[list[Edit]]:
    """Return the changes that fill each span with a letter, of those that aren't full of it.

    The first one stands last: it is tried first, so that of two names the first is called a.
    """
    filled = ((start, end, letter * (end - start)) for start, end in reversed(spans))
    return [[Edit(*each)] for each in filled if payload[each[0] : each[1]] != each[2]]


def _halves(start: int, end: int) -> list[tuple[int, int]]:
    middle = (start + end) // 2
    return [(start, middle), (middle, end)] if middle > start else []


def _put_second_name(pieces: Pieces) -> PassSearch:
    """Put b for names of one letter, where one is called a: they may have to differ."""
    payload = pieces.payload
    if not _NAME_A.search(payload):
        return payload
    if len(payload) > SINGLE_CHARACTERS:
        return (yield from _replace_equal_ones(payload, _LETTER, b"b"))
    names = [match.span() for match in _NAME.finditer(payload)]
    return (yield from make_changes(payload, _written(payload, names, b"b")))


def _lower_words(pieces: Pieces) -> PassSearch:
    """Put small letters for all capitals of a word together: half a word reads worse."""
    changes = [
        [Edit(*match.span(), match[0].lower())]
        for match in _WORD.finditer(pieces.payload)
        if match[0] != match[0].lower()
    ]
    return make_changes(pieces.payload, changes)


PLAINER_PASSES = (
    ReductionPass(name="lower words", stage=Stage.LOOKS, search=_lower_words),
    ReductionPass(name="put a for letters", stage=Stage.LOOKS, search=_put_letters),
    ReductionPass(name="put b for names", stage=Stage.LOOKS, search=_put_second_name),
    *(
        ReductionPass(name=name, stage=Stage.LOOKS, search=_plainer(pattern, text))
        for name, pattern, text in _LOOKS
    ),
)
