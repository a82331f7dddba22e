"""The loop in which a program was when its time ran out, and the values that its conditions test."""

import ast
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

from whet.agent.site.whet_state.secret_rule import MASK
from whet.core.observations.clue import Clue, Sureness, TrailStep
from whet.core.value_class import value_class
from whet.evidence.provenance.run.control import is_in
from whet.evidence.provenance.run.recording import OBJECT, SCALAR, Call, Standing, Step, Value
from whet.evidence.provenance.run.source import changed_in, names_in
from whet.evidence.provenance.sentences.wording import Wording, cut
from whet.evidence.provenance.trace.moments import Moments

_PURE = {
    "abs", "all", "any", "bool", "float", "int", "isinstance", "len", "max", "min", "ord", "round",
    "sorted", "str", "sum",
}  # fmt: skip
"""They give the same for the same."""
_PLAIN = {"deque", "dict", "frozenset", "list", "set", "tuple"}
_MOST_CHARACTERS = 160
"""The recorder cuts longer words."""
_CALM = (
    ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Compare, ast.Constant, ast.Name, ast.Attribute, ast.Subscript,
    ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop,
)  # fmt: skip
_LEAST_ROUNDS = 3
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
_Loop = ast.While | ast.For | ast.AsyncFor


@value_class
class _Round:
    """A test of a loop as long as its outcome was the same.

    Attributes:
        test: what was tested.
        steps: whenever it was, since the loop was entered.
        operands: what it names, with what that has been since `since` and was at the end.
        since: number of earlier tests that saw other values.
    """

    test: ast.expr
    steps: Sequence[Step]
    operands: Sequence[tuple[ast.expr, Value]]
    since: int


@dataclass(slots=True)
class Unended(Wording):
    """Reports the loop in which a recording ends."""

    now: Moments = field(init=False)

    def __post_init__(self) -> None:
        """Make ready what looks values up."""
        self.now = Moments(self.recording, self.sources)

    def clues(self, stood: Collection[tuple[str, int]]) -> list[Clue]:
        """Return the facts about the innermost loop whose conditions test values that no longer change.

        Args:
            stood: the lines at which the program was seen when it failed.
        """
        for standing in self.recording.standing or ():
            for call, loop, line in self._loops(standing):
                inside = range(loop.lineno, (loop.end_lineno or loop.lineno) + 1)
                if any(path == call.code.path and each in inside for path, each in stood):
                    clue = self._clue_of(call, loop, replace(standing, call=call, line=line))
                    if clue is not None:
                        return [clue]
        return []

    def _loops(self, standing: Standing) -> Iterator[tuple[Call, _Loop, int]]:
        """Yield the loops around a place with the calls that they are in, the innermost first."""
        line = standing.line
        for call in standing.call.around:
            source = self.sources[call.code.path]
            own = source.node_of(call.code) or source.tree
            loops = [node for node in ast.walk(own) if isinstance(node, _Loop)]
            for loop in reversed(loops):
                if loop.lineno <= line and is_in(loop.body, max(line, loop.body[0].lineno)):
                    yield call, loop, line
            line = call.line

    def _clue_of(self, call: Call, loop: _Loop, standing: Standing) -> Clue | None:
        steps = _since_entered(call, loop)
        exits = _exits(loop)
        tests = [self._same(each, call, steps, standing) for each in exits or ()]
        same = [each for each in tests if each is not None]
        if not exits or len(same) < len(tests) or not same:
            return None
        path, first = call.code.path, same[0]
        looks = " and ".join(f"`{cut(self.sources[path].said(each.test))}`" for each in same)
        values = {self.said(e, call): _held(v) for each in same for e, v in each.operands}
        told = ", ".join(f"`{name}` {held}" for name, held in values.items())
        rounds = len(first.steps) - first.since
        which = f"the last {rounds} of {len(first.steps)}" if first.since else f"all {rounds}"
        line = first.test.lineno
        return replace(
            self.clue(
                f"the loop at {self.at(path, loop.lineno)} did not end: what decides that, {looks}, looked at"
                f" the same in {which} recorded rounds and when the time was up: {told}",
                path, line, Sureness.SEEN, tuple(self._kept(call, loop, same, steps)),
            ),
            why="whet recorded each step of a run until its time was up",
        )  # fmt: skip

    # ---- tests ----

    def _same(
        self, tests: Sequence[ast.expr], call: Call, steps: Sequence[Step], standing: Standing
    ) -> _Round | None:
        """Return the innermost of nested tests that was reached; None: what it looks at changes."""
        for test in reversed(tests):
            ran = [step for step in steps if step.line == test.lineno]
            if len(ran) >= _LEAST_ROUNDS:
                return self._unchanged(test, call, ran, standing)
        return None

    def _unchanged(
        self, test: ast.expr, call: Call, ran: Sequence[Step], standing: Standing
    ) -> _Round | None:
        operands = list(_operands(test))
        last = replace(ran[-1], begin=standing.moment)
        if not operands or not self._is_calm(test, call, last):
            return None
        held = [(each, self.now.value(each, call, last)) for each in operands]
        known = [(each, value) for each, value in held if value and self._is_known(value, test)]
        since = len(ran)
        while since and all(
            _is_alike(value, self.now.value(each, call, ran[since - 1])) for each, value in known
        ):
            since -= 1
        if len(known) < len(operands) or len(ran) - since < _LEAST_ROUNDS:
            return None
        return _Round(test, ran, known, since)

    def _is_calm(self, test: ast.expr, call: Call, step: Step) -> bool:
        """Whether a test comes out alike as long as what it names is the same."""
        for node in ast.walk(test):
            if isinstance(node, ast.Call):
                name = node.func.id if isinstance(node.func, ast.Name) else ""
                is_own = self.now.value(node.func, call, step) is not None
                if name not in _PURE or is_own or node.keywords:
                    return False
            elif not isinstance(node, _CALM):
                return False
        return True

    def _is_known(self, value: Value, test: ast.expr) -> bool:
        """Whether all is known that a test can see of a value."""
        if value.kind == SCALAR:
            return value.words != MASK and len(value.words) < _MOST_CHARACTERS
        if value.kind == OBJECT:  # its methods may look at anything
            asked = test.ops if isinstance(test, ast.Compare) else [ast.Eq()]
            return all(isinstance(each, ast.Is | ast.IsNot) for each in asked)
        is_plain = value.type.rpartition(".")[2] in _PLAIN and value.is_whole
        parts = [each for _, each in self.recording.parts(value)]
        return is_plain and all(self._is_known(each, test) for each in parts)

    # ---- what would have changed it ----

    def _kept(
        self, call: Call, loop: _Loop, same: Sequence[_Round], steps: Sequence[Step]
    ) -> Iterator[TrailStep]:
        """Say which lines of the loop would change what its tests look at, and were not run."""
        path = call.code.path
        named = {_root(each) for one in same for each, _ in one.operands}
        begin = min(each.steps[each.since].begin for each in same)
        ran = {step.line for step in steps if step.begin >= begin}
        for statement in _own(loop.body):
            if isinstance(statement, _Loop | ast.If | ast.With | ast.Try):
                continue
            if statement.lineno not in ran and named & set(_changes(statement)):
                tests = [each for each in _around(loop, statement) if each.test.lineno in ran]
                yield TrailStep(
                    says=f"would change that, and was not run in them{self._why(call, tests, statement, steps)}",
                    place=self.at(path, statement.lineno),
                    source=self.line(path, statement.lineno),
                )

    def _why(
        self, call: Call, tests: Sequence[ast.If], statement: ast.stmt, steps: Sequence[Step]
    ) -> str:
        """Say how the innermost test around a statement came out that was reached."""
        if not tests:
            return ""
        test, path = tests[-1].test, call.code.path
        was = "false" if is_in(tests[-1].body, statement.lineno) else "true"
        last = [step for step in steps if step.line == test.lineno][-1]
        values = [
            f"`{self.said(each, call)}` was {cut(value.words)}"
            for each in _operands(test)
            if (value := self.now.value(each, call, last)) and value.kind == SCALAR
        ]
        said = cut(self.sources[path].said(test))
        told = f": {' and '.join(values)}" if values else ""
        return f", because `{said}` at {self.at(path, test.lineno)} was {was}{told}"


def _since_entered(call: Call, loop: _Loop) -> list[Step]:
    """Return the lines of a loop that a call has run since it came to it last."""
    found: list[Step] = []
    for step in reversed(call.steps):
        if step.result is not None:
            continue
        if not loop.lineno <= step.line <= (loop.end_lineno or loop.lineno):
            break
        found.append(step)
    return found[::-1]


def _exits(loop: _Loop) -> list[list[ast.expr]] | None:
    """Return the tests that decide whether a loop continues, each with those around it first.

    None: something else decides, or may do so.
    """
    found: list[list[ast.expr]] = []
    if not isinstance(loop, ast.While):
        return None
    if not isinstance(loop.test, ast.Constant):
        found.append([loop.test])
    for statement in _own(loop.body):
        is_break = isinstance(statement, ast.Break) and _loop_of(loop, statement) is loop
        if is_break or isinstance(statement, ast.Return | ast.Raise):
            tests = [each.test for each in _around(loop, statement)]
            if not tests:
                return None
            found.append(tests)
    return found


def _own(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements of a block and of the blocks in it, but for those of functions in it."""
    for statement in body:
        if isinstance(statement, _FUNCTIONS):
            continue
        yield statement
        for name in ("body", "orelse", "finalbody"):
            inner: list[ast.stmt] = getattr(statement, name, [])
            yield from _own(inner)
        for handler in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _own(handler.body)


def _around(loop: _Loop, statement: ast.stmt) -> list[ast.If]:
    """Return the tests in a loop around one of its statements, the outermost first."""
    return [
        each
        for each in _own(loop.body)
        if isinstance(each, ast.If) and any(one is statement for one in ast.walk(each))
    ]


def _loop_of(loop: _Loop, statement: ast.stmt) -> _Loop:
    """Return the innermost loop around a statement."""
    inner = [each for each in _own(loop.body) if isinstance(each, _Loop)]
    around = [each for each in inner if any(one is statement for one in ast.walk(each))]
    return around[-1] if around else loop


def _is_alike(value: Value, other: Value | None) -> bool:
    """Whether something was the same, and held the same."""
    return value.is_same(other) and (value.kind == SCALAR or value is other)


def _operands(test: ast.expr) -> Iterator[ast.expr]:
    """Yield the variables, attributes and items that a test looks at."""
    if isinstance(test, ast.Name | ast.Attribute | ast.Subscript):
        yield test
        return
    for node in ast.iter_child_nodes(test):
        is_called = isinstance(test, ast.Call) and node is test.func
        if isinstance(node, ast.expr) and not is_called:
            yield from _operands(node)


def _root(expr: ast.expr) -> str:
    """Return the variable that an expression begins with; empty: with none."""
    while isinstance(expr, ast.Attribute | ast.Subscript):
        expr = expr.value
    return expr.id if isinstance(expr, ast.Name) else ""


def _changes(statement: ast.stmt) -> Iterator[str]:
    """Yield the variables that a statement binds, or whose objects it changes."""
    targets: list[ast.expr] = getattr(statement, "targets", [])
    for target in (*targets, *filter(None, [getattr(statement, "target", None)])):
        yield from names_in(target)
        yield _root(target)
    yield from map(_root, changed_in(statement))


def _held(value: Value) -> str:
    """Say what something was."""
    if value.kind == SCALAR:
        return f"was {cut(value.words)}"
    kind = value.type.rpartition(".")[2]
    return f"was the same {kind}" if value.kind == OBJECT else f"was a {kind} of {value.size}"
