"""What a value of a column says: a number, a text, nothing; and what makes it an extreme."""

import math
import re
from collections.abc import Sized
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, TypeAlias

Measure: TypeAlias = tuple[str, Any]
"""What kind of value it is, and what it is compared by with others of that kind."""

MISSING: Measure = ("missing", 0)
NOT_A_NUMBER: Measure = ("NaN", 0)

WRITTEN_AS_FLOAT = ".0"
_WHOLE_FLOAT = re.compile(r"-?[0-9]+\.0")
_NUMERIC = re.compile(
    r"\s*[+-]?([0-9.]+(e[+-]?[0-9]+)?|inf|infinity|nan)\s*", re.IGNORECASE
).fullmatch
_STARTS = frozenset("+-.0123456789nNiI")


def starts_number(character: str) -> bool:
    """Whether a number may begin with it."""
    return character in _STARTS or character.isspace()


def may_be_number(text: str) -> bool:
    """Whether a text has a number's characters alone, if they are those of ASCII."""
    return not text.isascii() or _NUMERIC(text) is not None


def number_in(text: str) -> float | int | None:
    """Return the number that a text is; None: it isn't one."""
    stripped = text.strip()
    if stripped[:1] not in _STARTS or "_" in stripped:
        return None
    try:
        return int(stripped)
    except ValueError:
        pass
    try:
        return float(stripped)
    except ValueError:
        return None


def measure_of(value: Any) -> Measure:
    """Return what a value is compared by: numbers and times by themselves, all else by its length."""
    if value is None or value == "":
        return MISSING
    if isinstance(value, str):
        number = number_in(value)
        if number is None:
            return ("text", len(value))
        value = number
    if isinstance(value, float | Decimal):
        return NOT_A_NUMBER if math.isnan(value) else ("number", value)
    if isinstance(value, int):
        return ("number", value)
    if isinstance(value, datetime):
        return ("moment" if value.tzinfo is None else "moment with a zone", value)
    if isinstance(value, date | time | timedelta):
        return (type(value).__name__, value)
    if isinstance(value, Sized):
        return (type(value).__name__, len(value))
    return ("other", len(repr(value)))


def identity_of(value: object) -> object:
    """Return something hashable that is equal for equal values alone."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, float) and math.isnan(value):
        return NOT_A_NUMBER
    try:
        hash(value)
    except TypeError:
        return ("repr", repr(value))
    return value


def key_text(value: object) -> str | None:
    """Return a value as keys are compared; None: there is none."""
    if value is None or value == "":
        return None
    # pandas makes floats of numbers where one is missing, and writes them so.
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str) and _WHOLE_FLOAT.fullmatch(value):
        return value.removesuffix(WRITTEN_AS_FLOAT)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)
