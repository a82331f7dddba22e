"""The lines that a bad value passed through, nearest to the failure first."""

import ast
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

from whet.core.value_class import value_class
from whet.evidence.provenance.recording import Recording, Step, Value
from whet.evidence.provenance.source import Sources, called_name
from whet.evidence.provenance.suspects import Failing, tested_in
from whet.evidence.provenance.trail import SIMPLE
from whet.evidence.provenance.walk import Walk
from whet.host.inspect.stacks import is_user_code

_EQUAL = ("assertequal", "assert_equal", "assertlistequal", "assertdictequal", "assertcountequal")
_MOST_ROUNDS = 3
_MOST_SOURCES = 6
_PLAIN = {"str", "int", "float"}


@value_class
class Way:
    """The lines that may have made a value bad.

    Attributes:
        places: files and lines: those that it was followed through, then what else was run there,
            then what else was run, the latest first.
        active: the lines of the calls that were under way at the failure, by file.
        failing: the file and the line of the failure.
        is_exact: the failing check states the value that it wants.
        kind_of: returns the type that an expression on a line of a file had; empty: not known.
    """

    places: tuple[tuple[str, int], ...]
    active: Mapping[str, AbstractSet[int]]
    failing: tuple[str, int]
    is_exact: bool
    kind_of: Callable[[str, ast.expr, int], str]


def way_of(failing: Failing, recording: Recording, sources: Sources, walk: Walk) -> Way:
    """Return the way of the value of a failure, after it was followed."""
    path, moment = failing.call.code.path, failing.error.moment
    active: dict[str, set[int]] = {path: {failing.error.line}}
    for call in failing.call.around:
        step = call.step_at(moment)
        if step is not None:
            active.setdefault(call.code.path, set()).add(step.line)
    common = _of_both_sides(failing, sources, walk)
    followed = {e: None for e in walk.passed if is_user_code(e[0]) and e not in common}
    of_functions = {
        (step.frame.code.path, step.frame.code.name)
        for step in recording.steps
        if (step.frame.code.path, step.line) in followed
    }
    rest = [
        (step.frame.code.path, step.line, step.frame.code.name)
        for step in reversed(recording.steps)
        if step.begin < moment and step.result is None and is_user_code(step.frame.code.path)
    ]
    near = {(p, line): None for p, line, name in rest if (p, name) in of_functions}
    far = {(p, line): None for p, line, _ in rest}
    return Way(
        places=tuple(each for each in {**followed, **near, **far} if each not in common),
        active=active,
        failing=(path, failing.error.line),
        is_exact=_is_exact(failing, sources, walk),
        kind_of=_Kinds(recording, walk),
    )


def _of_both_sides(failing: Failing, sources: Sources, walk: Walk) -> set[tuple[str, int]]:
    """Return the lines that both sides of a comparison come from: a change there moves both."""
    test, step = tested_in(failing, sources)
    if not isinstance(test, ast.Compare):
        return set()
    every, sides = walk.passed, list[set[tuple[str, int]]]()
    for side in (test.left, *test.comparators):
        walk.passed = {}
        for expr, value in walk.now.operands(ast.Expr(side), failing.call, step):
            waiting = [walk.back(expr, failing.call, step, value, None)]
            for _ in range(_MOST_SOURCES):
                made = waiting.pop(0) if waiting else None
                if made is None or made.expression is None or made.call is None:
                    break
                if made.step is not None:
                    whole = ast.Expr(made.expression)
                    for part, was in list(walk.now.operands(whole, made.call, made.step)):
                        waiting.append(walk.back(part, made.call, made.step, was, None))
        sides.append(set(walk.passed))
    walk.passed = {**every, **{place: None for side in sides for place in side}}
    return sides[0].intersection(*sides[1:])


def _is_exact(failing: Failing, sources: Sources, walk: Walk) -> bool:
    """Whether a check has compared a value with the one that was wanted."""
    statement = sources[failing.call.code.path].statement(failing.error.line)
    test: ast.AST | None = statement if isinstance(statement, ast.Assert | ast.Expr) else None
    wanted: type[ast.cmpop] = ast.Eq
    if isinstance(statement, ast.Raise):  # `if wanted != found: raise`
        test, wanted = tested_in(failing, sources)[0], ast.NotEq
    for node in ast.walk(test) if test is not None else ():
        sides: list[ast.expr] = []
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], wanted):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and called_name(node).lower().startswith(_EQUAL):
            sides = node.args
        for side in sides:
            value = walk.now.value(side, failing.call, failing.step)
            is_plain = value is not None and value.words in SIMPLE
            is_written = isinstance(side, ast.Constant | ast.List | ast.Dict | ast.Tuple | ast.Set)
            if (value is not None or is_written) and not is_plain:
                return True
    return False


class _Kinds:
    """Tells the types of expressions by the last times that their lines were run."""

    def __init__(self, recording: Recording, walk: Walk) -> None:
        self._walk = walk
        self._steps: dict[tuple[str, int], list[Step]] = {}
        for step in reversed(recording.steps):
            known = self._steps.setdefault((step.frame.code.path, step.line), [])
            if step.result is None and len(known) < _MOST_ROUNDS:
                known.append(step)

    def __call__(self, path: str, expr: ast.expr, line: int) -> str:
        """Return a type; empty: it isn't known."""
        for step in self._steps.get((path, line), ()):
            value: Value | None = self._walk.now.value(expr, step.frame, step)
            if value is not None:
                return value.type
        return ""
