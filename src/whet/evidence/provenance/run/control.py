"""Which condition decided what a function did: the branch taken, the rows skipped."""

import ast
from collections.abc import Iterator, Sequence

from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import Call, Step
from whet.evidence.provenance.run.source import Comprehension, Sources, called_name

_COLLECTING = {"append", "add", "extend", "update", "appendleft", "insert"}


@value_class
class Decision:
    """A test and how it came out.

    Attributes:
        test: what was tested.
        step: the last time.
        was: how it came out then.
        times: how often it came out so.
    """

    test: ast.expr
    step: Step
    was: bool
    times: int = 1


class Control:
    """Looks for what has decided, in one recording."""

    def __init__(self, sources: Sources) -> None:
        """Make it ready."""
        self._sources = sources

    def decided(self, call: Call, line: int, moment: int) -> Decision | None:
        """Return the innermost test that led to a line of a call."""
        source = self._sources[call.code.path]
        for step in reversed(call.steps):
            if step.begin >= moment or step.result is not None:
                continue
            statement = source.statement(step.line)
            if isinstance(statement, ast.If) and step.line == statement.lineno:
                was = _led_to(statement, line, call, step)
                if was is not None:
                    return Decision(statement.test, step, was=was)
        return None

    def broke_off(self, call: Call, line: int) -> Decision | None:
        """Return the test whose `break` ended the loop around a line; None: it went round to its end."""
        source = self._sources[call.code.path]
        own = source.node_of(call.code) or source.tree
        for loop in ast.walk(own):
            if not isinstance(loop, ast.For | ast.AsyncFor | ast.While) or not is_in(
                loop.body, line
            ):
                continue
            inside = [s for s in call.steps if s.result is None and is_in(loop.body, s.line)]
            last = inside[-1] if inside else None
            if last is not None and isinstance(source.statement(last.line), ast.Break):
                return self.decided(call, last.line, last.begin)
        return None

    def not_left(self, call: Call) -> Decision | None:
        """Return the last test with which a call could have been left, and was not."""
        source = self._sources[call.code.path]
        for step in reversed(call.steps):
            statement = source.statement(step.line)
            if step.result is None and isinstance(statement, ast.If):
                later = [each.line for each in call.steps if each.begin > step.begin]
                leaves = isinstance(statement.body[-1], ast.Return | ast.Raise)
                if leaves and not any(is_in(statement.body, each) for each in later):
                    return Decision(statement.test, step, was=False)
        return None

    def kept_from(self, call: Call, line: int) -> Decision | None:
        """Return the innermost test that has kept a call from a line; None: no test has."""
        own = self._sources[call.code.path].node_of(call.code)
        lines = {step.line for step in call.steps if step.result is None}
        found: Decision | None = None
        for node in ast.walk(own) if own is not None else ():
            if not isinstance(node, ast.If) or node.lineno not in lines:
                continue
            last = [step for step in call.steps if step.line == node.lineno][-1]
            if is_in(node.body, line) or is_in(node.orelse, line):
                was = is_in(node.orelse, line)
                if not _ran(node.orelse if was else node.body, lines):
                    found = Decision(node.test, last, was=was)
            elif node.lineno < line and _leaves(node.body) and _ran(node.body[-1:], lines):
                found = found or Decision(node.test, last, was=True)
        return found

    def loops(self, call: Call, line: int) -> list[ast.For]:
        """Return the loops around a line of a call, the outermost first."""
        source = self._sources[call.code.path]
        own = source.node_of(call.code) or source.tree
        return [
            node for node in ast.walk(own) if isinstance(node, ast.For) and is_in(node.body, line)
        ]

    def passed_over(self, call: Call) -> Decision | None:
        """Return the test for which a call has yielded and collected nothing."""
        source = self._sources[call.code.path]
        own = source.node_of(call.code)
        if not isinstance(own, ast.FunctionDef | ast.AsyncFunctionDef):
            return None
        lines = {step.line for step in call.steps if step.result is None}
        for node in ast.walk(own):
            if not isinstance(node, ast.If) or node.lineno not in lines:
                continue
            skipped = node.body if any(map(_collects, node.body)) else []
            was = False
            if not skipped and _leaves(node.body):
                skipped, was = _behind(own, node), True
            if skipped and any(map(_collects, skipped)) and not _ran(skipped, lines):
                steps = [step for step in call.steps if step.line == node.lineno]
                return Decision(node.test, steps[-1], was=was, times=len(steps))
        return None


def filters_of(expr: ast.expr | None) -> Iterator[ast.expr]:
    """Yield the tests of a comprehension."""
    if isinstance(expr, Comprehension):
        for generator in expr.generators:
            yield from generator.ifs


def is_in(statements: Sequence[ast.stmt], line: int) -> bool:
    """Whether a line is one of some statements."""
    return any(each.lineno <= line <= (each.end_lineno or each.lineno) for each in statements)


def _led_to(statement: ast.If, line: int, call: Call, step: Step) -> bool | None:
    """Return how a test came out, if it led to a line; None: it did not, or nothing shows how."""
    body = statement.body
    if is_in(body, line) or is_in(statement.orelse, line):
        return is_in(body, line)
    if not _leaves(body) or statement.lineno > line:  # else it is of the round before
        return None
    if body[0].lineno == statement.lineno and isinstance(body[-1], ast.Break | ast.Continue):
        return None  # on one line: no step of its own
    head = range(statement.lineno, body[0].lineno)
    later = (each.line for each in call.steps if each.begin > step.begin)
    after = next((each for each in later if each not in head), line)
    if not is_in(body, after):
        return False
    return True if isinstance(body[-1], ast.Break) else None


def _leaves(body: list[ast.stmt]) -> bool:
    return isinstance(body[-1], ast.Return | ast.Continue | ast.Break | ast.Raise)


def _collects(statement: ast.stmt) -> bool:
    """Whether a statement yields something, or puts it into something."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Yield | ast.YieldFrom | ast.AugAssign):
            return True
        if isinstance(node, ast.Call) and called_name(node) in _COLLECTING:
            return True
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Subscript) for target in node.targets
        ):
            return True
    return False


def _behind(own: ast.AST, node: ast.If) -> list[ast.stmt]:
    """Return the statements after one, in the same body."""
    for around in ast.walk(own):
        bodies: list[list[ast.stmt]] = [getattr(around, "body", []), getattr(around, "orelse", [])]
        for body in bodies:
            if isinstance(around, ast.stmt) and node in body:
                return body[body.index(node) + 1 :]
    return []


def _ran(statements: list[ast.stmt], lines: set[int]) -> bool:
    return any(is_in(statements, line) for line in lines)
