"""The shape that every search has: it proposes candidates and is told verdicts.

A search is a generator. It yields a *batch*: candidates in order of preference. It is sent
the verdicts of that batch from the first candidate up to and including the first BAD one,
or of all of them if none is BAD. What lies behind the first BAD one is never told, even if
it was run, so that running a batch on many cores changes no result. The batch with no
candidates is not allowed. A batch that is a `whet.search.round.Round` is asked as a whole,
and told all verdicts. What the generator returns is the search's result.

Where each verdict counts, whatever the others are, as in a search among failures that come only
sometimes, a search yields a `WholeBatch` instead: it is sent the verdicts of all of it.

Budgets, clocks, repeats and parallel runs belong to the one driver (`whet.workbench.driver`)
that runs searches, never to the searches.
"""

from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias, TypeVar

from whet.core.verdict import Verdict
from whet.search.round import Round

CandidateT = TypeVar("CandidateT")
ResultT = TypeVar("ResultT")

Search: TypeAlias = Generator[Sequence[CandidateT], Sequence[Verdict], ResultT]


class WholeBatch(tuple[CandidateT, ...]):
    """A batch of which every verdict is told; a candidate may stand in it twice."""

    __slots__ = ()


def run_search(
    search: Search[CandidateT, ResultT], test: Callable[[CandidateT], Verdict]
) -> ResultT:
    """Run ``search`` to its end, one candidate after the other, with a test that is a function.

    This is how tests and callers without processes drive a search.
    """
    try:
        batch = next(search)
        while True:
            batch = search.send(_verdicts(batch, test))
    except StopIteration as end:
        result: ResultT = end.value
        return result


def _verdicts(
    batch: Sequence[CandidateT], test: Callable[[CandidateT], Verdict]
) -> Sequence[Verdict]:
    assert batch, "a search proposed an empty batch"
    if isinstance(batch, Round):
        return _verdicts_of_round(batch, test)
    verdicts: list[Verdict] = []
    for candidate in batch:
        verdicts.append(test(candidate))
        if verdicts[-1] is Verdict.BAD and not isinstance(batch, WholeBatch):
            break
    return verdicts


def _verdicts_of_round(
    batch: Round[CandidateT], test: Callable[[CandidateT], Verdict]
) -> Sequence[Verdict]:
    known: dict[CandidateT, Verdict] = {}
    for candidate in batch:
        if candidate not in batch.needless(known):
            known[candidate] = test(candidate)
    return batch.told(known)
