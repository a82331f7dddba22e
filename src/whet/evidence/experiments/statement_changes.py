"""Changes of a statement: another indentation, a lost statement, another order."""

import ast
import copy
from collections.abc import Iterator, Sequence

from whet.evidence.experiments.single_changes import (
    FUNCTIONS,
    LESS_LIKELY,
    LIKELY,
    OPERATORS,
    STATEFUL,
    UNLIKELY,
    SingleChange,
    called_name,
)

_Statements = tuple[list[ast.stmt], int]

_UNITS: dict[str, dict[str, float]] = {
    "time": {
        "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "millis": 1e-3, "milliseconds": 1e-3, "s": 1, "sec": 1, "secs": 1,
        "seconds": 1, "mins": 60, "minutes": 60, "hours": 3600, "days": 86400,
    },
    "length": {"mm": 1e-3, "cm": 1e-2, "km": 1e3, "metres": 1, "meters": 1},
    "mass": {"mg": 1e-3, "grams": 1, "kg": 1e3},
    "money": {"cents": 1, "euros": 100, "eur": 100, "dollars": 100, "usd": 100},
    "share": {"percent": 1, "pct": 1, "fraction": 100},
}  # fmt: skip
_SHORT = frozenset({"s", "us", "sec"})
"""A unit only at the end of a longer name: `wait_s`, not `s`."""


def statement_changes_of(node: ast.stmt, around: Sequence[ast.AST]) -> Iterator[SingleChange]:
    """Yield what may stand instead of a statement, in lines of its own depth.

    Args:
        node: the statement.
        around: what it is in, the innermost last.
    """
    given = (*_in_its_unit(node), *_begun_alike(node, around), *_of_statement(node, around))
    for statements, rank in given:
        yield SingleChange(node, "\n".join(map(ast.unparse, statements)), rank)
    after = _after(node, around)
    are_steps = after is not None and _are_steps(node, after)
    if after is not None and (are_steps or _calls_of(node) & _calls_of(after)):
        swapped = f"{ast.unparse(after)}\n{ast.unparse(node)}"
        yield SingleChange(node, swapped, LIKELY if are_steps else LESS_LIKELY, until=after)


def _after(node: ast.stmt, around: Sequence[ast.AST]) -> ast.stmt | None:
    """Return the statement that follows in the same block."""
    for name in ("body", "orelse", "finalbody") if around else ():
        block: list[ast.stmt] | ast.expr | None = getattr(around[-1], name, None)
        if isinstance(block, list) and node in block[:-1]:
            return block[block.index(node) + 1]
    return None


def _calls_of(node: ast.stmt) -> set[str]:
    """Return on what a statement of one line calls a method; which comes first may matter."""
    if not isinstance(node, ast.Expr | ast.Assign | ast.AugAssign):
        return set()
    return {
        ast.unparse(each.func.value)
        for each in ast.walk(node)
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute)
    }


def _are_steps(node: ast.stmt, after: ast.stmt) -> bool:
    """Whether both statements compute the same variable from the value that it had before."""
    match node, after:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value),
            ast.Assign(targets=[ast.Name(id=other)], value=later),
        ):
            return name == other and all(
                any(isinstance(each, ast.Name) and each.id == name for each in ast.walk(made))
                for made in (value, later)
            )
        case _:
            return False


def _of_statement(node: ast.stmt, around: Sequence[ast.AST]) -> Iterator[_Statements]:
    match node:
        case ast.Break():
            yield [ast.Continue()], LESS_LIKELY
        case ast.Continue():
            yield [ast.Break()], LESS_LIKELY
        case ast.AugAssign(target=ast.Name() as target, op=op, value=value):
            yield [ast.Assign([target], value, lineno=0)], LESS_LIKELY
            for other in OPERATORS.get(type(op), ()):
                yield [ast.AugAssign(target, other(), value)], LESS_LIKELY
        case ast.Assign(targets=[ast.Name() as target], value=value) if _is_in_loop(around):
            yield [ast.AugAssign(target, ast.Add(), value)], LESS_LIKELY
        case ast.For() | ast.While():
            yield from _loops(node)
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            yield from _functions(node, around)
        case ast.If():
            yield from _branches(node)
            yield from _only_reporting(node, around)
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))) if name in STATEFUL:
            yield [ast.Pass()], UNLIKELY
        case _:
            return


def _in_its_unit(node: ast.stmt) -> Iterator[_Statements]:
    """Yield a value that has another unit in its name than its variable, converted."""
    match node:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Name(id="float" | "int" | "Decimal"), args=[inner]) as value,
        ):
            pass
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            inner = value  # any other call may convert it
        case _:
            return
    match inner:
        case ast.Name(id=said) | ast.Attribute(attr=said):
            pass
        case ast.Subscript(slice=ast.Constant(value=str(said))):
            pass
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(said)), *_]):
            pass
        case _:
            return
    own, given = _unit_of(name), _unit_of(said)
    if own is None or given is None or given[0] != own[0] or given[1] == own[1]:
        return
    factor = given[1] / own[1]
    operator = ast.Mult() if factor > 1 else ast.Div()
    times = ast.Constant(round(factor if factor > 1 else 1 / factor))
    converted = ast.BinOp(value, operator, times)
    yield [ast.Assign([ast.Name(name)], converted, lineno=0)], LIKELY


def _unit_of(name: str) -> tuple[str, float] | None:
    """Return what a name says that its number counts, and how much one of them is; None: it says neither."""
    *before, last = name.lower().split("_")
    if not before and last in _SHORT:
        return None
    return next(((kind, units[last]) for kind, units in _UNITS.items() if last in units), None)


def _begun_alike(node: ast.stmt, around: Sequence[ast.AST]) -> Iterator[_Statements]:
    """Yield a variable reset to a value that it starts with elsewhere in the same function."""
    own = next((each for each in reversed(around) if isinstance(each, FUNCTIONS)), None)
    for each in ast.walk(own) if own is not None else ():
        match node, each:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=value)),
                ast.Assign(targets=[ast.Name(id=other)], value=ast.Constant(value=before)),
            ) if name == other and (type(value), value) != (type(before), before):
                yield [ast.Assign([ast.Name(name)], ast.Constant(before), lineno=0)], LESS_LIKELY
            case _:
                pass


def _loops(node: ast.For | ast.While) -> Iterator[_Statements]:
    """Yield the loop with its last line behind it, as when that is one step too far in."""
    yield from _last_batch(node)
    *body, last = node.body
    is_simple = isinstance(last, ast.Return | ast.Expr | ast.Assign | ast.AugAssign)
    if body and is_simple and not node.orelse:
        loop = copy.copy(node)
        loop.body = body
        yield [loop, last], LIKELY if isinstance(last, ast.Return) else UNLIKELY
    for position, each in enumerate(node.body):
        inner = each.orelse if isinstance(each, ast.If) else []
        if len(inner) == 1 and isinstance(inner[0], ast.Return):
            loop = copy.copy(node)
            part = copy.copy(each)
            assert isinstance(part, ast.If)
            part.orelse = []
            loop.body = [*node.body[:position], part, *node.body[position + 1 :]]
            yield [loop, inner[0]], LIKELY


def _functions(
    node: ast.FunctionDef | ast.AsyncFunctionDef, around: Sequence[ast.AST]
) -> Iterator[_Statements]:
    last = node.body[-1]
    gives = any(
        isinstance(each, ast.Return | ast.Yield | ast.YieldFrom)
        for statement in node.body
        for each in ast.walk(statement)
        if getattr(each, "value", None) is not None
    )
    target = last.targets[0] if isinstance(last, ast.Assign) else None
    result = last.value if isinstance(last, ast.Expr) else target
    is_print = isinstance(result, ast.Call) and called_name(result) in {"print", *STATEFUL}
    if not gives and isinstance(result, ast.Call | ast.Name) and not is_print:
        function = copy.copy(node)
        value = copy.deepcopy(result)
        if isinstance(value, ast.Name):
            value.ctx = ast.Load()
        keeps = [] if isinstance(last, ast.Expr) else [last]
        function.body = [*node.body[:-1], *keeps, ast.Return(value)]
        yield [function], LIKELY
    yield from _like_base(node, around)
    owner = around[-1] if around else None
    is_derived = isinstance(owner, ast.ClassDef) and owner.bases
    if node.name == "__init__" and is_derived and "super()" not in ast.unparse(node):
        function = copy.copy(node)
        function.body = [*ast.parse("super().__init__()").body, *node.body]
        yield [function], LIKELY


def _like_base(
    node: ast.FunctionDef | ast.AsyncFunctionDef, around: Sequence[ast.AST]
) -> Iterator[_Statements]:
    """Yield a method with its parameters in the order of another one of its name."""
    own = [each.arg for each in node.args.args]
    for other in ast.walk(around[0]) if around else ():
        if not isinstance(other, FUNCTIONS) or other.name != node.name:
            continue
        names = [each.arg for each in other.args.args]
        if names != own and sorted(names) == sorted(own):
            function = copy.copy(node)
            function.args = copy.copy(node.args)
            function.args.args = sorted(node.args.args, key=lambda each: names.index(each.arg))
            yield [function], LIKELY
            return


def _branches(node: ast.If) -> Iterator[_Statements]:
    """Yield the test with the one after it before it."""
    if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        other = node.orelse[0]
        later = copy.copy(node)
        later.orelse = other.orelse
        first = copy.copy(other)
        first.orelse = [later]
        yield [first], LESS_LIKELY


def _only_reporting(node: ast.If, around: Sequence[ast.AST]) -> Iterator[_Statements]:
    """Yield a test that only reports, and then continues, with a way out."""
    is_function = any(isinstance(each, FUNCTIONS) for each in around)
    calls = [
        each
        for each in node.body
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call)
    ]
    if len(calls) < len(node.body) or node.orelse or not (is_function or _is_in_loop(around)):
        return
    function = copy.copy(node)
    function.body = [*node.body, ast.Continue() if _is_in_loop(around) else ast.Return()]
    yield [function], LESS_LIKELY


def _last_batch(node: ast.For | ast.While) -> Iterator[_Statements]:
    """Yield the loop with what it does with a full batch done once more, for the last one."""
    for each in ast.walk(node):
        match each:
            case ast.If(body=[ast.Expr(value=call), ast.Assign(targets=[ast.Name(id=name)])]):
                pass
            case ast.If(
                body=[
                    ast.Expr(value=call),
                    ast.Expr(
                        value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="clear"))
                    ),
                ]
            ):
                pass
            case _:
                continue
        if any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(call)):
            yield [node, ast.Expr(call)], LIKELY


def _is_in_loop(around: Sequence[ast.AST]) -> bool:
    return any(isinstance(each, ast.For | ast.While) for each in around)
