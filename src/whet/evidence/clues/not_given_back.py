"""Semaphores that were never released, queue items that were never marked done, and the lines at fault."""

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress

from whet.core.observations.clue import Clue, Placing, Sureness
from whet.core.text.code_lines import module_of
from whet.core.text.record import JsonObject, boolean, text
from whet.evidence.clues.closer_look import line_of, of_kind

_GIVES = {"task_done", "release"}


def kept_clues(
    told: Sequence[JsonObject], at: Placing, source_of: Callable[[str], str]
) -> Iterator[Clue]:
    """Yield what was taken of a semaphore or a queue that another call waits for, each place once."""
    places: set[tuple[str, int]] = set()
    for each in of_kind(told, "kept"):
        taking, leaving = line_of(each.get("taken")), line_of(each.get("left"))
        there = leaving or taking
        if taking is None or there is None or (there.path, there.number) in places:
            continue
        places.add((there.path, there.number))
        of_queue = text(each, "what") == "queue"
        item = f" ({text(each, 'item')})" if text(each, "item") else ""
        what = f"an item{item} of a queue" if of_queue else "a place of a semaphore"
        rest = "calling `task_done` for it" if of_queue else "giving it back"
        line = there.number
        by = f"left at {at(leaving.path, leaving.number)}" if leaving is not None else "went on"
        again = 0 if leaving is not None else _continued(source_of(taking.path), taking.number)
        if again:
            line, by = again, f"may have gone on at {at(taking.path, again)}"
        yield Clue(
            says=f"`{taking.function}` took {what} at {at(taking.path, taking.number)} and {by} without"
            f" {rest}, and another call waits for that",
            why="another call waits until all items of the queue are done"
            if of_queue
            else "another call waits until there is a place",
            path=there.path,
            line=line,
            sureness=Sureness.SEEN if boolean(each, "gives") else Sureness.POSSIBLE,
        )


def _continued(source: str, taken: int) -> int:
    """Return the only `continue` by which a loop begins again without giving back; 0: there are others."""
    lines: list[int] = []
    with suppress(SyntaxError, ValueError, RecursionError):
        loops = [
            each for each in ast.walk(module_of(source)) if isinstance(each, ast.While | ast.For)
        ]
        around = [each for each in loops if each.lineno <= taken <= (each.end_lineno or 0)]
        for block in _blocks(around[-1]) if around else ():
            for number, each in enumerate(block):
                if isinstance(each, ast.Continue) and not any(map(_gives, block[:number])):
                    lines.append(each.lineno)
    return lines[0] if len(lines) == 1 and lines[0] > taken else 0


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for each in ast.walk(node):
        for name in ("body", "orelse", "finalbody"):
            block: list[ast.stmt] | ast.expr | None = getattr(each, name, None)
            if isinstance(block, list):
                yield block


def _gives(node: ast.stmt) -> bool:
    return any(isinstance(each, ast.Attribute) and each.attr in _GIVES for each in ast.walk(node))
