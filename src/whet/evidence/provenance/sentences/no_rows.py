"""The line from which on a table has no rows: a join whose keys don't match, or a filter that nothing passes."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from whet.core.observations.clue import Clue, Sureness
from whet.core.text.quantity import listed, shown_count
from whet.core.text.record import items_of
from whet.evidence.provenance.run.recording import Call, Step, Value
from whet.evidence.provenance.run.source import head
from whet.evidence.provenance.sentences.wording import Wording
from whet.evidence.provenance.trace.walk import Walk
from whet.host.inspect.stacks import is_user_code

_MOST_COLUMNS = 2


@dataclass(slots=True)
class NoRows(Wording):
    """Tells which line left no row of what the failing line goes through."""

    walk: Walk

    def clues(self, own: Call, step: Step) -> Iterator[Clue]:
        """Yield the line, if the failing line of the user's uses a table or column without rows.

        Args:
            own: the innermost call of the user's.
            step: the line that was under way in it.
        """
        for node in head(self.sources[own.code.path].statement(step.line)):
            if not isinstance(node, ast.Name):
                continue
            value = self.walk.now.value(node, own, step)
            if value is None or not _has_no_rows(value):
                continue
            found = self._emptied(value)
            if found is not None:
                yield self._clue_of(self.at(own.code.path, step.line), *found)
                return

    def _emptied(self, value: Value) -> tuple[ast.expr, Step, Mapping[str, Value]] | None:
        """Return what left no row, and the tables with rows that it was made of; None: not known."""
        numbers: set[int] = set()
        while value.number not in numbers:
            numbers.add(value.number)
            first = next(
                (each.step for each in self.recording.history(value.number) if each.step), None
            )
            step = users_line(first)
            statement = (
                None if step is None else self.sources[step.frame.code.path].statement(step.line)
            )
            made = getattr(statement, "value", None)
            if step is None or not isinstance(made, ast.expr):
                return None
            called = [each.func for each in ast.walk(made) if isinstance(each, ast.Call)]
            held = {
                self.said(each, step.frame): self.walk.now.value(each, step.frame, step)
                for each in ast.walk(made)
                if isinstance(each, ast.Name | ast.Attribute) and each not in called
            }
            tables = {
                name: each
                for name, each in held.items()
                if each is not None and _rows(each) is not None
            }
            empty = next(filter(_has_no_rows, tables.values()), None)
            if empty is None:
                used = {
                    name: each for name, each in tables.items() if each.facts.get("k") == "table"
                }
                return (made, step, used) if used else None
            value = empty
        return None

    def _clue_of(self, where: str, made: ast.expr, step: Step, used: Mapping[str, Value]) -> Clue:
        path, line = step.frame.code.path, made.lineno
        sizes = [
            f"`{name}` has {shown_count(_rows(each) or 0, 'row')}" for name, each in used.items()
        ]
        says = (
            f"what {where} uses has no rows: `{self.said(made, step.frame)}` at"
            f" {self.at(path, line)} leaves none ({listed(sizes)})"
        )
        named = (each.value for each in ast.walk(made) if isinstance(each, ast.Constant))
        cells = {
            name: each
            for name in dict.fromkeys(named)
            if isinstance(name, str)
            and (
                each := next(
                    filter(None, (_cells(table, name) for table in used.values())), list[str]()
                )
            )
        }
        shown = [
            f"`{name}` begins with {', '.join(map(repr, each))}" for name, each in cells.items()
        ]
        says += f". {listed(shown[:_MOST_COLUMNS])}" if shown else ""
        padded = [name for name, each in cells.items() if all(one != one.strip() for one in each)]
        advice = f"Check why no row is left at {self.at(path, line)}."
        if padded and len(padded) < len(cells):
            says += f": those of `{padded[0]}` have spaces around them"
            advice = f"Strip `{padded[0]}` before {self.at(path, line)}: `.str.strip()`."
        return replace(self.clue(says, path, line, Sureness.SEEN), next_step=advice)


def users_line(step: Step | None) -> Step | None:
    """Return the line of the user's that was under way in a step; None: none was."""
    for call in () if step is None else step.frame.around:
        if step is not None and is_user_code(call.code.path):
            return call.step_at(step.begin)
    return None


def _has_no_rows(value: Value) -> bool:
    return _rows(value) == 0


def _rows(value: Value) -> int | None:
    """Return how many rows a table, a column or an array has; None: it is none."""
    shape = items_of(value.facts.get("shape", []))
    return shape[0] if shape and isinstance(shape[0], int) else None


def _cells(table: Value, name: str) -> Sequence[str]:
    """Return the first cells of a column; none: it has none, or that isn't known."""
    columns = (items_of(each) for each in items_of(table.facts.get("columns", [])))
    return next(
        ([str(one) for one in items_of(each[3])] for each in columns if str(each[0]) == name),
        list[str](),
    )
