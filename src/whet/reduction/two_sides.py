"""What decides between a case that passes and one that fails, seen from both of them.

Candidates are the numbers of differences, ascending. From the good side they are added to the
good case, and BAD is told where it then fails; from the bad side they are taken back from the
bad case, and BAD is told where it then *passes*. Both searches are the one delta debugging
(`whet.search.delta`), so both results are 1-minimal.
"""

from collections.abc import Sequence
from typing import TypeAlias

from whet.core.verdict import Verdict
from whet.reduction.candidates import keep_few, never_twice
from whet.search.proposal import Search

Numbers: TypeAlias = tuple[int, ...]
"""Of differences, ascending."""


def few_to_add(ranks: Sequence[int]) -> Search[Numbers, Numbers]:
    """Look for few differences that make the good case fail; all of them do, none does not.

    Args:
        ranks: for each difference how near it is to the one before it.
    """
    everything: Numbers = tuple(range(len(ranks)))
    return never_twice(keep_few(everything, tuple, everything, ranks), everything, ())


def few_to_take_back(ranks: Sequence[int], suspects: Numbers) -> Search[Numbers, Numbers]:
    """Look for few differences without which the bad case passes; without all of them it does.

    Those that make the good case fail are suspected first: where nothing else brings the failure
    too, one of them is enough, and a handful is searched instead of all.

    Args:
        ranks: for each difference how near it is to the one before it.
        suspects: what the search from the good side found.
    """
    everything: Numbers = tuple(range(len(ranks)))
    return never_twice(_few_to_take_back(ranks, suspects, everything), everything, ())


def _few_to_take_back(
    ranks: Sequence[int], suspects: Numbers, everything: Numbers
) -> Search[Numbers, Numbers]:
    for number in suspects[:_SINGLES]:
        verdicts = yield [(number,)]
        if verdicts[-1] is Verdict.BAD:
            return (number,)
    if len(suspects) < len(everything):
        verdicts = yield [suspects]
        if verdicts[-1] is Verdict.BAD:
            everything, ranks = suspects, [ranks[number] for number in suspects]
    return (yield from keep_few(everything, tuple, everything, ranks))


_SINGLES = 2
"""So many suspects are taken back alone first: where the failure needs all, the first is enough."""
