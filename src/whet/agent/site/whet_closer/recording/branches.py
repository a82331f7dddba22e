"""Marks at the lines that a run may come to late: a branch, and what follows a loop or a branch.

Lines that have run often aren't followed any more, because Python takes its time for each. A mark that
has hardly been met has them followed again from there.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import ast
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any

    from whet.agent.site.whet_closer.woven import Cell, Woven
    from whet.agent.site.whet_probe.instrument import blocks, call

    from .steps import Steps
else:
    from whet_closer.woven import Cell, Woven
    from whet_probe.instrument import blocks, call

_STRAIGHT = {"Module", "ClassDef", "FunctionDef", "AsyncFunctionDef", "With", "AsyncWith"}
"""The first statement in these isn't marked: it runs whenever they do."""
_DIVIDED = {
    "If", "For", "AsyncFor", "While", "Try", "TryStar", "Match", "With", "AsyncWith",
}  # fmt: skip
"""What follows these may run seldom, or after many rounds."""
_ANYTHING = (Exception,)
_frame_above: Callable[[int], FrameType] = vars(sys)["_getframe"]
_weakrefs: Any = __import__("_weakref")


class Branches(Woven):
    """Compiles the user's modules with a mark at each branch, and after each loop and branch."""

    def __init__(self, steps: Steps) -> None:
        """Take over nothing yet; ``steps`` is asked to follow lines again.

        It isn't held: what it has of the program is to go as soon as Python ends.
        """
        super().__init__()
        self._steps: Callable[[], Steps | None] = _weakrefs.ref(steps)

    def weave(self, tree: Any) -> Callable[[str], object]:
        """Put the marks into a tree."""
        numbers = iter(range(sys.maxsize))  # a constant of its own for each
        for node in list(ast.walk(tree)):
            for block in blocks(node):
                _weave_block(block, numbers, is_straight=type(node).__name__ in _STRAIGHT)
        return lambda _text: self._mark()

    def _mark(self) -> Cell:
        times = 0

        def meet() -> None:
            nonlocal times
            times += 1
            steps = self._steps()
            try:
                is_wanted = steps is not None and steps.turn_to(_frame_above(1), times)
            except _ANYTHING:
                return  # the program is what matters
            if not is_wanted:
                cell.rest()

        cell = Cell(meet)
        return cell


def _weave_block(block: list[Any], numbers: Iterator[int], *, is_straight: bool) -> None:
    marked: list[Any] = []
    is_marked = not is_straight
    for statement in block:
        if is_marked:
            place = (getattr(statement, "decorator_list", None) or [statement])[0]
            mark = ast.Expr(value=call(str(next(numbers)), place))
            marked.append(ast.copy_location(mark, mark.value))
        marked.append(statement)
        is_marked = type(statement).__name__ in _DIVIDED
    block[:] = marked
