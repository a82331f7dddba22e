"""The gates of loops: a question in each round that costs next to nothing.

A loop is to be looked at every few milliseconds, whatever a round takes. Where what it iterates
over may be asked for one item too many when it has none left, it is handed to the loop in
stretches, and between two of them its gate is opened: a round then costs the look at an
attribute. Any other loop counts its rounds, by popping from a list.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _operator
import gc
import itertools
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_BLOCK_SECONDS = 0.005
_MOST_ROUNDS = 1 << 17


class _Flags(list[bool]):
    """What a gate that counts pops from, and whether one that doesn't is open."""

    __slots__ = ("_count", "_is_new", "_since", "n", "rounds")


class LoopGuard(_Flags):
    """What a loop asks in each round: whether it is the first one, or time to look at the clock.

    That is about every 5 ms. Python looks up a slot in a few nanoseconds.

    Attributes:
        n: whether it is open.
        rounds: called for how many rounds the loop may continue; 0: it is at its end.
    """

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__()
        self.n = False
        self.begin()

    def begin(self) -> None:
        """Be open in the first round."""
        object.__setattr__(self, "__class__", _Counting)
        self[:] = (True,)
        self._count, self._since = 1, time.perf_counter()

    def follow(self) -> None:
        """Be told when to open, by who hands out the rounds, and count none."""
        object.__setattr__(self, "__class__", LoopGuard)
        self.n, self._is_new, self.rounds = False, True, self._next_rounds

    def _next_rounds(self) -> int:
        if self.n and not self._is_new:
            return 0  # no round came of the last ones
        self.n, self._is_new = True, False
        return self._count

    def refill(self) -> None:
        """Be closed for some rounds again."""
        now = time.perf_counter()
        if now - self._since < _BLOCK_SECONDS / 2:
            self._count = min(self._count * 2, _MOST_ROUNDS)
        elif now - self._since > _BLOCK_SECONDS * 2:
            self._count = max(self._count // 2, 1)
        self._since = now
        self._close()

    def _close(self) -> None:
        self.n = False

    def end(self) -> None:
        """Open no more, and call nothing that a debugger or a profiler would see."""
        object.__setattr__(self, "__class__", LoopGuard)
        self.n = False
        self.rounds = [0, sys.maxsize].pop


class _Counting(LoopGuard):
    """A gate that counts the rounds: each look at it is one."""

    __slots__ = ()

    n = property(list[bool].pop)

    def _close(self) -> None:
        self.append(True)
        self += [False] * self._count


class _Loop(itertools.chain[object]):
    """An iterator over another one that can be referred to weakly."""

    __slots__ = ("__weakref__",)

    def rest(self) -> Iterable[object]:
        """Return the iterator that it is in: `chain` holds it after what is to come."""
        found: Iterable[object] = gc.get_referents(self)[-1]
        return found


class _Stretches(itertools.chain[object]):
    """An iterator that hands out another one in stretches."""

    __slots__ = ("__weakref__", "iterator")
    iterator: Iterator[object]

    def rest(self) -> Iterable[object]:
        """Return the iterator that it is in."""
        return self.iterator


_ask = _operator.methodcaller("rounds")


def over(iterated: Iterable[object], gate: LoopGuard) -> _Loop | _Stretches:
    """Return an iterator over ``iterated``, and have ``gate`` opened on the way."""
    if not _may_be_asked(iterated):
        return _Loop(iterated)
    gate.follow()
    iterator = iter(iterated)
    # All of this is C: there is no frame between the loop and what it iterates over.
    rounds = iter(map(_ask, itertools.repeat(gate)).__next__, 0)
    loop = _Stretches.from_iterable(map(itertools.islice, itertools.repeat(iterator), rounds))
    assert isinstance(loop, _Stretches)
    loop.iterator = iterator
    return loop


def _may_be_asked(iterated: object) -> bool:
    """Whether nothing comes of one `next` more when it has come to its end."""
    return type(iterated) in _ASKED


def _kinds() -> frozenset[type]:
    empty: dict[object, object] = {}
    listed: list[object] = []
    owned: list[Iterable[object]] = ["", b"", range(1), listed, tuple(listed), set(listed)]
    owned += [empty, empty.items(), empty.values()]
    made = (each for each in listed)
    others: tuple[Iterable[object], ...] = (range(1 << 64), reversed(listed), made)
    return frozenset({*map(type, owned), *(type(iter(each)) for each in (*owned, *others))})


_ASKED = _kinds()
