"""Oracles without rhyme or reason, and the drivers to ask them."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice

from hypothesis import strategies as st

from whet.core.verdict import Verdict
from whet.reduction.problem import Reduced
from whet.reduction.reducer import reduce_payload
from whet.reduction.statistics import Reduction
from whet.search.proposal import run_search

Judge = Callable[[bytes], Verdict]


@dataclass(slots=True)
class Shrinking:
    """A reduction that was run: its end, and each candidate with its verdict, in order."""

    reduction: Reduction
    told: list[tuple[Reduced, Verdict]] = field(default_factory=list[tuple[Reduced, Verdict]])

    @property
    def calls(self) -> int:
        return len(self.told)


@st.composite
def odd_judges(draw: st.DrawFn) -> Judge:
    """An oracle that judges by a digest of the payload."""
    salt = draw(st.integers(0, 255))
    bad_of_256 = draw(st.sampled_from([5, 40, 128, 240]))

    def judge(payload: bytes) -> Verdict:
        number = hashlib.blake2b(payload, salt=bytes([salt])).digest()[0]
        if number < bad_of_256:
            return Verdict.BAD
        return Verdict.SKIP if number % 2 else Verdict.GOOD

    return judge


def shrunk(
    payload: bytes, judge: Judge, *, name: str = "", format_name: str | None = None
) -> Shrinking:
    """Reduce with one job."""
    told: list[tuple[Reduced, Verdict]] = []

    def test(candidate: Reduced) -> Verdict:
        told.append((candidate, judge(candidate.data)))
        return told[-1][1]

    return Shrinking(
        run_search(reduce_payload(payload, name=name, format_name=format_name), test), told
    )


def shrunk_ahead(payload: bytes, judge: Judge, jobs: int) -> Reduction:
    """Reduce as a driver with many jobs: it reads ahead, and tells up to the first BAD."""
    search = reduce_payload(payload)
    try:
        batch = next(search)
        while True:
            verdicts: list[Verdict] = []
            candidates = iter(batch)
            while Verdict.BAD not in verdicts:
                wave = list(islice(candidates, jobs))
                verdicts += [judge(each.data) for each in wave]
                if not wave:
                    break
            end = verdicts.index(Verdict.BAD) + 1 if Verdict.BAD in verdicts else len(verdicts)
            batch = search.send(verdicts[:end])
    except StopIteration as end_of_search:
        result: Reduction = end_of_search.value
        return result


def fails_if(holds: Callable[[bytes], bool]) -> Judge:
    """An oracle of a predicate; what makes the predicate raise is another failure."""

    def judge(payload: bytes) -> Verdict:
        try:
            return Verdict.BAD if holds(payload) else Verdict.GOOD
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, SyntaxError):
            return Verdict.SKIP

    return judge
