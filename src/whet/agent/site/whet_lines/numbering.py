"""Which statements of a module are counted, in which order; whet itself numbers them so too.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SEES_VARIABLES = {"locals", "vars", "dir", "eval", "exec"}


def numbered(tree: ast.AST) -> list[ast.stmt]:
    """Return the statements that are counted; a statement's number is its place here.

    What stands in a class right below it isn't: it runs as a part of the class statement.
    """
    return [each for each in _below(tree, is_class=False) if not _is_silent(each)]


def _below(node: ast.AST, *, is_class: bool) -> Iterator[ast.stmt]:
    for statement in _children(node):
        if not is_class:
            yield statement
        is_function = isinstance(statement, _FUNCTIONS)
        inside = isinstance(statement, ast.ClassDef) or (is_class and not is_function)
        yield from _below(statement, is_class=inside)


def _children(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements right below one, those of its handlers and cases too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif type(child).__name__ in {"ExceptHandler", "match_case"}:
            yield from _children(child)


def _is_silent(statement: ast.stmt) -> bool:
    """Whether Python never comes to it: a docstring, a declaration."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    is_bare = isinstance(statement, ast.AnnAssign) and statement.value is None
    return is_bare or isinstance(statement, (ast.Global, ast.Nonlocal))


def sees_variables(function: ast.AST) -> bool:
    """Whether a function may look at its own variables, among which whet's would be one more."""
    return any(
        isinstance(each, ast.Name) and each.id in _SEES_VARIABLES for each in ast.walk(function)
    )
