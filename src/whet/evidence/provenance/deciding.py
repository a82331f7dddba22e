"""Which test has decided for a failure, where another function or variable only passes its answer on."""

import ast
from dataclasses import replace

from whet.evidence.provenance.recording import Call, Step
from whet.evidence.provenance.source import Sources, called_name
from whet.evidence.provenance.suspects import EXIT, Failing, tested_in
from whet.evidence.provenance.walk import Walk

_MOST_STEPS = 10
_ANSWERS = {"bool", "int", "NoneType"}
_PLAIN = {"bool", "int"}
_EXITS = {"exit", "_exit", "SystemExit"}
_TESTS = (ast.Compare, ast.BoolOp)


def decided(failing: Failing, sources: Sources, walk: Walk) -> Failing:
    """Return what decided for a failure, as if the program had failed there.

    `sys.exit(main())`, `assert is_good(x)` and `if not ok: raise …` only pass an answer on. What the
    answer was made of tells more: the comparison in `return 0 if accuracy >= 0.8 else 1`.
    """
    node, step = _given_code(failing, walk) or tested_in(failing, sources)
    call, passed, followed = failing.call, list(failing.passed_on), dict(walk.passed)
    start = node
    for _ in range(_MOST_STEPS):
        node = _inner(node)
        if isinstance(node, _TESTS):
            break
        if isinstance(node, ast.IfExp):
            node = node.test
            continue
        if isinstance(node, ast.Constant):
            before = _test_before(call, step, node, sources)
            if before is None:
                break
            passed.append((call.code.path, node.lineno))
            node, step = before
            continue
        if not isinstance(node, ast.expr):
            break
        made = _made(node, call, step, walk, is_exit=failing.error.type == EXIT)
        if made is None:
            break
        passed.append((call.code.path, step.line))
        node, call, step = made
    walk.passed = followed
    if node is start or not isinstance(node, _TESTS):
        return failing
    passed.append((failing.call.code.path, failing.error.line))
    error = replace(failing.error, line=step.line)
    return Failing(error, call, step, node, passed_on=tuple(dict.fromkeys(passed)), is_decided=True)


def _given_code(failing: Failing, walk: Walk) -> tuple[ast.expr, Step] | None:
    """Return the exit code with which a program ended itself, if it is no message and not written there."""
    code = _inner(failing.node)
    if failing.error.type != EXIT or not isinstance(code, ast.expr) or code is failing.node:
        return None
    if isinstance(code, (*_TESTS, ast.IfExp)):
        return code, failing.step
    value = walk.now.value(code, failing.call, failing.step)
    is_given = not isinstance(code, ast.Constant) and value is not None and value.type in _ANSWERS
    return (code, failing.step) if is_given else None


def _inner(node: ast.AST) -> ast.AST:
    """Return what an expression turns into an answer of another type, or into its opposite."""
    while True:
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=inner) | ast.NamedExpr(value=inner):
                node = inner
            case ast.Expr(value=inner) | ast.Raise(exc=ast.expr() as inner):
                node = inner
            case ast.Call(args=[inner], keywords=[]) if called_name(node) in _PLAIN | _EXITS:
                node = inner
            case _:
                return node


def _made(
    node: ast.expr, call: Call, step: Step, walk: Walk, *, is_exit: bool
) -> tuple[ast.expr, Call, Step] | None:
    """Return the expression that has made an answer, if it was made elsewhere."""
    value = walk.now.value(node, call, step)
    if value is None or value.type not in (_ANSWERS if is_exit else {"bool"}):
        return None
    for hop in walk.back(node, call, step, value, None).hops:
        expr = None if hop.expr is None else _inner(hop.expr)
        if hop.step is not None and isinstance(expr, (*_TESTS, ast.IfExp, ast.Constant)):
            return expr, hop.call, hop.step
    return None


def _test_before(
    call: Call, step: Step, node: ast.AST, sources: Sources
) -> tuple[ast.expr, Step] | None:
    """Return the test that chose a constant, and when it was made."""
    source = sources[call.code.path]
    statement = source.statement(node.lineno) if isinstance(node, ast.expr) else None
    for each in ast.walk(statement) if statement is not None else ():
        if isinstance(each, ast.IfExp) and node in {each.body, each.orelse}:
            return each.test, step
    for before in reversed(call.steps):
        if before.begin >= step.begin or before.result is not None:
            continue
        head = source.statement(before.line)
        if isinstance(head, ast.If | ast.While) and any(
            each is statement for each in ast.walk(head)
        ):
            return head.test, before
    return None
