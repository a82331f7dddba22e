"""Small changes of a program for operations whose numbers aren't those that are meant.

Arrays that it takes each with each, where it means one with one; integers so small that a result out of
their range wraps around.
"""

import ast
from collections.abc import Iterator
from functools import partial

from whet.evidence.experiments.changes import (
    Change,
    Edit,
    Needed,
    edit_at,
    expression,
    line_of,
    name_of,
)

EACH_WITH_EACH, NARROW = "each with each", "small integers"
_PAIRED = (
    "(lambda one, other: (lambda row, column: (one, other) if len(row) != 1 or tuple(column) != (row[0], 1)"
    " else (one.reshape(tuple({shape})), other.reshape(tuple({shape}))))"
    "(*sorted((getattr(one, 'shape', ()), getattr(other, 'shape', ())), key=len)))({left}, {right})"
)
"""Two operands, both in the shape of one of them."""
_ONE_WITH_ONE = "(lambda pair: pair[0] {sign} pair[1])({pair})"
_WIDE = (
    "(lambda own: own.astype('int64') if hasattr(own, 'astype') else own.long()"
    " if hasattr(own, 'long') else own)"
)
_UNLESS_SAME = (
    "(lambda make, *own: (lambda was, wide: was if getattr(was == wide, 'all', lambda: True)()"
    " else wide)(make(*own),"
    f" make(*map({_WIDE}, own))))"
)
"""What a function makes of its arguments, or of 64-bit ones where that is something else."""
_PASSES_ENDS = ast.Add | ast.Sub | ast.Mult | ast.LShift | ast.Pow
_MIXES = ast.BitAnd | ast.BitOr | ast.BitXor | ast.LShift | ast.RShift | ast.Mod
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_CALLS_PAST = frozenset({"diff", "subtract", "add", "multiply", "negative", "gradient", "abs"})
_LESS = frozenset({"diff", "subtract", "gradient"})
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_TESTS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.LtE: "<=",
    ast.GtE: ">=",
}


def shaped_otherwise(node: ast.AST) -> Iterator[Change]:
    """Yield an operation of two arrays with both in one shape."""
    match node:
        case ast.BinOp(left=left, op=operator, right=right):
            sign = _SIGNS.get(type(operator), "")
        case ast.Compare(left=left, ops=[test], comparators=[right]):
            sign = _TESTS.get(type(test), "")
        case _:
            return
    if not sign or isinstance(left, ast.Constant) or isinstance(right, ast.Constant):
        return
    own, source = (ast.unparse(left), ast.unparse(right)), ast.unparse(node)
    for shape in ("row", "column"):
        pair = _PAIRED.format(left=own[0], right=own[1], shape=shape)
        made = expression(_ONE_WITH_ONE.format(sign=sign, pair=pair))
        yield Change(
            node=node,
            what=f"`{source}` takes each number of a row with each number of a column",
            instead=f"both in the shape of the {shape}",
            edit=edit_at(node, partial(_to, made)),
            needs=Needed(EACH_WITH_EACH, source, (line_of(node),)),
        )


def widened(tree: ast.AST) -> Iterator[Change]:
    """Yield the operations with their operands as 64-bit integers, where that gives another result.

    Only a run tells whether they are integers, and of how many bits.
    """
    meant = {id(node) for each in _meant_to_wrap(tree) for node in ast.walk(each)}
    for node in ast.walk(tree):
        yield from _widened(node, may_be_meant=id(node) in meant)


def _meant_to_wrap(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what may be meant to wrap around: a function that mixes bits, and what goes on from its own result."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module):  # what it runs itself is as a function
            yield from _mixing(
                [e for e in node.body if not isinstance(e, (*_SCOPES, ast.ClassDef))]
            )
        elif isinstance(node, _SCOPES):
            yield from _mixing([node])
        elif isinstance(node, ast.Assign) and _names_in(node.value) & {
            name for target in node.targets for name in _names_in(target)
        }:
            yield node


def _mixing(nodes: list[ast.AST]) -> list[ast.AST]:
    """Return all of them if one of them mixes bits."""
    inside = [each for one in nodes for each in ast.walk(one)]
    mixes = any(isinstance(each, ast.BinOp) and isinstance(each.op, _MIXES) for each in inside)
    return nodes if mixes else []


def _names_in(expr: ast.expr) -> set[str]:
    return {ast.unparse(e) for e in ast.walk(expr) if isinstance(e, ast.Name | ast.Attribute)}


def _widened(node: ast.AST, *, may_be_meant: bool) -> Iterator[Change]:
    match node:
        case ast.BinOp(left=left, right=right) if isinstance(node.op, _PASSES_ENDS):
            plain: ast.expr = ast.BinOp(left, node.op, right)
            inner = ast.unparse(ast.BinOp(ast.Name("one"), node.op, ast.Name("other")))
            call = f"{_UNLESS_SAME}(lambda one, other: {inner}, {ast.unparse(left)}, {ast.unparse(right)})"
            edit: Edit = partial(_to, expression(call))
        case ast.AugAssign(target=ast.Name() | ast.Attribute() as target) if isinstance(
            node.op, _PASSES_ENDS
        ):
            plain = ast.BinOp(expression(ast.unparse(target)), node.op, node.value)
            edit = _wide_from_here
        case ast.Call(args=[first, *others]) if name_of(
            node.func
        ) in _CALLS_PAST and not isinstance(first, ast.Starred):
            plain = first
            given = ast.Call(node.func, [ast.Name("own"), *others], node.keywords)
            call = f"{_UNLESS_SAME}(lambda own: {ast.unparse(given)}, {ast.unparse(first)})"
            edit = partial(_to, expression(call))
        case _:
            return
    yield Change(
        node=node,
        what=f"`{ast.unparse(node)}` works on integers of a fixed size, and a result out of their range wraps around",
        instead="64-bit integers",
        edit=edit_at(node, edit),
        needs=Needed(NARROW, ast.unparse(plain), (line_of(node),)),
        # A sum may be meant to wrap, of a checksum, and a product in a hash.
        is_telling=_goes_below(node) or (_is_product(node) and not may_be_meant),
    )


def _goes_below(node: ast.AST) -> bool:
    """Whether it takes numbers from each other: nobody means that to wrap around."""
    is_less = isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Sub)
    return is_less or (isinstance(node, ast.Call) and name_of(node.func) in _LESS)


def _is_product(node: ast.AST) -> bool:
    """Whether it is a product of two values, neither of which is written there, as the factor of a hash is."""
    is_one = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)
    return is_one and not any(isinstance(each, ast.Constant) for each in ast.walk(node))


def _wide_from_here(found: ast.AST) -> list[ast.stmt]:
    """Return an operation in place; where its result is out of range, one that makes a new value."""
    assert isinstance(found, ast.AugAssign)
    target = ast.unparse(found.target)
    made = ast.unparse(ast.BinOp(ast.Name("own"), found.op, ast.Name("more")))
    in_place = ast.unparse(ast.AugAssign(found.target, found.op, ast.Name("whet_more")))
    return ast.parse(
        f"whet_more = {ast.unparse(found.value)}\n"
        f"whet_made = {_UNLESS_SAME}(lambda own, more: {made}, {target}, whet_more)\n"
        f"if getattr(whet_made, 'dtype', None) == getattr({target}, 'dtype', None):\n    {in_place}\n"
        f"else:\n    {target} = whet_made"
    ).body


def _to(made: ast.expr, _: ast.AST) -> ast.AST:
    return made
