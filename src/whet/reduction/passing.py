"""The payload that passes and is nearest to one that fails: what the failure hangs on.

A search meets it on its way: to show that nothing can go from the result, it tried the result
without each of its parts. So what was judged GOOD is kept, as long as it is small, and the one
that differs in the shortest stretch from the result is found among it without another run.
"""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

MOST_BYTES = 64 * 1024
"""A payload larger than this tells nobody anything beside another one."""

_MOST_KEPT = 256
_MOST_KEPT_BYTES = 4 * 1024 * 1024

_IN_A_WORD = re.compile(rb"[A-Za-z0-9_]*+")
_LETTERS_BEHIND, _LETTERS_AHEAD = re.compile(rb"[A-Za-z]++\Z"), re.compile(rb"[A-Za-z]++")
_QUOTES = (b'"', b"'", b"`")
_FEWEST_LETTERS, _LONGEST_WORD = 2, 40
"""A word with one more letter has nothing left in common."""

MOST_NEIGHBOURS = 24
_STAND_INS = (b"0", b"1", b"a")


@dataclass(slots=True)
class Passing:
    """What was judged GOOD, the last of it: a search ends with what is near to its result."""

    _seen: deque[bytes] = field(default_factory=deque[bytes])
    _bytes: int = 0

    def note(self, payload: bytes) -> None:
        """Keep a payload that passes, for a while."""
        if len(payload) > MOST_BYTES:
            return
        self._seen.append(payload)
        self._bytes += len(payload)
        while len(self._seen) > _MOST_KEPT or self._bytes > _MOST_KEPT_BYTES:
            self._bytes -= len(self._seen.popleft())

    def nearest_to(self, payload: bytes, *, is_source: bool = False) -> bytes | None:
        """Return the one that differs least from ``payload``; None if none was kept.

        Args:
            payload: that.
            is_source: what differs by a typo alone doesn't count.
        """
        others = (each for each in self._seen if not (is_source and is_typo(each, payload)))
        return min(others, key=lambda each: _nearness(each, payload), default=None)


def neighbours(payload: bytes) -> Iterator[bytes]:
    """Yield payloads that differ from ``payload`` in one place, spread over all of it.

    For a result of which nothing smaller passes.
    """
    places = max(1, MOST_NEIGHBOURS // (2 * len(_STAND_INS)))
    step = max(1, -(-len(payload) // places))
    for start in range(0, len(payload), step):
        for stand_in in _STAND_INS:
            yield payload[:start] + stand_in + payload[start + 1 :]
            yield payload[: start + 1] + stand_in + payload[start + 1 :]


def is_typo(one: bytes, other: bytes) -> bool:
    """Whether two programs differ within a word alone: what passes by that tells nobody anything.

    A program refuses `retrun` without a look at what it returns. A word more or less, another
    number, and a text in quotes may each mean something else.
    """
    start, end = differing(one, other)
    parts = one[start : len(one) - end], other[start : len(other) - end]
    before = _LETTERS_BEHIND.search(one[max(0, start - _LONGEST_WORD) : start])
    after = _LETTERS_AHEAD.match(one, len(one) - end, len(one) - end + _LONGEST_WORD)
    letters = (b"" if before is None else before[0]) + (b"" if after is None else after[0])
    if not letters or not all(map(_IN_A_WORD.fullmatch, parts)):
        return False
    first = start - (0 if before is None else len(before[0]))
    is_quoted = one[max(0, first - 1) : first] in _QUOTES
    return not is_quoted and len(letters) >= _FEWEST_LETTERS


def differing(one: bytes, other: bytes) -> tuple[int, int]:
    """Return how much two payloads have in common at their start and, beyond that, at their end."""
    shortest = min(len(one), len(other))
    start = _common(one, other, shortest)
    rest = shortest - start
    end = _common(one[len(one) - rest :][::-1], other[len(other) - rest :][::-1], rest)
    return start, end


def _nearness(payload: bytes, best: bytes) -> tuple[int, int, bytes]:
    start, end = differing(payload, best)
    longer = max(len(payload), len(best))
    return longer - start - end, abs(len(payload) - len(best)), payload


def _common(one: bytes, other: bytes, most: int) -> int:
    """Return how many bytes are the same at the start, found by halves: comparing is quick."""
    if one[:most] == other[:most]:
        return most
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low
