"""Names in text of any kind: shorter ones, and one instead of two, wherever they stand."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice, product

from whet.reduction.edit import Change, Edit, make_changes
from whet.reduction.formats.text.pieces import Pieces
from whet.reduction.order import TEXT
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage

_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
_WORD = re.compile(rb"(?:[A-Za-z_]|[\x80-\xff])(?:[A-Za-z0-9_]|[\x80-\xff])*")
_COMPOUND = re.compile(rb"[A-Za-z_][A-Za-z0-9_.:/-]*[A-Za-z0-9_]")
"""Such as ``job-060`` or ``layers.3.bias``: words that are one name to the program."""

_QUOTED = re.compile(rb'"[^"\\\n]*"')

MOST_TARGETS = 4
"""How many names whet tries instead of all the others."""


def _places(pattern: re.Pattern[bytes], payload: bytes) -> dict[bytes, list[int]]:
    """Return where each different text stands that matches."""
    places: dict[bytes, list[int]] = {}
    for match in pattern.finditer(payload):
        if pattern is _COMPOUND and _WORD.fullmatch(match[0]):
            continue
        places.setdefault(match[0], []).append(match.start())
    return places


def _put(starts: list[int], name: bytes, by: bytes) -> Change:
    return [Edit(start, start + len(name), by) for start in starts]


def short_names() -> Iterator[bytes]:
    """Yield ``a`` to ``z``, then ``aa``, ``ab`` and so on."""
    return (bytes(name) for size in count(1) for name in product(_LETTERS, repeat=size))


def _shortening(pattern: re.Pattern[bytes], pieces: Pieces, *, times: int = 1) -> PassSearch:
    places = _places(pattern, pieces.payload)
    taken = places if pattern is _WORD else {**places, **_places(_WORD, pieces.payload)}
    names = (name for name in short_names() if name not in taken)
    changes = [
        _put(starts, word, next(names))
        for word, starts in places.items()
        if len(word) > 1 and len(starts) >= times
    ]
    return make_changes(pieces.payload, changes)


def shared_names(texts: Sequence[bytes]) -> dict[bytes, bytes]:
    """Return what is shorter for each name that is in more than one text.

    A number for a string with its quotes, as JSON may have both, a short name for a longer one.
    """
    found: Counter[bytes] = Counter()
    taken: set[bytes] = set()
    for text in texts:
        words = _places(_WORD, text).keys()
        found.update(words | _places(_COMPOUND, text).keys() | _places(_QUOTED, text).keys())
        taken |= words
    names = (name for name in short_names() if name not in taken)
    numbers = map(b"%d".__mod__, count())
    return {
        name: next(numbers if name[:1] == b'"' else names)
        for name, times in found.items()
        if times > 1 and len(name) > 1
    }


def renamed(text: bytes, names: Mapping[bytes, bytes]) -> bytes:
    """Return a text with other names; the longest at a place counts, and no part of a word."""
    for pattern in (_QUOTED, _COMPOUND, _WORD):
        text = pattern.sub(lambda match: names.get(match[0], match[0]), text)
    return text


def _shorten_words(pieces: Pieces) -> PassSearch:
    """Give long words a short name, the same one wherever they stand."""
    return _shortening(_WORD, pieces)


def _shorten_repeated_words(pieces: Pieces) -> PassSearch:
    """Do that with those that stand in several places: elsewhere one may as well be cut."""
    return _shortening(_WORD, pieces, times=2)


def _shorten_compound_names(pieces: Pieces) -> PassSearch:
    """Give names that are made of words a short one, the same wherever they stand."""
    return _shortening(_COMPOUND, pieces)


def _put_first_letters(pieces: Pieces) -> PassSearch:
    """Put ``a``, or the first letter that is free, for a name of one letter, wherever it stands.

    A tag and its end must change together: letter by letter neither does.
    """
    places = _places(_WORD, pieces.payload)
    free = (name for name in short_names() if name not in places)
    letters = (name for name in places if len(name) == 1 and len(places[name]) > 1)
    changes: list[Change] = []
    for name, letter in zip(sorted(letters, key=TEXT.key), free, strict=False):
        if TEXT.is_better(letter, name):
            changes.append(_put(places[name], name, letter))
    return make_changes(pieces.payload, changes)


def _merge_names(pieces: Pieces) -> PassSearch:
    """Put one name for others that stand in more than one place: two things become one.

    What needs another thing may as well need itself, and then the other one can go.
    """
    payload = pieces.payload
    repeated = {
        name: starts
        for pattern in (_COMPOUND, _WORD)
        for name, starts in _places(pattern, payload).items()
        if len(starts) > 1
    }
    targets = sorted(repeated, key=TEXT.key)
    for target in islice(targets, MOST_TARGETS):
        others = [name for name in targets if TEXT.is_better(target, name)]
        changed = yield from make_changes(
            payload, [_put(repeated[name], name, target) for name in others]
        )
        if changed != payload:
            return changed
    return payload


NAME_PASSES = (
    ReductionPass(name="shorten names", stage=Stage.NAMES, search=_shorten_compound_names),
    ReductionPass(name="shorten repeated words", stage=Stage.NAMES, search=_shorten_repeated_words),
    ReductionPass(name="shorten words", stage=Stage.VALUES, search=_shorten_words),
    ReductionPass(name="put first letters", stage=Stage.LOOKS, search=_put_first_letters),
    ReductionPass(name="merge names", stage=Stage.NAMES, search=_merge_names),
)
"""These look at names, those in strings too."""
