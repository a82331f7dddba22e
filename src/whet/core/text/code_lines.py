"""Which statement stands on a line of a source, and which functions are in it."""

import ast
from collections.abc import Iterator

from whet.core.value_class import value_class

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LAMBDA = "<lambda>"
"""Python's names for functions without one."""
_NAMED = (*_FUNCTIONS, ast.ClassDef)


@value_class(kw_only=True)
class Statement:
    """A statement that Python comes to.

    Attributes:
        first: its first line, with its decorators.
        last: its last line; of a compound one that of its head.
        function: qualified name, if it defines a function: what is meant are its calls.
    """

    first: int
    last: int
    function: str = ""


def module_of(source: str | bytes) -> ast.Module:
    """Return the syntax tree of a module.

    Raises:
        SyntaxError, ValueError: if it is no Python, or nested deeper than Python's own parser can go.
    """
    try:
        return ast.parse(source)
    except (RecursionError, MemoryError) as error:
        raise SyntaxError("it is nested too deeply") from error


def statement_at(source: str | bytes, line: int) -> Statement | None:
    """Return the statement on a line; where there is none, the next one, else the last one.

    Returns:
        None: there is no statement at all.

    Raises:
        SyntaxError, ValueError: if the source isn't Python.
    """
    found = sorted(_statements(module_of(source), ""), key=lambda each: each.first)
    around = [each for each in found if each.first <= line <= each.last]
    later = [each for each in found if each.first > line]
    nearest = around[-1:] or later[:1] or found[-1:]
    # Several may begin there: `def f(): return 1` means the calls of it.
    same = [each for each in found if nearest and each.first == nearest[0].first]
    return next((each for each in same if each.function), same[-1] if same else None)


def functions_in(source: str | bytes) -> tuple[str, ...]:
    """Return the qualified names of all functions, as they are written: ``Class.method.inner``.

    Raises:
        SyntaxError, ValueError: if the source isn't Python.
    """
    return tuple(each.function for each in _statements(module_of(source), "") if each.function)


def lambdas_in(source: str | bytes) -> dict[str, int]:
    """Return by qualified name the lines of lambdas that are given a name by an assignment alone.

    Raises:
        SyntaxError, ValueError: if the source isn't Python.
    """
    return dict(_lambdas(module_of(source), ""))


def lambdas_on(source: str | bytes, line: int) -> int:
    """Return how many lambdas begin on a line; Python tells them apart by nothing else.

    Raises:
        SyntaxError, ValueError: if the source isn't Python.
    """
    nodes = ast.walk(module_of(source))
    return sum(isinstance(each, ast.Lambda) and each.lineno == line for each in nodes)


def _lambdas(node: ast.AST, within: str) -> Iterator[tuple[str, int]]:
    for statement in _below(node):
        if isinstance(statement, ast.Assign | ast.AnnAssign) and isinstance(
            statement.value, ast.Lambda
        ):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for each in targets:
                if isinstance(each, ast.Name):
                    yield within + each.id, statement.value.lineno
        elif not isinstance(statement, _FUNCTIONS):
            name = f"{within}{statement.name}." if isinstance(statement, ast.ClassDef) else within
            yield from _lambdas(statement, name)


def _statements(node: ast.AST, within: str) -> Iterator[Statement]:
    for statement in _below(node):
        name = within + statement.name if isinstance(statement, _NAMED) else ""
        if not _is_silent(statement):
            yield _statement(statement, name if isinstance(statement, _FUNCTIONS) else "")
        yield from _statements(statement, f"{name}." if name else within)


def _below(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements right below one, those of its handlers and cases too."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, ast.ExceptHandler | ast.match_case):
            yield from _below(child)


def _statement(statement: ast.stmt, function: str) -> Statement:
    decorators = statement.decorator_list if isinstance(statement, _NAMED) else []
    first = min([statement.lineno, *(each.lineno for each in decorators)])
    last = statement.end_lineno or statement.lineno
    inner = next(_below(statement), None)
    if inner is not None:
        last = max(min(last, inner.lineno - 1), statement.lineno)
    return Statement(first=first, last=last, function=function)


def _is_silent(statement: ast.stmt) -> bool:
    """Whether Python never comes to it: a docstring, a declaration."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    bare = isinstance(statement, ast.AnnAssign) and statement.value is None
    return bare or isinstance(statement, ast.Global | ast.Nonlocal)
