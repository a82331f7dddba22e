"""Quantities as a person reads them."""

import math
from collections.abc import Sequence

_MINUTE, _HOUR = 60, 3600
_KILO = 1000
_THREE_DIGITS = 100
_MOST_DIGITS, _LARGEST = 18, 10**18 - 1  # in 64 bits, as a notebook keeps numbers
_MOST_BYTES = 10**300  # more than that is no float


def shown_seconds(seconds: float) -> str:
    """Return a duration with two or three digits: ``41 ms``, ``2.5 s``, ``3 min 20 s``."""
    if not math.isfinite(seconds):
        return f"{seconds} s"
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < _MINUTE:
        return f"{seconds:.1f} s"
    if seconds < _HOUR:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} min"


def shown_bytes(count: int) -> str:
    """Return a size in units of 1000, as disks and `ls --si` count: ``31 B``, ``48.2 kB``."""
    if count < _KILO:
        return f"{count} B"
    size = float(min(count, _MOST_BYTES))
    for unit in ("kB", "MB", "GB", "TB"):
        size /= _KILO
        if size < _KILO:
            return f"{size:.1f} {unit}" if size < _THREE_DIGITS else f"{size:.0f} {unit}"
    return f"{size:.0f} PB"


def listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them: ``rows, cells and bytes``."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def bounded(digits: str) -> int:
    """Read a number that nobody vouches for; what is longer than 64 bits is the largest in them.

    int() refuses more than 4300 digits.
    """
    digits = digits.lstrip("0") or "0"
    return int(digits) if len(digits) <= _MOST_DIGITS else _LARGEST


def shown_count(count: int, noun: str) -> str:
    """Return a number with its noun: ``1 trial``, ``2 trials``, ``2 guesses``."""
    is_after_vowel = noun[-2:-1] in "aeiou"
    plural = f"{noun}s" if noun[-1] != "y" or is_after_vowel else f"{noun[:-1]}ies"
    plural = f"{noun}es" if noun[-1] == "s" else plural
    return f"{count:,} {noun if count == 1 else plural}"
