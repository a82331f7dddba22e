"""The path of a value back to its origin, and how to tell two values apart."""

import ast
import operator
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum

from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import CONTAINER, SCALAR, Call, Step, Value
from whet.evidence.provenance.run.source import called_name

SIMPLE = {"None", "True", "False", "0", "1", "''", "0.0", "1.0"}
"""Equal to many others that have nothing to do with it."""
TEXTS = {"str", "bytes"}
_LEAST_ALIKE = 2
_COUNTS = {"len", "hash", "id", "ord"}
_ROUNDS = {"int", "float", "round", "abs"}

_OF_WHOLE_NUMBERS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.FloorDiv: lambda one, other: one // other, ast.Mod: operator.mod,
}  # fmt: skip

Flaw = Callable[[Value], bool]
"""What is wrong with a value, as a question about others."""


@value_class
class OfType:
    """That a value is of a type that is wrong there."""

    type: str
    dtype: object

    @classmethod
    def of(cls, value: Value) -> "OfType":
        """Return what is wrong with a value of a wrong type."""
        return cls(value.type, value.facts.get("dtype"))

    def __call__(self, other: Value) -> bool:
        """Whether another value has that type, too."""
        return (other.type, other.facts.get("dtype")) == (self.type, self.dtype)


class End(Enum):
    """What a trail ends with."""

    MADE = "made"
    LITERAL = "literal"
    INPUT = "input"
    NO_RETURN = "no return"
    ABSENT = "absent"
    DEFAULT = "default"
    UNKNOWN = "unknown"


@value_class
class Hop:
    """A line on the way of a value, from the failure back.

    Attributes:
        call: the call that it is in.
        line: its number.
        says: the part of the program that gave the value.
        value: what it was.
        inside: what held it, such as the record that it was read from.
        expr: that part of the program.
        step: when it was evaluated; None: that isn't known.
    """

    call: Call
    line: int
    says: str
    value: Value | None
    inside: Value | None = None
    expr: ast.expr | None = None
    step: Step | None = None

    @property
    def path(self) -> str:
        """Its file."""
        return self.call.code.path


@value_class
class Part:
    """A part that is looked for, and what holds it."""

    holder: Value
    key: str
    part: Value


@dataclass(slots=True)
class Trail:
    """The way of a value back.

    Attributes:
        hops: the lines, the nearest to the failure first.
        end: what the last of them does.
        expression: the part of the program at which it ends.
        step: the step at which it ends.
        skipped: tests that, had they been true, would have put another value there.
    """

    hops: list[Hop] = field(default_factory=list[Hop])
    end: End = End.UNKNOWN
    expression: ast.expr | None = None
    call: Call | None = None
    step: Step | None = None
    skipped: list[tuple[ast.expr, Step]] = field(default_factory=list[tuple[ast.expr, Step]])

    @property
    def made_by(self) -> int:
        """A moment at which there was the value, the earliest that is known."""
        steps = [self.step, *(hop.step for hop in self.hops)]
        return min((step.over for step in steps if step is not None), default=1 << 60)

    def reckons(self, value: Value) -> bool:
        """Whether its last line has counted or calculated a number: what has the same one has it by chance."""
        made = self.expression if self.end is End.MADE and value.is_number else None
        while isinstance(made, ast.Call) and called_name(made) in _ROUNDS and made.args:
            made = made.args[0]
        return isinstance(made, ast.BinOp) or _is_count(made)

    def end_where_cut(self, value: Value, *, is_read: bool) -> None:
        """End it at the line that cut a text out of another one, unless that was read from a file."""
        came = [position for position, hop in enumerate(self.hops) if value.is_same(hop.value)]
        if is_read or self.end is not End.MADE or value.type not in TEXTS or not came:
            return
        last, behind = self.hops[came[-1]], self.hops[came[-1] + 1 :]
        whole = behind[0].value if behind else None
        if whole is not None and whole.type in TEXTS and last.expr is not None:
            del self.hops[came[-1] + 1 :]
            self.expression, self.call, self.step = last.expr, last.call, last.step


def is_written_so(default: ast.expr, target: Value) -> bool:
    """Whether a default is the value; one that isn't written out may be."""
    if isinstance(default, ast.Constant):
        return repr(default.value) == target.words
    return True


def index_in(holder: Value | None, words: str) -> str:
    """Return the key that an index from the end stands for."""
    is_from_end = words.startswith("-") and words[1:].isdigit()
    if holder is not None and is_from_end and holder.kind == CONTAINER:
        return str(holder.size + int(words))
    return words


def calculated(by: ast.operator, one: Value | None, other: Value | None) -> Value | None:
    """Return what an operator makes of two whole numbers; None: they aren't."""
    calculate = _OF_WHOLE_NUMBERS.get(type(by))
    if one is None or other is None or calculate is None or {one.type, other.type} != {"int"}:
        return None
    with suppress(ZeroDivisionError, ValueError):
        return Value(SCALAR, "int", str(calculate(int(one.words), int(other.words))))
    return None


def words_of(value: Value | None) -> str:
    """Return how a value is written; empty: it isn't known."""
    return "" if value is None else value.words


def is_passed_on(value: Value | None, target: Value | None) -> bool:
    """Whether an operand is what comes out."""
    return value is not None and target is not None and target.is_same(value)


def is_computed(operand: ast.expr, expr: ast.expr, target: Value | None) -> bool:
    """Whether an operand goes into a calculation: what comes out is equal to it by chance.

    A text that is repeated goes into one, too.
    """
    is_number = target is not None and target.is_number
    for node in ast.walk(expr):
        is_repeated = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
        is_one = is_number and isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare)
        if (is_one or is_repeated) and any(each is operand for each in ast.walk(node)):
            return True
    return False


def is_by_chance(expr: ast.expr, target: Value | None, part: Value | None) -> bool:
    """Whether what a call gave is only equal to a part of what it was given, or to something in that."""
    if target is None or not target.is_number:
        return False
    return _is_count(expr) or (part is not None and part.kind != SCALAR)


def _is_count(expr: ast.expr | None) -> bool:
    func = expr.func if isinstance(expr, ast.Call) else None
    return isinstance(func, ast.Name) and func.id in _COUNTS


def is_made_of(target: Value, value: Value | None) -> bool:
    """Whether a text or number was cut out of another one, or is part of it."""
    if value is None or value.kind != SCALAR or target.words in SIMPLE:
        return False
    if value.type not in TEXTS or not (target.type in TEXTS or target.is_number):
        return False
    one, other = target.words.strip("'\"b"), value.words.strip("'\"b")
    return min(len(one), len(other)) >= _LEAST_ALIKE and (one in other or other in one)


def is_common(value: Value | None) -> bool:
    """Whether a value is equal to many others that have nothing to do with it, or not known."""
    return value is None or (value.kind == SCALAR and value.words in SIMPLE)
