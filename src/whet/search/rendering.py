"""A search over one kind of candidates, asked as a search over what they are made into."""

from collections.abc import Callable
from typing import TypeVar

from whet.core.verdict import Verdict
from whet.search.batch import LazyBatch
from whet.search.proposal import Search

ChoiceT = TypeVar("ChoiceT")
MadeT = TypeVar("MadeT")


def rendering(
    search: Search[ChoiceT, object], render: Callable[[ChoiceT], MadeT], start: MadeT
) -> Search[MadeT, MadeT]:
    """Propose what each candidate is made into; return the last that is BAD.

    Args:
        search: proposes candidates.
        render: makes something of one.
        start: what is left if none is BAD.
    """
    best = start
    try:
        wanted = next(search)
        while True:
            batch = LazyBatch(render(each) for each in wanted)
            verdicts = yield batch
            if verdicts[-1] is Verdict.BAD:
                best = batch[len(verdicts) - 1]
            wanted = search.send(verdicts)
    except StopIteration:
        return best
