"""Samples in a grid, such as pixels or the values of sound: lines of them go, values become 0.

What is taken away here is what is left out of a whole that can be built again from any of its
rows and columns, so that a candidate is of the same file format.
"""

from collections.abc import Callable

from whet.core.value_class import value_class
from whet.reduction.edit import keep_least
from whet.reduction.reduction_pass import PassSearch
from whet.search.subsets.delta import Kept

MOST_BLOCKS = 4096
"""How many blocks of values become 0 one by one; with more values, larger blocks."""


def keep_some(payload: bytes, size: int, build: Callable[[list[range]], bytes]) -> PassSearch:
    """Leave out as many of the lines of a grid as the failure survives; one at least stays.

    Args:
        payload: what is made smaller.
        size: how many lines there are.
        build: returns the payload of the lines in these ranges.
    """

    def render(kept: Kept) -> bytes:
        ranges = [*kept.blocks[: kept.start], *kept.blocks[kept.stop :]]
        if sum(map(len, ranges)) == size:
            return payload
        return build(ranges or [range(1)])

    return keep_least(size, render, start=payload)


@value_class
class Blocks:
    """Values in blocks of one length, the last one shorter."""

    count: int
    length: int

    @classmethod
    def of(cls, size: int) -> "Blocks":
        """Return the blocks that ``size`` values form."""
        length = -(-size // MOST_BLOCKS) if size else 1
        return cls(-(-size // length), length)


def zero_some(
    payload: bytes, values: bytes, width: int, build: Callable[[bytes], bytes], *, zero: bytes
) -> PassSearch:
    """Make as many values 0 as the failure survives.

    Args:
        payload: what is made plainer.
        values: its values.
        width: bytes of one value.
        build: returns the payload of other values.
        zero: a value of 0.
    """
    blocks = Blocks.of(len(values) // width)
    step = blocks.length * width
    places = [at for at in range(0, len(values), step) if _is_other(values[at : at + step], zero)]

    def render(kept: Kept) -> bytes:
        stays = set(kept.elements())
        if len(stays) == len(places):
            return payload
        new = bytearray(values)
        for number, at in enumerate(places):
            if number not in stays:
                size = len(new[at : at + step])
                new[at : at + step] = zero * (size // width)
        return build(bytes(new))

    return keep_least(len(places), render, start=payload)


def _is_other(values: bytes, zero: bytes) -> bool:
    return values != zero * (len(values) // len(zero))
