"""Bytes from nothing."""

from itertools import cycle, islice

from whet.core.errors import BadUsage
from whet.make.edges import BYTES
from whet.make.elements.chance import whole
from whet.make.elements.fills import Filling
from whet.make.elements.guards import FIRST, LAST, PAGE_BYTES
from whet.make.memory import check_memory
from whet.make.words import unknown_word

BYTES_FILLS = ("count", "constant", "random", "deadbeef", "edge")
LENGTHS = {"row": 16, "block": 512, "page": PAGE_BYTES}
"""Of bytes: a line of a hex dump, a block of a disk, a page of memory."""

_LINE = 16


def raw_bytes(size: int, filling: Filling) -> bytes:
    """Return bytes: 1, 2, 3 … or other ones.

    Args:
        size: how many.
        filling: with what they are filled.

    Raises:
        BadUsage: if there is no such fill.
        NotEnoughMemory: if there are more than what the machine has left.
    """
    if size < 0:
        raise BadUsage(f"there can't be {size} bytes", hint="0 or more")
    check_memory(size, f"a file of {size} bytes")
    counted = bytes(range(256))
    match filling.name:
        case "count":
            return (counted * (size // 256 + 2))[1 : size + 1]
        case "constant":
            return bytes([int(filling.value.real) % 256]) * size
        case "random":
            return bytes(islice(whole(filling.seed, 0, 255), size))
        case "edge":
            return bytes(islice(cycle(b"".join(BYTES)), size))
        case "deadbeef":
            return _guarded(bytearray((counted * (size // 256 + 2))[1 : size + 1]), filling.border)
        case other:
            raise unknown_word("fill of bytes", other, BYTES_FILLS)


def _guarded(content: bytearray, border: str) -> bytes:
    if border not in LENGTHS:
        raise unknown_word("border", border, LENGTHS)
    first, last = bytes.fromhex(FIRST), bytes.fromhex(LAST)
    for start in range(0, len(content), LENGTHS[border]):
        end = min(start + LENGTHS[border], len(content))
        if end - start >= len(first) + len(last):
            content[start : start + len(first)] = first
            content[end - len(last) : end] = last
    return bytes(content)


def hex_dump(content: bytes) -> str:
    """Return bytes as a hex dump shows them."""
    return "\n".join(
        f"{start:08x}  {content[start : start + _LINE].hex(' ')}"
        for start in range(0, len(content), _LINE)
    )
