"""Simpler numbers, strings, words and blanks, in text of any kind."""

import re
from collections.abc import Callable, Iterator

from whet.core.verdict import Verdict
from whet.reduction.edit import Edit, first_that_fails, make_changes
from whet.reduction.formats.text.pieces import Pieces, parse_tokens
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage
from whet.search.proposal import Search

_NUMBER = re.compile(rb"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
MAX_DIGITS = 1000
"""Longer whole numbers only lose bytes: Python refuses to read more than 4300 digits."""

_PARTS_NOTHING = re.compile(rb"(?<![\w\s])[ \t\r\n]+|(?<!\s)[ \t\r\n]+(?!\w)")
"""Blanks beside a sign, or at an end. Those in strings too: nobody looks at strings here."""

_QUOTES = (b'"""', b"'''", b'"', b"'")
_UNIT = re.compile(
    rb"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\.|[\x00-\x7f]|[\xc0-\xff][\x80-\xbf]*|.", re.DOTALL
)


def _tokens(pieces: Pieces) -> Iterator[tuple[int, bytes]]:
    return zip(pieces.bounds, pieces.texts(), strict=False)


def _numbers(pieces: Pieces) -> Iterator[tuple[int, bytes]]:
    return ((start, text) for start, text in _tokens(pieces) if _NUMBER.fullmatch(text))


def _putting_number(number: bytes) -> Callable[[Pieces], PassSearch]:
    def search(pieces: Pieces) -> PassSearch:
        changes = [
            [Edit(start, start + len(text), number)]
            for start, text in _numbers(pieces)
            if text not in {b"0", b"1"}
        ]
        return make_changes(pieces.payload, changes)

    return search


def _shorten_numbers(pieces: Pieces) -> PassSearch:
    """Bring each number down on its own: a shorter form, then a smaller whole number."""
    payload = pieces.payload
    shift = 0
    for start, text in _numbers(pieces):
        if len(text) > 1 or text > b"1":
            best = yield from _smallest(
                payload[: start + shift], text, payload[start + shift + len(text) :]
            )
            payload = payload[: start + shift] + best + payload[start + shift + len(text) :]
            shift += len(best) - len(text)
    return payload


def _smallest(head: bytes, number: bytes, tail: bytes) -> Search[bytes, bytes]:
    found = yield from first_that_fails(head + form + tail for form in _shorter_forms(number))
    if found is not None:
        number = found[len(head) : len(found) - len(tail)]
    if not number.isdigit() or len(number) > MAX_DIGITS:
        return number
    value = int(number)
    smallest = yield from smallest_integer(value, lambda each: head + b"%d" % each + tail)
    return number if smallest == value else b"%d" % smallest


def _shorter_forms(number: bytes) -> list[bytes]:
    """Return the whole part, then more and more of the fraction, all without the exponent."""
    mantissa, _, _ = number.lower().partition(b"e")
    whole, _, fraction = mantissa.partition(b".")
    whole = whole.lstrip(b"0") or b"0"
    forms = [whole, *(b"%b.%b" % (whole, fraction[:end]) for end in range(1, len(fraction) + 1))]
    return [form for form in forms if form != number]


def smallest_integer(value: int, render: Callable[[int], bytes]) -> Search[bytes, int]:
    """Go down by halves of the digits, then by halves; where only ``value - 1`` fails, search.

    Two candidates tell a number that is needed as it is.
    """
    while value > 1:
        digits = len(str(value)) // 2
        steps = sorted({value // 10**digits, value // 2, value - 1})
        verdicts = yield [render(step) for step in steps]
        if verdicts[-1] is not Verdict.BAD:
            return value
        below, value = value // 2, steps[len(verdicts) - 1]
        if value > below:
            return (yield from _bisect(below, value, render))
    return value


def _bisect(good: int, bad: int, render: Callable[[int], bytes]) -> Search[bytes, int]:
    while bad - good > 1:
        middle = (good + bad) // 2
        verdicts = yield [render(middle)]
        if verdicts[-1] is Verdict.BAD:
            bad = middle
        else:
            good = middle
    return bad


def _strings(pieces: Pieces) -> Iterator[tuple[int, int]]:
    """Yield where the contents of each string are that isn't empty."""
    for start, text in _tokens(pieces):
        quote = next((quote for quote in _QUOTES if text.startswith(quote)), None)
        if quote is not None and len(text) > 2 * len(quote):
            yield start + len(quote), start + len(text) - len(quote)


def _putting_in_strings(contents: bytes) -> Callable[[Pieces], PassSearch]:
    def search(pieces: Pieces) -> PassSearch:
        changes = [
            [Edit(start, end, contents)]
            for start, end in _strings(pieces)
            if pieces.payload[start:end] != contents
        ]
        return make_changes(pieces.payload, changes)

    return search


def _put_name(pieces: Pieces) -> PassSearch:
    """Put a name for each string, quotes included."""
    changes = [
        [Edit(start, start + len(text), b" a")]
        for start, text in _tokens(pieces)
        if text.startswith(_QUOTES) and len(text) > 1
    ]
    return make_changes(pieces.payload, changes)


def _shorten_strings(pieces: Pieces) -> PassSearch:
    """Delete characters and escapes in all strings at once."""
    changes = [
        [Edit(*unit.span())]
        for start, end in _strings(pieces)
        for unit in _UNIT.finditer(pieces.payload, start, end)
    ]
    return make_changes(pieces.payload, changes)


def _plain_escapes(pieces: Pieces) -> PassSearch:
    """Put a for what is more than one byte but one character of a string."""
    changes = [
        [Edit(*unit.span(), b"a")]
        for start, end in _strings(pieces)
        for unit in _UNIT.finditer(pieces.payload, start, end)
        if len(unit[0]) > 1
    ]
    return make_changes(pieces.payload, changes)


def _plain_line_ends(pieces: Pieces) -> PassSearch:
    """Put line feeds for all other line ends at once."""
    change = [
        Edit(start, start + len(text), b"\n")
        for start, text in _tokens(pieces)
        if text in {b"\r\n", b"\r"}
    ]
    return make_changes(pieces.payload, [change] if change else [])


def _delete_blanks(pieces: Pieces) -> PassSearch:
    """Delete those that part no two words at once, then all that can go."""
    payload = _PARTS_NOTHING.sub(b"", pieces.payload)
    if payload != pieces.payload and (yield [payload])[-1] is Verdict.BAD:
        pieces = parse_tokens(payload)
    changes = [
        [Edit(start, start + len(text))] for start, text in _tokens(pieces) if text.isspace()
    ]
    return (yield from make_changes(pieces.payload, changes, again=False))


def _single_blanks(pieces: Pieces) -> PassSearch:
    changes = [
        [Edit(start, start + len(text), b" ")]
        for start, text in _tokens(pieces)
        if text.isspace() and b"\n" not in text and b"\r" not in text and text != b" "
    ]
    return make_changes(pieces.payload, changes)


def _change_alike(pieces: Pieces) -> PassSearch:
    """Delete numbers and strings that say the same together, or put a plain one for them."""
    payload = pieces.payload
    if b"\0" in payload:
        return payload  # it is no text
    for put in (b"", b"0", b"1", b'""'):
        places: dict[bytes, list[Edit]] = {}
        for start, text in _tokens(parse_tokens(payload)):
            is_value = _NUMBER.fullmatch(text) or text.startswith(_QUOTES)
            if is_value and len(text) > len(put):
                places.setdefault(text, []).append(Edit(start, start + len(text), put))
        changes = [edits for edits in places.values() if len(edits) > 1]
        payload = yield from make_changes(payload, changes)
    return payload


VALUE_PASSES = (
    ReductionPass(name="plain line ends", stage=Stage.LINES, search=_plain_line_ends),
    ReductionPass(name="delete blanks", stage=Stage.TOKENS, search=_delete_blanks),
    ReductionPass(name="single blanks", stage=Stage.TOKENS, search=_single_blanks),
    ReductionPass(name="put 0 for numbers", stage=Stage.VALUES, search=_putting_number(b"0")),
    ReductionPass(name="put 1 for numbers", stage=Stage.VALUES, search=_putting_number(b"1")),
    ReductionPass(name="empty strings", stage=Stage.VALUES, search=_putting_in_strings(b"")),
    ReductionPass(name="put a in strings", stage=Stage.VALUES, search=_putting_in_strings(b"a")),
    ReductionPass(name="put a for strings", stage=Stage.VALUES, search=_put_name),
    ReductionPass(name="shorten strings", stage=Stage.VALUES, search=_shorten_strings),
    ReductionPass(name="put a for escapes", stage=Stage.VALUES, search=_plain_escapes),
    ReductionPass(name="shorten numbers", stage=Stage.VALUES, search=_shorten_numbers),
    ReductionPass(name="change alike values", stage=Stage.PAIRS, search=_change_alike),
)
"""These look at tokens."""
