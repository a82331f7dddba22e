"""The order of payloads: which of two is the better reproduction.

Smaller isn't all: a person has to read what is left. The order compares, in this turn:

1. The *weight*: one for each byte, and on top of that

   - three for each byte that is neither printable ASCII nor space, tab, line feed or
     carriage return;
   - thirteen for each place that isn't valid UTF-8, so that part of a character is never
     better than the whole one, which weighs 16 at most;
   - two for each bracket that has no partner (the kinds are counted, not nested) and for
     an odd number of double quotes: ``()`` is better than ``(``.

2. The length in bytes.
3. The first byte that differs, by `NATURAL`: digits, small letters, capitals, space, line
   feed, other printable ASCII, then the rest. ``0`` is better than ``7``, ``a`` than ``q``.

The order is total, as `NATURAL` has each byte once, and every payload has finitely many
better ones, as the weight is at least the length: a search that only moves to better
payloads comes to an end.
"""

import string
from collections.abc import Callable
from operator import sub
from typing import TypeAlias

from whet.core.value_class import value_class
from whet.reduction.utf8 import BrokenPlaces

SortKey: TypeAlias = tuple[float, tuple[object, ...]]

STRANGE_BYTE_WEIGHT = 3
BROKEN_CHARACTER_WEIGHT = 13
LONELY_BRACKET_WEIGHT = 2

_PLAIN = string.printable.replace("\x0b", "").replace("\x0c", "").encode()
_SIGNS = (b"(", b")", b"[", b"]", b"{", b"}", b'"')
_ORDINARY = bytes(byte for byte in _PLAIN if bytes([byte]) not in _SIGNS)
_NO_SIGNS = bytes(byte for byte in range(256) if bytes([byte]) not in _SIGNS)
_READ_EASILY = (string.digits + string.ascii_letters + " \n").encode()

NATURAL = bytes(
    [
        *_READ_EASILY,
        *(byte for byte in sorted(_PLAIN) if byte > ord(" ") and byte not in _READ_EASILY),
        *b"\t\r",
        *(byte for byte in range(256) if byte not in _PLAIN),
    ]
)
"""Every byte once, the one that reads best first."""

_broken_places = BrokenPlaces()

_RANK = bytes(NATURAL.index(byte) for byte in range(256))


def weight(payload: bytes) -> int:
    """Return how much there is to read, in plain characters."""
    # One pass over a large payload, then counts over the little that is left of it.
    special = payload.translate(None, _ORDINARY)
    if not special:
        return len(payload)
    signs = special.translate(None, _NO_SIGNS)
    count = signs.count
    openings = (count(b"("), count(b"["), count(b"{"))
    closings = (count(b")"), count(b"]"), count(b"}"))
    quotes = count(b'"')
    strange = len(special) - len(signs)
    lonely: int = sum(map(abs, map(sub, openings, closings))) + quotes % 2
    total = len(payload) + LONELY_BRACKET_WEIGHT * lonely
    if strange:
        total += STRANGE_BYTE_WEIGHT * strange + BROKEN_CHARACTER_WEIGHT * _broken_places(payload)
    return total


def _rank(payload: bytes) -> tuple[int, bytes]:
    return len(payload), payload.translate(_RANK)


@value_class
class Order:
    """Which of two payloads is the better reproduction: a total one, as this module tells.

    Attributes:
        weight: how much there is to read; ``math.inf`` for what isn't of the kind that it is the
            order of. No payload may have endlessly many lighter ones.
        rank: decides between payloads of one weight; asked for those alone.
    """

    weight: Callable[[bytes], float]
    rank: Callable[[bytes], tuple[object, ...]] = _rank

    def key(self, payload: bytes) -> SortKey:
        """Return what sorts payloads from the best reproduction to the worst."""
        return self.weight(payload), self.rank(payload)

    def is_better(self, payload: bytes, other: bytes, *, other_weight: float | None = None) -> bool:
        """Return whether ``payload`` stands before ``other``; the same as comparing the keys.

        Args:
            payload: the candidate.
            other: what it is compared with.
            other_weight: the weight of ``other``, if it is known.
        """
        mine = self.weight(payload)
        yours = self.weight(other) if other_weight is None else other_weight
        return mine < yours or (mine == yours and self.rank(payload) < self.rank(other))


TEXT = Order(weight)
"""The order of payloads whose bytes are what a person reads."""
