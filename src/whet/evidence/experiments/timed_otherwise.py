"""Changes by which what a program calculates with times counts the time that passes, not the hands of a clock.

Python subtracts two times of one zone by their clocks: over a change of the clocks that is off by what they change.
"""

import ast
from collections.abc import Iterator

from whet.evidence.experiments.retried_otherwise import replaced

_PASSED = (
    "(lambda a, b: ((lambda u: (a.astimezone(u) SIGN b.astimezone(u)) if hasattr(b, 'astimezone') else"
    " (a.astimezone(u) SIGN b).astimezone(a.tzinfo).replace(tzinfo=a.tzinfo))(__import__('datetime').timezone.utc))"
    " if hasattr(a, 'astimezone') and getattr(b, 'tzinfo', a.tzinfo) is a.tzinfo else a SIGN b)"
    "((LEFT), (RIGHT)MORE)"
)
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-"}


def sums_in(tree: ast.AST) -> Iterator[ast.BinOp]:
    """Yield what a module adds and subtracts, without what can be no time."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and type(node.op) in _SIGNS:
            sides = (node.left, node.right)
            if not any(isinstance(each, ast.Constant | ast.List | ast.JoinedStr) for each in sides):
                yield node


def by_time_passed(source: str, node: ast.BinOp) -> str:
    """Return a module in which a sum or a difference of times is that of what passes; no line moves."""
    text = _PASSED.replace("SIGN", _SIGNS[type(node.op)])
    text = text.replace("LEFT", ast.unparse(node.left)).replace("RIGHT", ast.unparse(node.right))
    return replaced(
        source, [(node, text.replace("MORE", "\n" * ((node.end_lineno or 0) - node.lineno)))]
    )
