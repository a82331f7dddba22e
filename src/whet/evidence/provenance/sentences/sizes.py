"""The sizes that an error names: which line computed one, and which array has the other."""

import ast
import builtins
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from whet.core.observations.clue import Clue, Sureness
from whet.core.text.quantity import listed
from whet.core.text.record import items_of
from whet.evidence.provenance.failure.suspects import Failing
from whet.evidence.provenance.run.recording import Call, Step, Value
from whet.evidence.provenance.run.source import head
from whet.evidence.provenance.sentences.wording import Wording
from whet.evidence.provenance.trace.walk import Walk
from whet.host.inspect.stacks import is_user_code

_ABOUT = re.compile(r"shape|size|dimension|broadcast|features|channels", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_LEAST = 10
"""Smaller numbers are equal by chance."""
_MOST_LINES, _MOST_PARTS = 2000, 3


@dataclass(slots=True)
class Sizes(Wording):
    """Tells which line of the user's computed a size that doesn't fit."""

    walk: Walk

    def clues(self, failing: Failing, own: Call, step: Step) -> Iterator[Clue]:
        """Yield the line that computed one of the numbers of the message.

        Args:
            failing: what failed.
            own: the innermost call of the user's.
            step: the line that was under way in it.
        """
        message = " ".join(part.words for _, part in self.recording.parts(failing.error.arguments))
        if not _ABOUT.search(message):
            return
        numbers = [each for each in dict.fromkeys(_NUMBER.findall(message)) if int(each) >= _LEAST]
        shapes = list(self._shapes(own, step))
        for computed, expr, at in self._computed(numbers, failing.error.moment):
            for name, shape in shapes:
                other = next((each for each in numbers if each in _sizes(shape)), "")
                if other and computed not in _sizes(shape):
                    needed = f"`{name}` of {'x'.join(map(str, shape))}"
                    there = (
                        f"the {other} comes from {needed} at {self.at(own.code.path, step.line)}"
                    )
                    clue = self._clue_of(computed, expr, at, there)
                    advice = f"Check {self.at(clue.path, clue.line)}: for {needed} it has to give {other}."
                    yield replace(clue, next_step=advice)
                    return

    def _computed(
        self, numbers: Sequence[str], moment: int
    ) -> Iterator[tuple[str, ast.expr, Step]]:
        """Yield the calculations of the user's that gave one of some numbers to a call, the last first."""
        seen: set[tuple[str, int]] = set()
        for step in reversed(self.recording.steps):
            place = (step.frame.code.path, step.line)
            if step.begin >= moment or place in seen or not is_user_code(place[0]):
                continue
            seen.add(place)
            if len(seen) > _MOST_LINES:
                return
            for node in head(self.sources[place[0]].statement(step.line)):
                for given in _calculated_for(node):
                    value = self.walk.now.index(given, step.frame, step)
                    if value is not None and value.words in numbers:
                        yield value.words, given, step

    def _shapes(self, own: Call, step: Step) -> Iterator[tuple[str, Sequence[int]]]:
        for node in head(self.sources[own.code.path].statement(step.line)):
            value = None
            if isinstance(node, ast.Name | ast.Attribute):
                value = self.walk.now.value(node, own, step)
            shape = () if value is None else _shape(value)
            if shape:
                yield self.said(node, own), shape

    def _clue_of(self, computed: str, expr: ast.expr, step: Step, there: str) -> Clue:
        path, call = step.frame.code.path, step.frame
        names = dict.fromkeys(each.id for each in ast.walk(expr) if isinstance(each, ast.Name))
        values = [
            f"`{each}` is {value.words}"
            for each in names
            if (value := self.recording.held(call, each, step.begin)) is not None
            and value.is_number
        ]
        parts = f", where {listed(values[:_MOST_PARTS])}" if values else ""
        says = (
            f"the {computed} of the message is `{self.said(expr, call)}` at"
            f" {self.at(path, expr.lineno)}{parts}; {there}"
        )
        return self.clue(says, path, expr.lineno, Sureness.POSSIBLE)


def _calculated_for(node: ast.AST) -> Iterator[ast.BinOp]:
    """Yield what is calculated for a call as it is, or as one size of several; places in a list aren't sizes."""
    if not isinstance(node, ast.Call):
        return
    if isinstance(node.func, ast.Name) and hasattr(builtins, node.func.id):
        return
    for given in (*node.args, *(each.value for each in node.keywords)):
        several = given.elts if isinstance(given, ast.Tuple | ast.List) else [given]
        yield from (each for each in several if isinstance(each, ast.BinOp))


def _shape(value: Value) -> tuple[int, ...]:
    """Return the shape of an array; empty: it is none."""
    shape = items_of(value.facts.get("shape", []))
    return tuple(each for each in shape if isinstance(each, int))


def _sizes(shape: Sequence[int]) -> set[str]:
    """Return the sizes that a shape shows: of each axis, and of all or all but the first made flat."""
    return {str(each) for each in (*shape, math.prod(shape), math.prod(shape[1:]))}
