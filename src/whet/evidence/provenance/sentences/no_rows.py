"""The line from which on a table has no rows, or gaps: a join whose keys don't match, or a strict filter."""

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from whet.core.observations.clue import Clue, Sureness
from whet.core.text.quantity import listed, shown_count
from whet.core.text.record import items_of
from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import Call, Step, Value
from whet.evidence.provenance.run.source import head
from whet.evidence.provenance.sentences.wording import Wording, upper
from whet.evidence.provenance.trace.walk import Walk
from whet.host.inspect.stacks import is_user_code

_MOST_COLUMNS, _MOST_TABLES = 2, 12
_LARGE_SHARE = 0.5
"""Of the rows: a smaller gap is what many joins are made for."""

_NUMBERS = ("int", "uint", "float", "Int", "UInt", "Float")


@value_class
class Column:
    """A column of a table.

    Attributes:
        kind: the type of its cells.
        missing: how many of them are missing; None: not counted.
        first: the first of them.
    """

    kind: str
    missing: int | None
    first: tuple[str, ...]


@value_class
class _Made:
    """A table, the expression that made it, when, and by name the tables that it was made of."""

    value: Value
    expr: ast.expr
    step: Step
    used: Mapping[str, Value]


@dataclass(slots=True)
class NoRows(Wording):
    """Tells which line left no row of what the failing line goes through."""

    walk: Walk

    def clues(self, own: Call, step: Step) -> Iterator[Clue]:
        """Yield the line, if the failing line of the user's uses a table or column without rows.

        A table in which a join has left gaps may have them, or was made of one that has.

        Args:
            own: the innermost call of the user's.
            step: the line that was under way in it.
        """
        where = self.at(own.code.path, step.line)
        for node in head(self.sources[own.code.path].statement(step.line)):
            value = self.walk.now.value(node, own, step) if isinstance(node, ast.Name) else None
            if value is None or _rows(value) is None:
                continue
            clue = self._of_empty(where, value) if _has_no_rows(value) else self._of_gaps(value)
            if clue is not None:
                yield clue
                return

    def _of_empty(self, where: str, value: Value) -> Clue | None:
        """Report what left no row, and the tables with rows that it was made of; None: not known."""
        for made in self._back(value):
            if not any(map(_has_no_rows, made.used.values())):
                tables = {name: each for name, each in made.used.items() if is_table(each)}
                held = replace(made, used=tables)
                return (
                    self._of_missing(where, held) or self._clue_of(where, held) if tables else None
                )
        return None

    def _of_missing(self, where: str, made: _Made) -> Clue | None:
        """Report what left a column empty that decided which rows are left; None: none is empty."""
        for name in _named(made.expr):
            for said, table in made.used.items():
                gap = None
                if _missing(table).get(name) == _rows(table):
                    gap = self._of_gaps(table, {name})
                if gap is not None:
                    at = self.at(made.step.frame.code.path, made.expr.lineno)
                    says = f"what {where} uses has no rows: at {at} `{name}` of `{said}` is missing in each"
                    return replace(gap, says=f"{says}. {upper(gap.says)}", sureness=Sureness.SEEN)
        return None

    def _of_gaps(self, value: Value, names: Collection[str] = ()) -> Clue | None:
        """Report the line that left gaps in a column which had none before it; None: no or few.

        Args:
            value: the table that has them, or was made of one that has.
            names: the columns; empty: all.
        """
        for made in self._back(value):
            for name, missing in _missing(made.value).items():
                if names and name not in names:
                    continue
                had = [(said, each) for said, each in made.used.items() if name in _missing(each)]
                if missing and had and not any(_missing(each)[name] for _, each in had):
                    clue = self._clue_of_gaps(made, name, missing, had[0])
                    is_large = missing >= _LARGE_SHARE * (_rows(made.value) or 0)
                    return clue if is_large or clue.sureness is Sureness.SEEN else None
        return None

    def _back(self, value: Value) -> Iterator[_Made]:
        """Yield the lines that made a table, and the tables that it was made of, each once."""
        numbers: set[int] = set()
        waiting = [value]
        while waiting and len(numbers) < _MOST_TABLES:
            value = waiting.pop(0)
            if value.number in numbers:
                continue
            numbers.add(value.number)
            made = self._made(value)
            if made is not None:
                yield made
                waiting += sorted(made.used.values(), key=_has_no_rows, reverse=True)

    def _made(self, value: Value) -> _Made | None:
        """Return the line that made a table; None: not known."""
        history = self.recording.history(value.number)
        step = users_line(next((each.step for each in history if each.step), None))
        path = "" if step is None else step.frame.code.path
        statement = None if step is None else self.sources[path].statement(step.line)
        made = getattr(statement, "value", None)
        if step is None or not isinstance(made, ast.expr):
            return None
        called = [each.func for each in ast.walk(made) if isinstance(each, ast.Call)]
        held = {
            self.said(each, step.frame): self.walk.now.value(each, step.frame, step)
            for each in ast.walk(made)
            if isinstance(each, ast.Name | ast.Attribute) and each not in called
        }
        used = {
            name: each
            for name, each in held.items()
            if each is not None and _rows(each) is not None and each.number != value.number
        }
        return _Made(value, made, step, used)

    def _clue_of_gaps(self, made: _Made, name: str, missing: int, had: tuple[str, Value]) -> Clue:
        path, line = made.step.frame.code.path, made.expr.lineno
        said, source = had
        rows = _rows(made.value) or 0
        says = (
            f"`{self.said(made.expr, made.step.frame)}` at {self.at(path, line)} leaves `{name}`"
            f" missing in {missing:,} of {shown_count(rows, 'row')}; `{said}` has it in all of its"
            f" {_rows(source) or 0:,}"
        )
        for key in _named(made.expr):
            cells = {each: _cells(table, key) for each, table in made.used.items()}
            if len(cells) > 1 and all(cells.values()):
                each_of = (f"{', '.join(map(repr, held))} in `{of}`" for of, held in cells.items())
                says += f". `{key}` begins with {' and '.join(each_of)}"
                break
        advice = f"Check why rows have no match at {self.at(path, line)}."
        clue = replace(self.clue(says, path, line, Sureness.POSSIBLE), next_step=advice)
        return self._with_numbers(clue, made)

    def _with_numbers(self, clue: Clue, made: _Made) -> Clue:
        """Add where texts were read as numbers, if that is why keys don't match."""
        for key in _named(made.expr):
            for table in made.used.values():
                for read in self._back(table) if _is_without_zeros(key, table, made) else ():
                    held = columns_of(self.recording.history(read.value.number)[0].value)
                    kind = held[key].kind if key in held else ""
                    if read.used or not kind.startswith(_NUMBERS):
                        continue
                    path, line = read.step.frame.code.path, read.expr.lineno
                    says = (
                        f"{clue.says}. {self.place_of(path, line)} made numbers of `{key}` ({kind}),"
                        " which have no leading zeros"
                    )
                    told = self.clue(says, path, line, Sureness.SEEN)
                    advice = f"Read `{key}` as text at {self.at(path, line)}."
                    return replace(told, next_step=advice)
        return clue

    def _clue_of(self, where: str, made: _Made) -> Clue:
        path, line = made.step.frame.code.path, made.expr.lineno
        sizes = [
            f"`{name}` has {shown_count(_rows(each) or 0, 'row')}"
            for name, each in made.used.items()
        ]
        says = (
            f"what {where} uses has no rows: `{self.said(made.expr, made.step.frame)}` at"
            f" {self.at(path, line)} leaves none ({listed(sizes)})"
        )
        cells = {
            name: each
            for name in _named(made.expr)
            if (
                each := next(
                    filter(None, (_cells(table, name) for table in made.used.values())), ()
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
        clue = replace(self.clue(says, path, line, Sureness.SEEN), next_step=advice)
        return self._with_numbers(clue, made)


def _is_without_zeros(key: str, table: Value, made: _Made) -> bool:
    """Whether the keys of a table are whole numbers where those of another have leading zeros."""
    own = _cells(table, key)
    others = [each for other in made.used.values() for each in _cells(other, key)]
    return (
        bool(own)
        and all(each.isdecimal() and not each.startswith("0") for each in own)
        and any(each.isdecimal() and each.startswith("0") and each != "0" for each in others)
    )


def users_line(step: Step | None) -> Step | None:
    """Return the line of the user's that was under way in a step; None: none was."""
    for call in () if step is None else step.frame.around:
        if step is not None and is_user_code(call.code.path):
            return call.step_at(step.begin)
    return None


def _named(expr: ast.expr) -> list[str]:
    """Return the texts that are written in an expression, such as names of columns."""
    named = (each.value for each in ast.walk(expr) if isinstance(each, ast.Constant))
    return [each for each in dict.fromkeys(named) if isinstance(each, str)]


def is_table(value: Value) -> bool:
    """Whether a value is a table with columns."""
    return value.facts.get("k") == "table"


def _missing(table: Value) -> dict[str, int]:
    """Return how many cells of each column are missing, where that is known."""
    columns = columns_of(table).items()
    return {name: each.missing for name, each in columns if each.missing is not None}


def _has_no_rows(value: Value) -> bool:
    return _rows(value) == 0


def _rows(value: Value) -> int | None:
    """Return how many rows a table, a column or an array has; None: it is none."""
    shape = items_of(value.facts.get("shape", []))
    return shape[0] if shape and isinstance(shape[0], int) else None


def _cells(table: Value, name: str) -> Sequence[str]:
    """Return the first cells of a column; none: it has none, or that isn't known."""
    column = columns_of(table).get(name)
    return () if column is None else column.first


def columns_of(table: Value) -> dict[str, Column]:
    """Return the columns of a table; none: it is no table."""
    found = (items_of(each) for each in items_of(table.facts.get("columns", [])))
    return {
        str(name): Column(
            kind=str(kind),
            missing=missing if isinstance(missing, int) else None,
            first=tuple(map(str, items_of(first))),
        )
        for name, kind, missing, first in found
    }
