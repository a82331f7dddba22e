"""What a process had begun before it was forked, as a closer look reports it."""

from collections.abc import Iterator, Sequence

from whet.core.text.record import JsonObject, items_of
from whet.core.value_class import value_class
from whet.evidence.clues.closer_look import Line, line_of, of_kind


@value_class(kw_only=True)
class Fork:
    """A fork of the program.

    Attributes:
        at: the line that asks for it.
        cuda: the line that had started CUDA by then; None: CUDA wasn't started, or nobody saw it.
        threads: the other threads that ran then, each with the line that had started it.
    """

    at: Line
    cuda: Line | None
    threads: tuple[tuple[str, Line], ...]


def forks_in(told: Sequence[JsonObject]) -> Iterator[Fork]:
    """Yield the forks, in their order."""
    for each in of_kind(told, "fork"):
        at = line_of(each.get("at"))
        threads = (items_of(one) for one in items_of(each.get("threads")))
        lines = ((str(one[0]), line_of(one[1])) for one in threads if len(one) > 1)
        if at is not None:
            yield Fork(
                at=at,
                cuda=line_of(each.get("cuda")),
                threads=tuple((name, line) for name, line in lines if line is not None),
            )
