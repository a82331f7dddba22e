"""Semaphores that were never released, queue items that were never marked done or put back, and the lines at fault."""

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.text.code_lines import module_of
from whet.core.text.record import JsonObject, items_of, text, whole
from whet.core.value_class import value_class
from whet.evidence.clues.closer_look import line_of, of_kind

_POOL, _QUEUE = "pool", "queue"


@value_class
class Kept:
    """What was taken and not given back.

    Attributes:
        clue: what whet says of it.
        gave: the line of the same function that has given another one back; 0: it isn't known.
    """

    clue: Clue
    gave: int


def kept_in(
    told: Sequence[JsonObject], at: Placing, source_of: Callable[[str], str]
) -> Iterator[Kept]:
    """Yield what was taken of a semaphore or a queue that another call waits for, each place once.

    Who has given others back comes first: who keeps all that it takes may mean to.
    """
    places: set[tuple[str, int]] = set()
    for each in sorted(of_kind(told, "kept"), key=lambda one: not whole(one.get("own"))):
        taking, leaving, by = (line_of(each.get(name)) for name in ("taken", "left", "by"))
        if taking is None or by is None:
            continue
        path, is_wrapped = by.path, by.function != taking.function
        last = _last(
            source_of(path), by.number, [whole(one) for one in items_of(each.get("lines"))]
        )
        line = leaving.number if leaving is not None else last or by.number
        if (path, line) in places:
            continue
        places.add((path, line))
        of = text(each, "what")
        item = f" ({text(each, 'item')})" if text(each, "item") else ""
        what = f"an item{item} of a queue" if of in {_POOL, _QUEUE} else "a place of a semaphore"
        rest = {_POOL: "putting it back", _QUEUE: "calling `task_done` for it"}.get(
            of, "giving it back"
        )
        how = f"left at {at(path, line)}" if leaving is not None else "went on"
        if leaving is None and last:
            how = f"went on to the next one at {at(path, line)}"
        through = f" through `{taking.function}`" if is_wrapped else ""
        others, own = whole(each.get("gives")), whole(each.get("own"))
        if others > 1 and (is_wrapped or last or of == _POOL):
            rest += (
                f", which it did for {own} others" if own else ", which only other calls have done"
            )
        waits = {_POOL: "there is an item", _QUEUE: "all items of the queue are done"}
        clue = Clue(
            says=f"`{by.function}` took {what}{through} at {at(taking.path, taking.number)} and {how} without"
            f" {rest}, and another call waits for that",
            why=f"another call waits until {waits.get(of, 'there is a place')}",
            path=path,
            line=line,
            # Items that are put back may as well be those that are tried again.
            sureness=Sureness.SEEN if own and of != _POOL else Sureness.POSSIBLE,
        )
        gave = line_of(each.get("gave"))
        is_own = gave is not None and (gave.path, gave.function) == (path, by.function)
        yield Kept(clue, gave.number if is_own and gave else 0)


def _last(source: str, taking: int, lines: Sequence[int]) -> int:
    """Return the last line of a round that isn't the head of a loop, nor takes the next one; 0: not known."""
    heads = {taking}
    with suppress(SyntaxError, ValueError, RecursionError):
        for each in ast.walk(module_of(source)):
            if isinstance(each, ast.While | ast.For | ast.AsyncFor):
                heads.add(each.lineno)
    return next((each for each in reversed(lines) if each not in heads), 0)
