"""How sentences name a program's lines, values and records."""

import ast
import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeGuard

from whet.core.observations.clue import Clue, Mention, Placing, StepKind, Sureness, TrailStep
from whet.core.text.quantity import listed
from whet.evidence.provenance.failure.suspects import Failing
from whet.evidence.provenance.run.recording import CONTAINER, Call, Raised, Recording, Value
from whet.evidence.provenance.run.source import (
    COMPREHENSIONS,
    Comprehension,
    Sources,
    called_name,
)
from whet.evidence.provenance.trace.contrast import contrast
from whet.evidence.provenance.trace.records import Record, Records
from whet.evidence.provenance.trace.trail import End, Hop, Trail

_WHY = "whet recorded each step of the failing run, and traced back from where it failed"
_SHOWN = 60
_HANDING_OVER = {
    "next", "anext", "__next__", "iter", "get", "get_nowait", "pop", "popleft", "popitem", "recv",
    "result", "gather", "wait_for", "map", "imap", "imap_unordered", "starmap", "apply", "submit",
    "choice", "peek", "send", "fetch", "compute", "wait",
}  # fmt: skip
"""Functions that take a value out of something, or let others make it."""
_MOST_FUNCTIONS = 2
_ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_FEW_LINES, _MOST_RECORDS = 3, 2


@dataclass(slots=True)
class Wording:
    """Says where things are.

    Attributes:
        recording: the run.
        sources: the program.
        at: says where a line is.
    """

    recording: Recording
    sources: Sources
    at: Placing

    def there(self, failing: Failing) -> str:
        """Say where it failed."""
        return self.at(failing.call.code.path, failing.error.line)

    def error(self, error: Raised) -> str:
        """Say an error as the program would make it."""
        words = [part.words for _, part in self.recording.parts(error.arguments)]
        return f"{error.type}({cut(', '.join(words))})"

    def said(self, expr: ast.AST, call: Call) -> str:
        """Return what the program says, of a comprehension its element."""
        if isinstance(expr, Comprehension):
            expr = expr.value if isinstance(expr, ast.DictComp) else expr.elt
        return cut(self.sources[call.code.path].said(expr))

    def line(self, path: str, line: int) -> str:
        """Return a line of the program."""
        return cut(self.sources[path].line(line))

    def place_of(self, path: str, line: int) -> str:
        """Say where a line is, and what it says."""
        return f"{self.at(path, line)} (`{self.line(path, line)}`)"

    def place(self, hop: Hop) -> str:
        """Say where a value came by."""
        place = self.at(hop.path, hop.line)
        statement = self.sources[hop.path].statement(hop.line)
        if isinstance(statement, ast.AugAssign) and statement.value is hop.expr:
            return self.place_of(hop.path, hop.line)  # what was added alone tells nothing
        return f"{place} (`{cut(hop.says)}`)" if hop.says else place

    def record(self, record: Record) -> str:
        """Say where a record is, and what it says."""
        return f"{self.record_place(record)} (`{cut(record.text)}`)"

    def record_place(self, record: Record) -> str:
        """Say where a record is; a file of one line isn't one of several records."""
        if record.is_file:
            return f"the file {self.at(record.path)}"
        return f"the record at {self.at(record.path, record.line)}"

    def record_step(self, record: Record, says: str = "its record") -> TrailStep:
        """Return a step of a trail that shows a record."""
        return TrailStep(
            says=says,
            place=self.at(record.path, record.line),
            source=cut(record.text),
            record=spots(record),
        )

    def step_at(
        self, hop: Hop, says: str, value: Value | None = None, kind: StepKind | None = None
    ) -> TrailStep:
        """Return a step of a trail at which a value came by; with a kind, ``says`` is its name."""
        words = "" if value is None else shown(value)
        statement = self.sources[hop.path].statement(hop.line)
        is_added = isinstance(statement, ast.AugAssign) and statement.value is hop.expr
        source = self.line(hop.path, hop.line) if is_added else cut(hop.says)
        step = TrailStep(
            says=says,
            place=self.at(hop.path, hop.line),
            source="" if source == says.strip("`") else source,
            value="" if words == source else words,
        )
        return step if kind is None else step_about(step, kind, says)

    def end(self, trail: Trail, value: Value) -> str:
        """Say what the way of a value back ends with."""
        last = trail.hops[-1]
        place = self.place(last)
        match trail.end:
            case End.MADE:
                inside = self._run_in(trail)
                if inside or hands_over(trail.expression):
                    ran = (
                        f", in which {inside} ran" if inside else ""
                    )  # one of these may have made it
                    return f"It came out of {place}{ran}"
                return f"It was made at {place}{self._raised(value)}"
            case End.LITERAL:
                return f"It was set at {place}"
            case End.DEFAULT:
                return f"It is the default at {place}"
            case End.INPUT:
                return f"It was read at {place}"
            case End.ABSENT:
                given = last.expr.args if isinstance(last.expr, ast.Call) else []
                then = ": the default was taken" if len(given) > 1 else ""
                return f"There is no such key at {place}{then}"
            case End.NO_RETURN:
                code = last.call.code
                own = self.sources[code.path].node_of(code)
                begins = getattr(own, "lineno", code.first_line)  # not at a decorator
                return (
                    f"`{code.short}` at {self.at(code.path, begins)} ended after line"
                    f" {last.line} without returning a value"
                )
            case End.UNKNOWN:
                return f"It came out of {place}"

    def is_origin(self, trail: Trail) -> bool:
        """Whether a way back ends where its value was made, and not where whet can't look further."""
        if trail.end in {End.UNKNOWN, End.ABSENT}:
            return False
        last = trail.hops[-1]
        statement = self.sources[last.path].statement(last.line)
        if isinstance(statement, ast.Import | ast.ImportFrom):
            return False
        is_passed = hands_over(trail.expression) or bool(self._run_in(trail))
        return trail.end is not End.MADE or not is_passed

    def _run_in(self, trail: Trail) -> str:
        """Say which functions of the program ran in a call that a value came out of."""
        expr, step = trail.expression, trail.step
        if not isinstance(expr, ast.Call) or step is None:
            return ""
        outer = list(self.recording.called_in(step))
        inner = [each for each in self.recording.calls if each.parent in outer]
        calls = [*(each for each in inner if each.parent and _is_inline(each.parent)), *outer]
        codes = {each.code for each in calls if not _is_inline(each)}
        name = called_name(expr)
        passed = {each.code for each in self.recording.calls if each.code.is_passed}
        codes |= {each for each in passed if each.short == name}
        nodes = list(ast.walk(expr))
        named = {each.id for each in nodes if isinstance(each, ast.Name)}
        named |= {each.attr for each in nodes if isinstance(each, ast.Attribute)}
        found = sorted(
            f"`{each.short}` ({self.at(each.path, each.first_line)})"
            for each in codes
            if each.short in named
        )
        return " and ".join(found[:_MOST_FUNCTIONS])

    def _raised(self, value: Value) -> str:
        """Say where an error was raised that is kept as a value."""
        for error in self.recording.errors:
            if value.number and error.number == value.number:
                return f"; the error itself was raised at {self.place_of(error.call.code.path, error.line)}"
        return ""

    def clue(
        self,
        says: str,
        path: str,
        line: int,
        sureness: Sureness,
        trail: tuple[TrailStep, ...] = (),
    ) -> Clue:
        """Return a clue."""
        return Clue(says=says, why=_WHY, path=path, line=line, sureness=sureness, trail=trail)


def _is_inline(call: Call) -> bool:
    return call.code.short in COMPREHENSIONS


def hands_over(expr: ast.expr | None) -> bool:
    """Whether an expression only takes a value that something else has made."""
    call = expr.value if isinstance(expr, ast.Await) else expr
    return isinstance(call, ast.Call) and called_name(call) in _HANDING_OVER


def shown(value: Value) -> str:
    """Return how a value is shown; empty: its type tells enough."""
    if value.kind == "array" and value.facts.get("shape") == []:  # one number
        number, held = value.facts.get("min"), value.facts.get("dtype")
        return f"{number:g}" if isinstance(number, int | float) else f"one number of {held}"
    if value.kind == "array":
        return f"{value.as_array}{_all_alike(value)}"
    return cut(value.words)


def _all_alike(value: Value) -> str:
    """Say that an array has one number everywhere."""
    least, most = value.facts.get("min"), value.facts.get("max")
    is_whole = not value.facts.get("nan") and not value.facts.get("inf")
    is_one = isinstance(least, int | float) and least == most and is_whole
    return f", all {least:g}" if is_one else ""


def cut(text: str) -> str:
    """Return a text that fits into a sentence."""
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def upper(text: str) -> str:
    """Return a sentence with a capital, unless it begins with a place: `loader.py:21`."""
    is_place = set(text.partition(" ")[0]) & {"/", ":"}
    return text if is_place else text[:1].upper() + text[1:]


def spots(record: Record | None) -> tuple[tuple[str, int], ...]:
    """Return the file and line of a record, if there is one."""
    return () if record is None else ((record.path, record.line),)


def is_call(node: ast.AST) -> TypeGuard[ast.Call]:
    """Whether a node is a call."""
    return isinstance(node, ast.Call)


def is_container(value: Value | None) -> bool:
    """Whether a value is a list, a dict, or the like."""
    return value is not None and value.kind == CONTAINER


def is_path(value: Value | None) -> bool:
    """Whether a value is a path or an open file: it holds no data itself."""
    return value is not None and value.type.startswith(("pathlib.", "_io."))


def step_about(step: TrailStep, kind: StepKind, name: str, more: str = "") -> TrailStep:
    """Return a step with what it tells of a value."""
    return replace(step, says=f"{kind.value.format(name)}{more}", kind=kind, about=name)


def like_another(step: TrailStep, said: str, value: Value | None) -> TrailStep:
    """Return the step of an operand, with the name of another one that came from there and is the same number."""
    is_other = step.kind is StepKind.VALUE and step.about != f"`{said}`"
    if value is None or shown(value) != step.value or not is_other:
        return step
    return replace(step, says=f"{step.says}, like `{said}`,", kind=None)


def together(passed: Sequence[TrailStep]) -> list[TrailStep]:
    """Return the lines that a value only came through, three or more as one step."""
    if len(passed) < _FEW_LINES:
        return list(passed)
    last, *before = passed
    places = listed([each.place for each in before])
    return [replace(last, says=f"{last.says}, and before that through {places}")]


def with_record(clue: Clue) -> Clue:
    """Return a clue with the records that its trail ends in, if those are few and all are known.

    What was changed on the way holds things of other records, too. Where numbers were compared as
    texts, that is what is wrong, and no record.
    """
    if Mention.TEXTS in clue.mentions:
        advice = "Convert the texts to numbers where they are read, before they are compared."
        return replace(clue, sureness=Sureness.SEEN, next_step=advice)
    ends = [each for each in clue.trail if each.kind is StepKind.RECORD]
    records = {each.place: f"{each.place} (`{each.source}`)" for each in ends}
    is_changed = any(each.kind is StepKind.CHANGE for each in clue.trail)
    if (
        clue.record
        or is_changed
        or not 0 < len(records) <= _MOST_RECORDS
        or _is_part_known(clue.trail)
    ):
        return clue
    checked = f"Check {record_words(list(records))}."
    return replace(
        clue,
        record=record_words(list(records.values())),
        records=tuple(dict.fromkeys(spot for each in ends for spot in each.record)),
        next_step=clue.next_step or checked,
    )


def with_contrast(clue: Clue, records: Records) -> Clue:
    """Return a clue of one record with what sets that apart from the others of its file."""
    if len(clue.records) != 1 or Mention.OTHERS in clue.mentions:
        return clue
    path, line = clue.records[0]
    values = [each.value.strip("'") for each in clue.trail if each.value]
    said = contrast(records.files.get(path, []), line, values)
    return replace(clue, says=f"{clue.says}. In the record, {said}") if said else clue


class Because(NamedTuple):
    """How a test came out, in words, and what they tell."""

    words: str = ""
    mentions: frozenset[Mention] = frozenset()


def compared_as_texts(test: ast.expr, value_of: Callable[[ast.expr], Value | None]) -> str:
    """Say that a test compares texts that are numbers, where those come out otherwise; empty: it doesn't."""
    sides = [test.left, *test.comparators] if isinstance(test, ast.Compare) else []
    for operator_, pair in zip(getattr(test, "ops", ()), pairwise(sides), strict=False):
        compare, values = _ORDERS.get(type(operator_)), [value_of(each) for each in pair]
        texts = [
            each.words.strip("'\"") for each in values if each is not None and each.type == "str"
        ]
        with suppress(ValueError):
            one, other = map(float, texts)
            if compare is not None and compare(one, other) != compare(*texts):
                words = " and ".join(f"`{ast.unparse(each)}`" for each in pair)
                result = "true" if compare(one, other) else "false"
                return f"; {words} are texts here: as numbers that comparison would be {result}"
    return ""


def _is_part_known(trail: Sequence[TrailStep]) -> bool:
    """Whether an operand comes from somewhere else than a record."""
    operands = {kind: {each.about for each in trail if each.kind is kind} for kind in StepKind}
    others = operands[StepKind.HOLDER] | operands[StepKind.VALUE]
    return not others <= operands[StepKind.RECORD]


def record_words(places: Sequence[str]) -> str:
    """Name records by their places."""
    return f"the record{'s' if len(places) > 1 else ''} at {listed(places)}"
