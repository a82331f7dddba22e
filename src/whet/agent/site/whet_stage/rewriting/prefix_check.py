"""Tells whether another text of a program would have done, so far, what this one did.

Standard library only, Python 3.9 or later.
"""

from __future__ import annotations

from ..hiding.nodes import dump, get_docstring, walk
from ..hiding.typed import cast
from .instrument import own_nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Mapping, Sequence
    from typing import Union

    from .instrument import Path

    Function = Union[ast.FunctionDef, ast.AsyncFunctionDef]
    Callable_ = Union[ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda]
    Key = tuple[str, int]  # name and first line, as code has them
    Active = tuple[Path, bool]  # where it stands; whether it is in a call that the statement makes
else:
    from ..hiding import nodes as ast


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_NAMED_BY = {  # `match` is of Python 3.10
    "FunctionDef": "name", "AsyncFunctionDef": "name", "ClassDef": "name",
    "ExceptHandler": "name", "MatchAs": "name", "MatchStar": "name", "MatchMapping": "rest",
}  # fmt: skip
_BODY = "body"
_PLACE = ("lineno", "col_offset", "end_lineno", "end_col_offset")
_STARTS_A_GENERATOR = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)


def key_of(node: Callable_) -> Key:
    """Return by what a function's code can be told from others."""
    if isinstance(node, ast.Lambda):
        return "<lambda>", node.lineno
    first = node.decorator_list[0] if node.decorator_list else node
    return node.name, first.lineno


class Comparison:
    """Compares what has been run of two texts.

    The body of a function that has not been used yet may differ.

    Attributes:
        pairs: the functions that were compared, then and now, in the order of the text.
        have_lines_moved: whether anything that has been run stands on another line.
        have_places_moved: whether it does, or elsewhere on its line.
        have_classes_moved: whether a class stands on another line.
        have_lambdas_moved: whether a lambda does, or stands elsewhere on its line.
    """

    def __init__(self, is_unused: Callable[[Function], bool], active: Mapping[int, Active]) -> None:
        """Make it ready.

        Args:
            is_unused: whether a function of the old text has not been used yet.
            active: where the active functions of the old text stand, by `id` of their nodes.
        """
        self.pairs: list[tuple[Callable_, Callable_]] = []
        self.have_lines_moved = False
        self.have_places_moved = False
        self.have_classes_moved = False
        self.have_lambdas_moved = False
        self._is_unused = is_unused
        self._active = active

    def is_same_past(
        self, old: Sequence[ast.stmt], new: Sequence[ast.stmt], path: Path, *, has_begun: bool
    ) -> bool:
        """Whether two blocks are the same as far as ``path``.

        Args:
            old: the statements of then.
            new: the statements of now.
            path: a path within them.
            has_begun: whether the statement at ``path`` has been begun.
        """
        index = int(path[0])
        is_deep = len(path) > 1
        if len(new) < index + (is_deep or has_begun):
            return False
        if not self.are_same(list(old[:index]), list(new[:index])):
            return False
        if not is_deep:
            return not has_begun or self.are_same(old[index], new[index])
        then, now, name, rest = old[index], new[index], path[1], path[2:]
        heads = _heads(then, now)
        if heads is None or not all(self.are_same(*head) for head in heads):
            return False
        has_run = name == "again" or (name == "orelse" and not isinstance(then, ast.If))
        if has_run and not self.are_same(getattr(then, _BODY), getattr(now, _BODY)):
            return False
        if name == "again":
            return True
        block = _BODY if name == "first" else str(name)
        return self.is_same_past(
            getattr(then, block), getattr(now, block), rest, has_begun=has_begun
        )

    def are_same(self, old: object, new: object) -> bool:
        """Whether two nodes, lists of nodes, or what they hold do the same."""
        then, now = _as_list(old), _as_list(new)
        if then is not None and now is not None:
            return len(then) == len(now) and all(map(self.are_same, then, now))
        if type(old) is not type(new):
            return False
        if isinstance(old, ast.AST) and isinstance(new, ast.AST):
            return self._is_same_node(old, new)
        return repr(old) == repr(new)

    def _is_same_node(self, old: ast.AST, new: ast.AST) -> bool:
        if getattr(old, "lineno", 0) != getattr(new, "lineno", 0):
            # Where a definition stands is known to the code of the function alone.
            self.have_lines_moved = self.have_lines_moved or not isinstance(old, FUNCTIONS)
            self.have_classes_moved = self.have_classes_moved or isinstance(old, ast.ClassDef)
        if not isinstance(old, FUNCTIONS) and _place(old) != _place(new):
            self.have_places_moved = True
        for name in old._fields:
            if isinstance(old, FUNCTIONS) and name == _BODY:
                continue
            if not self.are_same(getattr(old, name, None), getattr(new, name, None)):
                return False
        if isinstance(old, ast.Lambda) and isinstance(new, ast.Lambda):
            self.pairs.append((old, new))
            if dump(old) != dump(new):
                self.have_lambdas_moved = True
        if isinstance(old, FUNCTIONS) and isinstance(new, FUNCTIONS):
            return self._is_same_function(old, new)
        return True

    def _is_same_function(self, old: Function, new: Function) -> bool:
        self.pairs.append((old, new))
        if get_docstring(old) != get_docstring(new):
            return False
        if id(old) in self._active:
            path, has_begun = self._active[id(old)]
            return self._has_same_scope(old, new, path) and self.is_same_past(
                old.body, new.body, path, has_begun=has_begun
            )
        if self._is_unused(old):
            return True
        return self.are_same(old.body, new.body)

    def _has_same_scope(self, old: Function, new: Function, path: Path) -> bool:
        """Whether the names that have been used mean the same: an assignment makes one local."""
        then, now = own_nodes(old.body), own_nodes(new.body)
        if any(isinstance(node, _STARTS_A_GENERATOR) for node in now):
            return False
        if _declared(then) != _declared(now):
            return False
        differing = bound_names(then) ^ bound_names(now)
        used = {
            node.id
            for statement in old.body[: int(path[0]) + 1]
            for node in walk(statement)
            if isinstance(node, ast.Name)
        }
        return not (differing & used)


def _heads(then: ast.stmt, now: ast.stmt) -> list[tuple[object, object]] | None:
    """Return what has been run of two statements once their blocks have begun; None: no blocks alike.

    Of a `try`, that is nothing: its handlers may change.
    """
    if isinstance(then, ast.For) and isinstance(now, ast.For):
        return [(then.target, now.target), (then.iter, now.iter)]
    if isinstance(then, ast.With) and isinstance(now, ast.With):
        return [(then.items, now.items)]
    if isinstance(then, ast.Try) and isinstance(now, ast.Try):
        return []
    for kind in (ast.If, ast.While):
        if isinstance(then, kind) and isinstance(now, kind):
            return [(then.test, now.test)]
    return None


def _place(node: ast.AST) -> list[object]:
    # What ends later because of what it holds has not moved.
    is_block = "body" in node._fields and not isinstance(node, ast.expr)
    return [getattr(node, name, None) for name in (_PLACE[:2] if is_block else _PLACE)]


def _as_list(value: object) -> list[object] | None:
    return cast("list[object]", value) if isinstance(value, list) else None


def _declared(nodes: Sequence[ast.AST]) -> set[tuple[str, str]]:
    return {
        (type(node).__name__, name)
        for node in nodes
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }


def bound_names(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names that a scope binds."""
    bound: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            if not isinstance(node.ctx, ast.Load):
                bound.add(node.id)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        else:
            name = _NAMED_BY.get(type(node).__name__)
            found: object = None if name is None else getattr(node, name)
            if isinstance(found, str):
                bound.add(found)
    return bound
