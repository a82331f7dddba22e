"""Which few of many places matter, where each run tells only by chance.

Neighbouring places are tried together, half of what is left at a time (group testing: Dorfman 1943).
It takes a number of runs that grows with the logarithm of the places. It proves nothing: what
is left is to be looked at one by one, in runs of its own (`whet.search.flaky.amplification`).
"""

from collections.abc import Sequence
from itertools import chain
from typing import TypeVar

from whet.core.verdict import Verdict
from whet.search.flaky.failure_rates import Runs
from whet.search.proposal import Search
from whet.search.round import Round

PlaceT = TypeVar("PlaceT")

ENOUGH = 4
_MOST_PARTS = 4
_LEAST_ROUNDS, _MOST_ROUNDS = 3, 8
_CLEAR = 3
"""After this many failures of one part, the parts without any are out."""

_SHARE_OF_BEST = 1 / 3
"""A part that fails this much more rarely than the best one is out."""


def narrowed(
    places: Sequence[PlaceT], plain: Runs, *, enough: int = ENOUGH
) -> Search[tuple[PlaceT, ...], tuple[PlaceT, ...]]:
    """Propose parts of the places in rounds, until few are left; return these.

    Args:
        places: in an order in which neighbours belong together.
        plain: runs without any of them.
        enough: number of places at which it stops.

    Returns:
        what is left, in the same order; all of them where no part fails more often than without.
    """
    kept: list[tuple[PlaceT, ...]] = [tuple(places)]
    usual = plain.failed / plain.total if plain.total else 0.0
    while sum(map(len, kept)) > enough and any(len(each) > 1 for each in kept):
        parts = [half for each in kept for half in _halves(each)]
        runs = yield from _tried(parts)
        rates = [each.failed / each.total if each.total else 0.0 for each in runs]
        least = max(usual, max(rates) * _SHARE_OF_BEST)
        best = sorted(range(len(parts)), key=lambda at: -rates[at])[:_MOST_PARTS]
        left = [parts[at] for at in sorted(best) if rates[at] > least or rates[at] == max(rates)]
        if max(rates) <= usual:
            return tuple(chain.from_iterable(kept))
        kept = left
    return tuple(chain.from_iterable(kept))


def _halves(part: tuple[PlaceT, ...]) -> list[tuple[PlaceT, ...]]:
    middle = (len(part) + 1) // 2
    return [half for half in (part[:middle], part[middle:]) if half]


def _tried(
    parts: Sequence[tuple[PlaceT, ...]],
) -> Search[tuple[PlaceT, ...], list[Runs]]:
    """Run each some times, and on while none of them has failed clearly, and one not at all."""
    runs = [Runs() for _ in parts]
    for number in range(_MOST_ROUNDS):
        failures = [each.failed for each in runs]
        if number >= _LEAST_ROUNDS and (min(failures) or max(failures) >= _CLEAR):
            break
        verdicts = yield Round(parts)
        runs = [
            each if verdict is Verdict.SKIP else each.plus(failed=verdict is Verdict.BAD)
            for each, verdict in zip(runs, verdicts, strict=True)
        ]
    return runs
