"""What a value says that turned up elsewhere: a guard, or the coordinates of an element."""

import math
import re
from collections.abc import Iterator, Sequence

from whet.make.elements.dtypes import DTYPES
from whet.make.elements.fills import step_of
from whet.make.elements.guards import FIRST, LAST, guard_bits

_HEX = re.compile(r"(0x)?([0-9a-f]{4,32})", re.IGNORECASE)
_DIGITS_SHOWN = 5e-4
"""Libraries print four digits: a number this close, relative to its size, is the same."""


def parsed(text: str) -> float | None:
    """Return the number that a value is as text; None if it is none."""
    words = text.strip().replace("_", "")
    try:
        return int(words, 0)
    except ValueError:
        pass
    try:
        return float(words)
    except ValueError:
        return None


def guards_like(text: str) -> Iterator[str]:
    """Yield in words which guards a value is: by its hex digits, or as a number of a type."""
    words = text.strip().replace("_", "").replace(" ", "").replace("\\x", "")
    digits = _HEX.fullmatch(words)
    if digits is not None and (digits[1] or re.search("[a-f]", words.lower())):
        yield from _by_digits(digits[2].lower())
        return
    number = parsed(text)
    if number is not None and math.isfinite(number) and number:
        yield from _by_number(number)


def _by_digits(digits: str) -> Iterator[str]:
    width = len(digits) // 2
    if digits in (FIRST * 4)[: 2 * width] or digits in (LAST * 4)[: 2 * width]:
        place = "before" if digits == (FIRST * 4)[: len(digits)] else "behind"
        yield f"a guard (0x{digits}), {place} what it guards"
        return
    swapped = bytes.fromhex(digits)[::-1].hex() if len(digits) % 2 == 0 else ""
    if swapped and swapped in {(FIRST * 4)[: 2 * width], (LAST * 4)[: 2 * width]}:
        place = "before" if swapped == (FIRST * 4)[: 2 * width] else "behind"
        yield f"a guard (0x{swapped}, its bytes in little-endian order), {place} what it guards"
    elif digits in FIRST * 3 or (swapped and swapped in FIRST * 3):
        yield f"a part of a guard (0x{FIRST} repeated), read from its middle"


def _by_number(number: float) -> Iterator[str]:
    for dtype in DTYPES.values():
        if dtype.sort in {"bool", "complex"} or dtype.width == 1:
            continue
        for bits, place in zip(guard_bits(dtype.width), ("before", "behind"), strict=True):
            (guard,) = dtype.decoded(bits.to_bytes(dtype.width, "little"))
            assert not isinstance(guard, complex), "these types have one part"
            near = 0 if dtype.is_whole else _DIGITS_SHOWN * abs(guard)
            if abs(number - guard) <= near:
                yield f"a guard (0x{bits:0{2 * dtype.width}x} as {dtype.name}), {place} what it guards"


def coordinates(number: float, shape: Sequence[int]) -> tuple[int, ...] | None:
    """Return the index of the element that holds a coordinate in an array of a shape; None: none."""
    if not math.isfinite(number):
        return None
    rest = round(number)
    if rest != number or rest < 0 or not shape:
        return None
    step, index = step_of(shape), list[int]()
    for _ in shape[1:]:
        rest, last = divmod(rest, step)
        index.insert(0, last)
    index.insert(0, rest)
    is_there = all(at < length for at, length in zip(index, shape, strict=True))
    return tuple(index) if is_there else None
