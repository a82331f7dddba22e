"""Guards: values that stand out in hex, at the borders of rows, blocks or pages."""

from collections.abc import Iterator, Sequence

from whet.core.errors import BadUsage
from whet.make.elements.dtypes import Dtype
from whet.make.words import unknown_word

FIRST, LAST = "deadbeef", "beefdead"
"""What stands before what is guarded, and behind it."""

BORDERS = ("row", "block", "page")
PAGE_BYTES = 4096


def guard_bits(width: int) -> tuple[int, int]:
    """Return the bits of the first and the last guard, for numbers of so many bytes."""
    digits = 2 * width
    return int((FIRST * 4)[:digits], 16), int((LAST * 4)[:digits], 16)


def put_guards(content: bytearray, dtype: Dtype, shape: Sequence[int], border: str) -> None:
    """Write guards over the borders of an array.

    Args:
        content: the bytes of its numbers.
        dtype: their type.
        shape: how long each axis is.
        border: ``row``: the first and last number of each row; ``block``: also the first and last
            row of each pair of the last two axes; ``page``: the first and last number of each 4096 bytes.

    Raises:
        BadUsage: if there is no such border, or the type has no room for a guard.
    """
    if border not in BORDERS:
        raise unknown_word("border", border, BORDERS)
    if dtype.sort == "bool":
        raise BadUsage("bool has no room for a guard", hint="choose another dtype, such as uint8")
    first, last = (each.to_bytes(dtype.width, "little") for each in guard_bits(dtype.width))
    for start, is_first in _places(len(content) // dtype.width, dtype.width, shape, border):
        at = start * dtype.width
        content[at : at + dtype.width] = first if is_first else last


def _places(
    count: int, width: int, shape: Sequence[int], border: str
) -> Iterator[tuple[int, bool]]:
    """Yield where a guard stands, and whether it is one before what is guarded."""
    length = PAGE_BYTES // width if border == "page" else shape[-1] if shape else 1
    for start in range(0, count, length or 1):
        yield min(start + length, count) - 1, False
        yield start, True
    if border == "block" and len(shape) > 1:
        block = shape[-1] * shape[-2]
        for start in range(0, count, block or 1):
            yield from ((start + block - length + column, False) for column in range(length))
            yield from ((start + column, True) for column in range(length))
