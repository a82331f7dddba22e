"""Small changes of a program for arrays that it takes each with each, where it means one with one."""

import ast
from collections.abc import Iterator
from functools import partial

from whet.evidence.experiments.changes import Change, Needed, edit_at, expression, line_of

EACH_WITH_EACH = "each with each"
_PAIRED = (
    "(lambda one, other: (lambda row, column: (one, other) if len(row) != 1 or tuple(column) != (row[0], 1)"
    " else (one.reshape(tuple({shape})), other.reshape(tuple({shape}))))"
    "(*sorted((getattr(one, 'shape', ()), getattr(other, 'shape', ())), key=len)))({left}, {right})"
)
"""Two operands, both in the shape of one of them."""
_ONE_WITH_ONE = "(lambda pair: pair[0] {sign} pair[1])({pair})"
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
_TESTS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.Gt: ">",
    ast.LtE: "<=",
    ast.GtE: ">=",
}


def shaped_otherwise(node: ast.BinOp | ast.Compare) -> Iterator[Change]:
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


def _to(made: ast.expr, _: ast.AST) -> ast.AST:
    return made
