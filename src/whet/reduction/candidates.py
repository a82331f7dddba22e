"""What searches over other things than payloads share: candidates made of parts that are kept."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

from whet.core.verdict import Verdict
from whet.search.batch import LazyBatch
from whet.search.proposal import Search
from whet.search.rendering import rendering
from whet.search.subsets.delta import Kept, minimize

CandidateT = TypeVar("CandidateT", bound=Hashable)
_SHORT_NAME = re.compile(r"[A-Za-z][\w.-]{0,11}")

PartT = TypeVar("PartT")
ResultT = TypeVar("ResultT")


def keep_few(
    parts: Sequence[PartT],
    render: Callable[[Sequence[PartT]], CandidateT],
    start: CandidateT,
    ranks: Sequence[int] | None = None,
) -> Search[CandidateT, CandidateT]:
    """Look for few of the parts that still fail; return what is made of them.

    Args:
        parts: all of them together fail.
        render: makes a candidate of those that are kept, in order.
        start: what is made of all.
        ranks: which of them belong together (`whet.search.subsets.delta.minimize`).
    """

    def made(kept: Kept) -> CandidateT:
        return render([parts[number] for number in kept.elements()])

    return rendering(minimize(len(parts), ranks=ranks), made, start)


def plainer_text(
    text: str, put: Callable[[str], CandidateT], start: CandidateT
) -> Search[CandidateT, CandidateT]:
    """Look for the plainest text instead of one; return what is made of it.

    A text with a slash is left as it is: it may be a path, and a program that is given half of a
    path may write where nobody meant it to. So is a short name, such as ``train``: it reads well.
    """
    best = start
    if "/" in text or _SHORT_NAME.fullmatch(text):
        return best
    from whet.reduction.reducer import reduce_payload  # brings each format: slow

    search = reduce_payload(text.encode("utf-8", "surrogateescape"))
    try:
        wanted = next(search)
        while True:
            places: list[int] = []
            batch = LazyBatch(map(put, _texts((each.data for each in wanted), places)))
            verdicts = (yield batch) if batch else [Verdict.GOOD]
            if verdicts[-1] is Verdict.BAD:
                best = batch[len(verdicts) - 1]
                wanted = search.send([*[Verdict.GOOD] * places[len(verdicts) - 1], Verdict.BAD])
            else:
                wanted = search.send([Verdict.GOOD] * len(wanted))
    except StopIteration:
        return best


def _texts(payloads: Iterable[bytes], places: list[int]) -> Iterator[str]:
    """Yield those that can be words of a command; note their places."""
    for place, payload in enumerate(payloads):
        if b"\0" not in payload:
            places.append(place)
            yield payload.decode("utf-8", "surrogateescape")


def never_twice(
    search: Search[CandidateT, ResultT], *known: CandidateT
) -> Search[CandidateT, ResultT]:
    """Answer what was told before, so that no candidate is proposed twice.

    Args:
        search: what proposes.
        known: candidates that need not be asked about: none of them would be progress.
    """
    told = set(known)
    try:
        wanted = next(search)
        while True:
            places: list[int] = []
            batch = LazyBatch(_fresh(wanted, told, places))
            verdicts = (yield batch) if batch else ()
            told.update(batch[number] for number in range(len(verdicts)))
            if verdicts and verdicts[-1] is Verdict.BAD:
                answers = [*[Verdict.GOOD] * places[len(verdicts) - 1], Verdict.BAD]
            else:
                answers = [Verdict.GOOD] * len(wanted)
            wanted = search.send(answers)
    except StopIteration as end:
        result: ResultT = end.value
        return result


def _fresh(
    wanted: Iterable[CandidateT], told: set[CandidateT], places: list[int]
) -> Iterator[CandidateT]:
    now: set[CandidateT] = set()
    for place, each in enumerate(wanted):
        if each not in told and each not in now:
            now.add(each)
            places.append(place)
            yield each
