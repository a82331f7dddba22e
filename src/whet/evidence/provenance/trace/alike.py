"""Values that a reader takes for the same, and that a program doesn't."""

import re
import unicodedata
from collections.abc import Callable, Hashable
from contextlib import suppress

from whet.core.text.literal import literal_in

_LOOK_ALIKE = str.maketrans({
    "0": "o", "1": "l", "i": "l", "|": "l", "5": "s", "8": "b", "2": "z",
    "\u2010": "-", "\u2011": "-", "\u2012": "-", "\u2013": "-", "\u2014": "-", "_": "-",
})  # fmt: skip
_FRACTION, _DIGITS = re.compile(r"\d+\.\d+"), 6
_WHOLE = re.compile(r"0*(\d+)(?:\.0*)?")
"""A whole number, in one of the ways in which files have it: 7, 007, 7.0."""


_DATE = re.compile(r"datetime\.date(?:time)?\((\d+), (\d+), (\d+)(?:, 0, 0)?\)")


def read(words: str) -> object:
    """Return the value that is written so; what isn't a literal stays its words."""
    with suppress(ValueError):
        return literal_in(words)
    return words


def hashable(value: object) -> Hashable:
    """Return a value itself if it is a number or a text; else its words."""
    return value if isinstance(value, str | bytes | int | float) else repr(value)


def plain(words: str) -> str:
    """Return a value as a reader takes it: without its type, its case, its spaces, and what can't be seen.

    Characters that are another form of one (Unicode NFKC) become that one, a number is written in one way.
    """
    date = _DATE.fullmatch(words)
    if date is not None:
        return "{:0>4}-{:0>2}-{:0>2}".format(*date.groups())
    text = unicodedata.normalize("NFKC", _visible(_decoded(_text(words))))
    text = "".join(text.split()).casefold()
    number = _WHOLE.fullmatch(text)
    if number is not None:
        return number[1]
    if _FRACTION.fullmatch(text):  # what a sum or a product of floats has made of a number
        return f"{round(float(text), _DIGITS):.{_DIGITS}f}".rstrip("0").rstrip(".")
    return text


def as_it_looks(words: str) -> str:
    """Return a value as a reader takes it who confuses what looks alike."""
    text = plain(words)
    return text if text.replace(".", "").isdigit() else text.translate(_LOOK_ALIKE)


def difference(one: str, other: str) -> str:
    """Return in what two values differ that a reader takes for the same."""
    if _type_of(one) != _type_of(other):
        return "type"
    first, second = _text(one), _text(other)
    ways: dict[str, Callable[[str], str]] = {
        "case": str.casefold,
        "spaces": lambda text: "".join(text.split()),
        "invisible characters": _visible,
        "encoding": _decoded,
        "form of characters": lambda text: unicodedata.normalize("NFKC", text),
    }
    for name, way in ways.items():
        if way(first) == way(second):
            return name
    is_number = plain(one).replace(".", "").isdigit()
    return "way of writing a number" if is_number else "spelling"


def _text(words: str) -> str:
    value = read(words)
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


def _type_of(words: str) -> str:
    return words.partition("(")[0] if _DATE.fullmatch(words) else type(read(words)).__name__


def _decoded(text: str) -> str:
    """Return a text as it was before its bytes were read in another encoding; else as it is."""
    if not text.isascii():
        for encoding in ("cp1252", "latin-1"):
            with suppress(UnicodeError):
                return text.encode(encoding).decode("utf-8")
    return text


def _visible(text: str) -> str:
    """Return a text without what can't be seen, such as a byte order mark."""
    return "".join(each for each in text if unicodedata.category(each) != "Cf")
