"""What decides between a case that passes and one that fails, seen from both of them.

Candidates are the numbers of differences, ascending. From the good side they are added to the
good case, and BAD is told where it then fails; from the bad side they are taken back from the
bad case, and BAD is told where it then *passes*. Both results are 1-minimal: no difference of
them can be left out alone.
"""

from collections.abc import Sequence

from whet.core.verdict import Verdict
from whet.reduction.candidates import never_twice
from whet.search.proposal import Search
from whet.search.rendering import rendering
from whet.search.subsets.hierarchy import Numbers, Path, few_of

_SINGLES = 2
"""How many suspects whet reverts alone first: if the failure needs all, the first is enough."""


def few_to_add(paths: Sequence[Path]) -> Search[Numbers, Numbers]:
    """Look for few differences that make the good case fail; all of them do, none doesn't.

    Args:
        paths: where each difference stands.
    """
    everything: Numbers = tuple(range(len(paths)))
    return never_twice(few_of(paths), everything, ())


def few_to_take_back(paths: Sequence[Path], suspects: Numbers) -> Search[Numbers, Numbers]:
    """Look for few differences without which the bad case passes; without all of them it does.

    Those that make the good case fail are suspected first: where nothing else brings the failure
    too, one of them is enough, and a handful is searched instead of all.

    Args:
        paths: where each difference stands.
        suspects: what the search from the good side found.
    """
    everything: Numbers = tuple(range(len(paths)))
    return never_twice(_few_to_take_back(paths, suspects), everything, ())


def _few_to_take_back(paths: Sequence[Path], suspects: Numbers) -> Search[Numbers, Numbers]:
    for number in suspects[:_SINGLES]:
        verdicts = yield [(number,)]
        if verdicts[-1] is Verdict.BAD:
            return (number,)
    among: Numbers = tuple(range(len(paths)))
    if len(suspects) < len(among):
        verdicts = yield [suspects]
        among = suspects if verdicts[-1] is Verdict.BAD else among
    chosen = few_of([paths[number] for number in among])
    return (yield from rendering(chosen, lambda at: tuple(among[each] for each in at), among))
