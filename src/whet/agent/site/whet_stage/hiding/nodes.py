"""What `ast` and `copy` would do with syntax trees: both import much, and each program would wait.

Takes the place of the standard library's `ast` at run time, with what the stage needs of it.
What the program imports of these, it imports itself: nothing of whet's is shared with it.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

import _ast

from .typed import cast

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator
    from typing import TypeVar

    Node = TypeVar("Node", bound=ast.AST)

globals().update({name: each for name, each in vars(_ast).items() if isinstance(each, type)})
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")


def parse(text: bytes, path: str) -> ast.Module:
    """Return the tree of a module's text.

    Raises:
        SyntaxError, ValueError, RecursionError: if there is none.
    """
    tree = compile(text, path, "exec", _ast.PyCF_ONLY_AST, dont_inherit=True)
    return cast("ast.Module", tree)


def iter_child_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes right below one, in the order of its fields."""
    for name in node._fields:
        value: object = getattr(node, name, None)
        if isinstance(value, _ast.AST):
            yield value
        elif isinstance(value, list):
            yield from (each for each in cast("list[object]", value) if isinstance(each, _ast.AST))


def walk(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it, in no order that matters."""
    left = [node]
    while left:
        each = left.pop()
        left += iter_child_nodes(each)
        yield each


def blocks(node: ast.AST) -> dict[str, list[ast.AST]]:
    """Return the blocks of a statement by their names: all functions and classes stand in blocks."""
    found = {name: getattr(node, name, None) for name in _BLOCKS}
    return {name: block for name, block in found.items() if isinstance(block, list)}


def walk_statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all statements below it, in no order that matters."""
    left = [node]
    while left:
        each = left.pop()
        for block in blocks(each).values():
            left += block
        yield each


def copied(node: Node) -> Node:
    """Return a node like another one that shares no node with it."""
    fields = {name: _copied(getattr(node, name)) for name in node._fields if hasattr(node, name)}
    return copy_location(type(node)(**fields), node)


def _copied(value: object) -> object:
    if isinstance(value, _ast.AST):
        return copied(value)
    if isinstance(value, list):
        return [_copied(each) for each in cast("list[object]", value)]
    return value


def shared(node: Node) -> Node:
    """Return a node like another one that shares what is below it."""
    fields = {name: getattr(node, name) for name in node._fields if hasattr(node, name)}
    return copy_location(type(node)(**fields), node)


def copy_location(node: Node, at: ast.AST) -> Node:
    """Give a node the place of another one."""
    for name in _PLACE:
        value: int | None = getattr(at, name, None)
        if value is not None:
            setattr(node, name, value)
    return node


def dump(node: object) -> object:
    """Return what is equal for two trees that are alike, places included."""
    if isinstance(node, list):
        return [dump(each) for each in cast("list[object]", node)]
    if not isinstance(node, _ast.AST):
        return type(node), repr(node)
    names = (*node._fields, *_PLACE)
    return type(node), [dump(getattr(node, name, None)) for name in names]


def get_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> object:
    """Return the text that a body begins with, as it is there; None if it does with none."""
    first = node.body[0] if node.body else None
    value = first.value if isinstance(first, _ast.Expr) else None
    text = value.value if isinstance(value, _ast.Constant) else None
    return text if isinstance(text, str) else None


class NodeTransformer:
    """Visits a tree and puts what `visit` returns instead of each node."""

    def visit(self, node: ast.AST) -> ast.AST:
        """Return what is to stand instead of a node."""
        return self.generic_visit(node)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Visit what is below a node, and return it."""
        for name in node._fields:
            value: object = getattr(node, name, None)
            if isinstance(value, list):
                children = cast("list[object]", value)
                children[:] = [self._visited(each) for each in children]
            elif isinstance(value, _ast.AST):
                setattr(node, name, self.visit(value))
        return node

    def _visited(self, value: object) -> object:
        return self.visit(value) if isinstance(value, _ast.AST) else value
