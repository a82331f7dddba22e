"""The shape that every search has: it proposes candidates and is told verdicts.

A search is a generator. It yields a *batch*: candidates in order of preference. It is sent
the verdicts of that batch from the first candidate up to and including the first BAD one,
or of all of them if none is BAD. What lies behind the first BAD one is never told, even if
it was run, so that running a batch on many cores changes no result. The batch with no
candidates isn't allowed. What the generator returns is the search's result.

Where the others count too, as with many workers at once, or among failures that come only
sometimes, a search yields a `whet.search.round.Round`: it is sent the verdicts of all of it.

Budgets, clocks, repeats and parallel runs belong to the one driver (`whet.workbench.trials.driver`)
that runs searches, never to the searches.
"""

from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias, TypeVar

from whet.core.verdict import Verdict
from whet.search.round import Round

CandidateT = TypeVar("CandidateT")
ResultT = TypeVar("ResultT")

Search: TypeAlias = Generator[Sequence[CandidateT], Sequence[Verdict], ResultT]


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
        if verdicts[-1] is Verdict.BAD:
            break
    return verdicts


def _verdicts_of_round(
    batch: Round[CandidateT], test: Callable[[CandidateT], Verdict]
) -> Sequence[Verdict]:
    known: dict[int, Verdict] = {}
    while places := batch.open_places(known):
        known[places[0]] = test(batch[places[0]])
    return batch.in_order(known)
