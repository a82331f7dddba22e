"""Growing first to shrink later: from a larger payload that says the same to a better one.

All else in a reduction is downhill, so it ends where no single edit helps. Some edits help only
after one that doesn't, such as reducing each use of a name on its own once it is inlined. Such a
way is tried where nothing else helps any more, and for a bounded while: its steps are candidates
that are marked, so that none of them is taken for a result.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from whet.core.verdict import Verdict
from whet.reduction.problem import Reduced, ReductionProblem
from whet.reduction.statistics import Reduction, Turns
from whet.search.batch import LazyBatch
from whet.search.proposal import Search

GROWING = "grow to shrink"

MOST_GROWTH, LEAST_GROWN_BYTES = 2, 256
"""The most that a larger payload may exceed the best one: this factor, and these bytes more."""

MOST_STEPS = 200
"""How many candidates whet tries on the way from a larger payload to a better one."""


@dataclass(slots=True)
class Detours:
    """The detours of one reduction; none is taken twice.

    Attributes:
        grow: yields larger payloads that say the same as one.
    """

    grow: Callable[[bytes], Iterator[bytes]]
    _taken: set[bytes] = field(default_factory=set[bytes])

    def take(
        self,
        problem: ReductionProblem,
        turns: Turns,
        reduce: Callable[[ReductionProblem], Search[Reduced, Reduction]],
    ) -> Search[Reduced, None]:
        """Go on from each larger payload that fails, until the best one is a better one."""
        best = problem.best
        for grown in self.grow(best):
            is_small = len(grown) <= MOST_GROWTH * len(best) + LEAST_GROWN_BYTES
            if grown in self._taken or not is_small or not problem.allows(grown):
                continue
            self._taken.add(grown)
            start = _marked(problem, grown)
            verdicts = yield [start]
            turns.candidates += 1
            if verdicts[-1] is not Verdict.BAD:
                continue
            if not start.is_step:
                problem.adopt(grown)
            else:
                another = ReductionProblem(grown, problem.order, allows=problem.allows)
                yield from _steps(problem, turns, reduce(another))
            if problem.best != best:
                turns.successes += 1
                return


def _steps(
    problem: ReductionProblem, turns: Turns, search: Search[Reduced, Reduction]
) -> Search[Reduced, None]:
    """Follow a search until it comes upon something better, or has taken too long."""
    left = MOST_STEPS
    try:
        wanted = next(search)
        while left > 0:
            batch = LazyBatch(_marked(problem, each.data) for each in islice(wanted, left))
            verdicts = yield batch
            left -= len(verdicts)
            turns.candidates += len(verdicts)
            last = batch[len(verdicts) - 1]
            if verdicts[-1] is Verdict.BAD and not last.is_step:
                problem.adopt(last.data)
                return
            if left > 0:
                wanted = search.send(verdicts)
    except StopIteration:
        return
    finally:
        search.close()


def _marked(problem: ReductionProblem, payload: bytes) -> Reduced:
    is_better = problem.order.is_better(payload, problem.best)
    return Reduced(payload, GROWING, is_step=not is_better)
