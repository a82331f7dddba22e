"""A search of which some candidates need not be asked, because their verdict is known."""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeVar

from whet.core.verdict import Verdict
from whet.search.batch import LazyBatch
from whet.search.proposal import Search

CandidateT = TypeVar("CandidateT")
ResultT = TypeVar("ResultT")


def answering(
    search: Search[CandidateT, ResultT], known: Callable[[CandidateT], Verdict | None]
) -> Search[CandidateT, ResultT]:
    """Pass a search on without the candidates whose verdict is known; answer those here.

    Args:
        search: proposes candidates.
        known: returns a candidate's verdict, or None if it has to be asked. It is asked when
            somebody reads that far, and once for each time that the candidate is proposed.
    """
    try:
        wanted = next(search)
        while True:
            wanted = search.send((yield from _verdicts(wanted, known)))
    except StopIteration as end:
        result: ResultT = end.value
        return result


def _verdicts(
    wanted: Sequence[CandidateT], known: Callable[[CandidateT], Verdict | None]
) -> Generator[Sequence[CandidateT], Sequence[Verdict], list[Verdict]]:
    """Ask for what isn't known; return the verdicts up to the first BAD one."""
    seen: list[Verdict | None] = []

    def unknown() -> Iterator[CandidateT]:
        for candidate in wanted:
            seen.append(known(candidate))
            if seen[-1] is Verdict.BAD:
                return
            if seen[-1] is None:
                yield candidate

    batch = LazyBatch(unknown())
    told = iter((yield batch) if batch else ())
    verdicts: list[Verdict] = []
    for verdict in seen:
        verdicts.append(next(told) if verdict is None else verdict)
        if verdicts[-1] is Verdict.BAD:
            break
    return verdicts
