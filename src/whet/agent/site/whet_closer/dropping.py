"""Which calls of a module drop what they return.

Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module, ast.ClassDef)
_OUTPUT = {"stdout", "stderr", "args"}
_RUNS = "run"
_MOST_LEVELS = 6
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_OTHERS = ""


DROPPED, UNREAD, OUTPUT = range(3)
"""What becomes of a result: nothing; a variable holds it that nothing reads; only what a process has
written is used, but not how it ended."""


def dropping(tree: Any) -> list[tuple[Any, int]]:
    """Return the nodes whose `value` is a call that drops its result, with what becomes of that."""
    found: list[tuple[Any, int]] = []
    for scope in ast.walk(tree):
        if isinstance(scope, _SCOPES):
            found += _in_scope(scope)
    return found


def span_of(node: Any) -> list[int]:
    """Return where a node begins and ends."""
    return [node.lineno, node.col_offset, node.end_lineno, node.end_col_offset]


def begun_with(receiver: Any) -> list[Any]:
    """Return what a chain of calls was made of, the nearest first: of `a.b[0].c()` `a.b[0]`, `a.b` and `a`."""
    found: list[Any] = []
    while receiver is not None and len(found) < _MOST_LEVELS:
        found.append(receiver)
        if isinstance(receiver, ast.Call):
            receiver = getattr(receiver.func, "value", None)
        else:
            is_part = isinstance(receiver, (ast.Attribute, ast.Subscript))
            receiver = receiver.value if is_part else None
    return found


def _in_scope(scope: Any) -> Iterator[tuple[Any, int]]:
    every = list(ast.walk(scope))  # a function inside may use a variable, too
    parents = {id(below): node for node in every for below in ast.iter_child_nodes(node)}
    shared = {name for each in every for name in getattr(each, "names", ()) if type(name) is str}
    read = {each.id for each in every if isinstance(each, ast.Name) and _is_read(each)}
    read |= {*shared, _OTHERS}
    for node in _own(scope):
        is_call = isinstance(_awaited(getattr(node, "value", None)), ast.Call)
        if not is_call:
            continue
        if isinstance(node, ast.Expr):
            yield node, DROPPED
        elif (
            isinstance(node, ast.Assign) and isinstance(scope, _FUNCTIONS) and not read & _set(node)
        ):
            yield node, UNREAD
        elif _name(_awaited(node.value)) != _RUNS:
            continue
        elif isinstance(node, ast.Attribute):
            if node.attr in _OUTPUT and isinstance(node.value, ast.Call):
                yield node, OUTPUT
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name) and _is_output_only(target.id, every, parents):
                yield node, OUTPUT


def _is_read(name: Any) -> bool:
    return not isinstance(name.ctx, ast.Store)


def _set(node: Any) -> set[str]:
    """Return the variables that an assignment sets; an attribute or an item is read by others."""
    found: set[str] = set()
    for target in node.targets:
        for each in target.elts if isinstance(target, ast.Tuple) else [target]:
            found.add(each.id if isinstance(each, ast.Name) else _OTHERS)
    return found


def _is_output_only(name: str, nodes: list[Any], parents: dict[int, Any]) -> bool:
    """Whether all that is used of a variable is what a process has written."""
    uses = [
        parents.get(id(each))
        for each in nodes
        if isinstance(each, ast.Name) and each.id == name and isinstance(each.ctx, ast.Load)
    ]
    return all(isinstance(each, ast.Attribute) and each.attr in _OUTPUT for each in uses)


def _name(call: Any) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def _awaited(value: Any) -> Any:
    return value.value if isinstance(value, ast.Await) else value


def _own(scope: Any) -> Iterator[Any]:
    """Yield the nodes of a function that are no part of one inside it; those of a class are its module's."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _own(child)
