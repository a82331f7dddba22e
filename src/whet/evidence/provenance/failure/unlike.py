"""Arrays that an operation can't take together, or takes otherwise than meant: devices, element types, shapes."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

from whet.core.text.record import items_of
from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import ARRAY, Recording, Step, Value
from whet.evidence.provenance.run.source import Sources
from whet.evidence.provenance.trace.walk import Walk

# PyTorch's other names for an element type in its messages.
_CALLED = {
    "float16": "half", "float32": "float", "float64": "double", "int64": "long", "int32": "int",
    "int16": "short", "uint8": "byte", "complex64": "complexfloat", "complex128": "complexdouble",
}  # fmt: skip
_WORD = re.compile(r"[a-z_]+\d*|\d+")
_COLUMN = 2
_PAIRS = re.compile(r"\bNone\b|newaxis|reshape|outer|expand_dims|unsqueeze|meshgrid|cdist")
_TENSOR = re.compile(r"(\w+)tensor\b")
_GIVEN = re.compile(r"\bgot (?:an? )?(?:\w+\.)*(\w+?)(?:tensor)?\b(?! and\b)")
_NOT_FITTING = re.compile(r"different from|mismatch|cannot be multiplied|not aligned|must match")
_WEIGHTS = (".Parameter", ".Param")
_CONVERTS = re.compile(
    r"\.\s*(double|half|bfloat16|float|to|type|load|from_pretrained)\s*\(|set_default_dtype|dtype\s*="
)


@value_class
class Unlike:
    """What two arrays differ in, as the error says.

    Attributes:
        fact: `device`, `dtype` or `shape`.
        odd: what the one has that most arrays of the program have not; empty: neither stands out.
    """

    fact: str
    odd: str

    def of(self, value: Value) -> str:
        """Return what an array has of it."""
        return _fact(value, self.fact)

    def like(self, value: Value) -> Callable[[Value], bool]:
        """Return the question whether another array of the same library has the same of it."""
        own, library = self.of(value), _library_of(value)
        return lambda other: self.of(other) == own and _library_of(other) == library

    def apart(self, arrays: Sequence[Value]) -> Sequence[Value]:
        """Return the arrays that differ; if none do, those that aren't a model's weights."""
        data = [each for each in arrays if not each.type.endswith(_WEIGHTS)]
        return arrays if len(set(map(self.of, arrays))) > 1 else data or arrays

    def words(self, value: Value) -> str:
        """Return that as the end of a sentence: "on cpu", "an array of float32", "a tensor of shape 7x5"."""
        name = value.array_name
        head = {"device": "on", "dtype": f"{name} of"}.get(self.fact, f"{name} of shape")
        return f"{head} {self.of(value) or 'no dimension'}"


def may_convert(text: str) -> bool:
    """Whether a program may give the weights of a model another type than they are made with."""
    return _CONVERTS.search(text) is not None


def unlike_in(
    message: str,
    arrays: Sequence[Value],
    all_values: Iterable[Value],
    *,
    are_others_known: bool = False,
) -> Unlike | None:
    """Return what arrays of a failed operation differ in, where its error speaks of that.

    What a library holds by itself, such as weights, may not have been recorded: of an array that
    stands alone, the element type that the error names beside its own is the other one's. Which of
    the two is wrong can be counted only if those others have the type that they are made with.

    Args:
        message: what the error says.
        arrays: what the operation was given.
        all_values: every value that was recorded.
        are_others_known: nothing in the program converts what a library holds.
    """
    said = message.lower()
    known = {each.number: each for each in all_values if each.kind == ARRAY}.values()
    for fact in ("device", "dtype", "shape"):
        for one, other in combinations(arrays, 2):
            first, second = _fact(one, fact), _fact(other, fact)
            if first != second and _speaks_of(said, fact, first, second):
                return Unlike(fact, "" if fact == "shape" else _rarer(fact, first, second, known))
    types = {_fact(each, "dtype") for each in arrays}
    for own in types if len(types) == 1 else ():
        given = _GIVEN.search(said)
        is_refused = given is not None and given[1] in {own, _CALLED.get(own)}
        for beside in _CALLED:
            if beside != own and _speaks_of(said, "dtype", own, beside):
                is_rarer = are_others_known and _rarer("dtype", own, beside, known) == own
                return Unlike("dtype", own if is_refused or is_rarer else "")
    return None


def _library_of(value: Value) -> str:
    return value.type.partition(".")[0]


def _rarer(fact: str, first: str, second: str, known: Iterable[Value]) -> str:
    """Return which of two is rarer among the arrays of a program; empty: neither."""
    usual = Counter(_fact(each, fact) for each in known)
    rarer, other = sorted((first, second), key=lambda each: usual[each])
    return rarer if usual[rarer] < usual[other] else ""


def _fact(value: Value, fact: str) -> str:
    held = value.facts.get(fact, "")
    return "x".join(map(str, items_of(held))) if fact == "shape" else str(held)


def _speaks_of(said: str, fact: str, first: str, second: str) -> bool:
    """Whether an error's words are about two arrays' facts that differ."""
    if not (first and second):
        return False
    if fact == "device":
        kinds = {first.partition(":")[0], second.partition(":")[0]}
        names = kinds if len(kinds) > 1 else {first, second}
        is_asked_for = "same" in said and ("device" in said or any(kind in said for kind in kinds))
        return is_asked_for or all(name in said for name in names)
    words = {*_WORD.findall(said), *_TENSOR.findall(said)}
    if fact == "dtype":
        return all(each in words or _CALLED.get(each, each) in words for each in (first, second))
    one, other = (set(each.split("x")) & words for each in (first, second))
    if _NOT_FITTING.search(said):  # one size of each, and all others may be alike
        return any(each != beside for each in one for beside in other)
    return bool(one - set(second.split("x"))) and bool(other - set(first.split("x")))


@value_class(eq=False)
class Spread:
    """An operation that made a table of two rows of numbers, each with each.

    Attributes:
        step: where.
        operands: what is written there, each with its shape.
        made: the shape of what came out.
    """

    step: Step
    operands: tuple[tuple[ast.expr, str], tuple[ast.expr, str]]
    made: str


def spread_in(recording: Recording, sources: Sources, walk: Walk, until: int) -> Spread | None:
    """Return the first operation that took n numbers and a column of n numbers each with each.

    A program that wants a table of all pairs says so: `x[:, None] - x`, `reshape`, `outer`.

    Args:
        recording: of the failing run.
        sources: the program.
        walk: goes back through the run.
        until: the moment of the failure.
    """
    met = set[tuple[str, int]]()
    for step in recording.steps:
        path = step.frame.code.path
        if step.begin > until or step.result is not None or (path, step.line) in met:
            continue
        met.add((path, step.line))
        statement = sources[path].statement(step.line)
        if not isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return):
            continue
        if _PAIRS.search(ast.unparse(statement)):
            continue
        for node in ast.walk(statement):
            match node:
                case ast.BinOp(left=left, op=operator, right=right) if not isinstance(
                    operator, ast.MatMult
                ):
                    pair = (left, right)
                case ast.Compare(left=left, comparators=[right]):
                    pair = (left, right)
                case _:
                    continue
            shapes = [_shape_of(each, walk, step) for each in pair]
            if _is_each_with_each(*shapes):
                one, other = ("x".join(map(str, shape)) for shape in shapes)
                count = shapes[0][0]
                return Spread(step, ((left, one), (right, other)), f"{count}x{count}")
    return None


def _shape_of(expr: ast.expr, walk: Walk, step: Step) -> list[int]:
    """Return the shape of an array, also of an operation whose operands alone are known; empty: not known."""
    own = _shape(walk.now.value(expr, step.frame, step))
    if own or not isinstance(expr, ast.BinOp):
        return own
    left, right = (_shape_of(each, walk, step) for each in (expr.left, expr.right))
    if isinstance(expr.op, ast.MatMult):
        return [left[0], right[1]] if len(left) == len(right) == _COLUMN else []
    if left == right:
        return left
    lone = expr.right if left else expr.left
    value = walk.now.value(lone, step.frame, step)
    is_scalar = not (left and right) and value is not None and value.is_number
    return (left or right) if is_scalar else []


def _shape(value: Value | None) -> list[int]:
    shape = value.facts.get("shape") if value is not None and value.kind == ARRAY else None
    return [each for each in items_of(shape) if isinstance(each, int)] if shape else []


def _is_each_with_each(one: Sequence[int], other: Sequence[int]) -> bool:
    """Whether one is n numbers and the other a column of n numbers."""
    row, column = (one, other) if len(one) == 1 else (other, one)
    return len(row) == 1 and len(column) == _COLUMN and list(column) == [row[0], 1] and row[0] > 1
