"""Fewer tests before the one that fails: which of them, in which order, make it fail."""

from collections.abc import Sequence
from typing import TypeAlias

from whet.core.verdict import Verdict
from whet.reduction.candidates import keep_few, never_twice
from whet.search.proposal import Search

Tests: TypeAlias = tuple[str, ...]
"""Identifiers of tests, in the order in which they run."""


def reduce_tests(collected: Tests, failing: str) -> Search[Tests, Tests | None]:
    """Look for few tests that make one fail.

    The first candidate is that one alone; then it stands behind all that ran before it; then in
    the order in which all of them ran, as what is imported for later tests may matter too.

    Returns:
        The tests that are left; None if it fails in none of these ways.
    """
    return never_twice(_reduce(collected, failing))


def _reduce(collected: Tests, failing: str) -> Search[Tests, Tests | None]:
    place = collected.index(failing)
    alone: Tests = (failing,)
    starts = dict.fromkeys([alone, (*collected[:place], failing), collected])
    for start in starts:
        verdicts = yield [start]
        if verdicts[-1] is Verdict.BAD:
            break
    else:
        return None
    if start == alone:
        return alone
    others = [each for each in range(len(start)) if each != place]

    def render(kept: Sequence[int]) -> Tests:
        return tuple(start[each] for each in sorted([*kept, place]))

    return (yield from keep_few(others, render, start))
