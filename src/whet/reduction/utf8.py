"""How many places of a payload are no valid UTF-8.

Each candidate of a reduction is weighed by that, and decoding one that is mostly invalid costs
more than all else that is done for it. It differs in few bytes from the one before it: only
what lies around these is decoded.
"""

from collections.abc import Callable

_MOST_REMEMBERED = 1 << 20
"""whet doesn't keep larger payloads alive just to compare them with the next."""

_CONTINUING = range(0x80, 0xC0)

_NEAR = 256
"""Decoding this many bytes is faster than halving further."""


class BrokenPlaces:
    """Counts them; it remembers the last payload, which changes no answer."""

    def __init__(self) -> None:
        self._last = (b"", 0)

    def __call__(self, payload: bytes) -> int:
        """Return how many replacement characters a reader would see in a payload."""
        if payload.isascii():
            return 0
        other, known = self._last
        start, tail = _shared(payload, other)
        mine = payload[start : len(payload) - tail]
        count = known - _broken(other[start : len(other) - tail]) + _broken(mine)
        if len(payload) <= _MOST_REMEMBERED:
            self._last = payload, count
        return count


def _broken(text: bytes) -> int:
    if text.isascii():
        return 0
    return text.decode("utf-8", "replace").count("\ufffd") - text.count(b"\xef\xbf\xbd")


def _shared(one: bytes, other: bytes) -> tuple[int, int]:
    """Return how much of the beginnings and of the ends of two texts is decoded alike.

    A character starts at every byte that continues none, whatever stands before it: what is
    shared is cut there.
    """
    least = min(len(one), len(other))
    head = _most(least, lambda size: other.startswith(one[:size]))
    tail = _most(least - head, lambda size: other.endswith(one[len(one) - size :]))
    if head < max(len(one), len(other)):
        head -= 1
        while head > 0 and _continues(one[head]):
            head -= 1
    while tail and _continues(one[-tail]):
        tail -= 1
    return max(0, head), tail


def _continues(byte: int) -> bool:
    return byte in _CONTINUING


def _most(limit: int, holds: Callable[[int], bool]) -> int:
    """Return nearly the most that something holds for, at most a limit; for less it holds too."""
    if holds(limit):
        return limit
    low = 0
    while limit - low > _NEAR:
        middle = (low + limit) // 2
        if holds(middle):
            low = middle
        else:
            limit = middle
    return low
