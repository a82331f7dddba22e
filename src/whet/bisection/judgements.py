"""What a Python script asks of the code that it runs: two texts of it that ask the same judge alike."""

import ast
from collections.abc import Iterator


def judgements_in(source: str) -> frozenset[str] | None:
    """Return what a script compares, asserts and raises, as text; None: it isn't Python.

    A name in one of them stands for its constants: a limit that is set above the check is part of it.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    asked = list(_asked(tree))
    names = {each.id for one in asked for each in ast.walk(one) if isinstance(each, ast.Name)}
    limits = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
        and isinstance(node.value, ast.Constant | ast.UnaryOp)
        and not names.isdisjoint(each.id for each in ast.walk(node) if isinstance(each, ast.Name))
    )
    return frozenset(map(ast.unparse, (*asked, *limits)))


def _asked(tree: ast.Module) -> Iterator[ast.expr | ast.stmt]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.Assert | ast.Raise):
            yield node
        elif isinstance(node, ast.If | ast.While | ast.IfExp):
            yield node.test
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("exit"):
            yield node
