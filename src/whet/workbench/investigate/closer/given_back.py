"""The change by which a function gives back also on another way out of it what it has taken."""

import ast

from whet.evidence.experiments.changes import Change, edit_at, parsed, text_with

_LEAVING = (ast.Break, ast.Continue, ast.Return)
"""What is left otherwise may be left by an error, which is what went wrong."""
_GIVING = (ast.Assign, ast.AugAssign, ast.Expr)


def given_back(source: str, leaving: int, giving: int) -> tuple[str, str]:
    """Return a module in which a line also does what another one does, and what that is; empty: there is none.

    Args:
        source: the module.
        leaving: the line with which the function is left.
        giving: the line that gives back.
    """
    tree = parsed(source)
    left, gave = _statement(tree, leaving, _LEAVING), _statement(tree, giving, _GIVING)
    if left is None or gave is None:
        return "", ""
    again = ast.unparse(gave)

    def edit(found: ast.AST) -> ast.AST:
        assert isinstance(found, ast.stmt)
        return ast.Try([found], [], [], ast.parse(again).body)

    change = Change(node=left, what="", instead=again, edit=edit_at(left, edit))
    return text_with(source, change), again


def _statement(
    tree: ast.Module | None, line: int, kinds: tuple[type[ast.stmt], ...]
) -> ast.stmt | None:
    for each in ast.walk(tree) if tree is not None else ():
        if isinstance(each, kinds) and each.lineno <= line <= (each.end_lineno or 0):
            return each
    return None
