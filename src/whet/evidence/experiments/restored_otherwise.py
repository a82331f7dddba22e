"""Changes of a program for a function that switches something which stays so after it has returned.

A precision, a log level, a locale, a filter, a seed, the mode of a module: what was there before is put back
when the function ends.
"""

import ast
from collections.abc import Iterator

from whet.evidence.experiments.changes import (
    Change,
    Edit,
    edit_at,
    expression,
    name_of,
    place_of,
    receiver_of,
)

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_HELD = "whet_before"
_SEEDS = ("20011", "20021")
_MODES = (
    "[(each, each.training) for each in {own}.modules()]",
    "[setattr(each, 'training', mode) for each, mode in before]",
)
_WARNINGS = (
    "(lambda own: (own.__enter__(), own)[1])({own}.catch_warnings())",
    "before.__exit__(None, None, None)",
)
_STATES = (
    "({own}.getstate if hasattr({own}, 'getstate') else {own}.get_state)()",
    "({own}.setstate if hasattr({own}, 'setstate') else {own}.set_state)(before)",
)
_KNOWN = {
    "seed": _STATES, "manual_seed": ("{own}.get_rng_state()", "{own}.set_rng_state(before)"),
    "disable": ("{own}.root.manager.disable", "{own}.disable(before)"),
    "setLevel": ("{own}.level", "{own}.setLevel(before)"),
    "seterr": ("{own}.geterr()", "{own}.seterr(**before)"),
    "set_printoptions": ("{own}.get_printoptions()", "{own}.set_printoptions(**before)"),
    "set_grad_enabled": ("{own}.is_grad_enabled()", "{own}.set_grad_enabled(before)"),
    "setcontext": ("{own}.getcontext().copy()", "{own}.setcontext(before)"),
    "simplefilter": _WARNINGS, "filterwarnings": _WARNINGS, "eval": _MODES, "train": _MODES,
}  # fmt: skip
"""How to read what a call switches, and how to put it back; ``own`` is what it is called of."""
_OF_MODULE = "({own} if type({own}).__name__ == 'module' else 1 / 0)"


def restored_otherwise(function: _Function) -> Iterator[Change]:
    """Yield the switches in a function, each put back when the function ends."""
    for node in _own(function):
        pair = _before_and_back(node)
        if pair is None:
            continue
        source = ast.unparse(node)
        is_seed = (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Call)
            and "seed" in name_of(node.value.func)
        )
        yield Change(
            node=node, what=f"what `{source}` sets stays so after `{function.name}` has returned",
            instead=f"what was there before put back at the end of `{function.name}`",
            edit=edit_at(function, _putting_back(node, *pair)),
            beside=tuple(_other_seed(node, each) for each in _SEEDS) if is_seed else (),
        )  # fmt: skip


def _own(function: _Function) -> Iterator[ast.stmt]:
    """Yield the statements of a function without those of functions in it."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, _Function | ast.ClassDef | ast.Lambda):
            waiting += ast.iter_child_nodes(node)


def _before_and_back(node: ast.stmt) -> tuple[str, str] | None:
    """Return what reads what a statement switches, and what puts it back; None: it switches nothing."""
    match node:
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Call(func=func), attr=attr) as target]
        ) if name_of(func) == "getcontext":
            source = ast.unparse(target)
            return source, f"setattr({ast.unparse(target.value)}, {attr!r}, before)"
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name)) as call):
            own = receiver_of(call)
        case _:
            return None
    if name in _KNOWN:
        before, back = (each.replace("{own}", own) for each in _KNOWN[name])
        return before, back
    if name == "setlocale" and call.args:
        kind = ast.unparse(call.args[0])
        return f"{own}.setlocale({kind})", f"{own}.setlocale({kind}, before)"
    if name.startswith("set") and len(call.args) == 1 and own.isidentifier() and own != "self":
        module = _OF_MODULE.replace("{own}", own)
        return f"{module}.get{name[3:]}()", f"{own}.{name}(before)"
    return None


def _putting_back(node: ast.stmt, before: str, back: str) -> Edit:
    def edit(found: ast.AST) -> ast.AST:
        assert isinstance(found, _Function)
        noting = ast.parse(f"{_HELD}.append((lambda before: lambda: {back})({before}))").body
        has_words = ast.get_docstring(found) is not None
        words, body = found.body[:has_words], found.body[has_words:]
        inner = ast.Module(body=body, type_ignores=[])
        _Noting(node, noting).visit(inner)
        last = ast.parse(f"[each() for each in {_HELD}[::-1]]").body
        guarded = ast.Try(body=inner.body, handlers=[], orelse=[], finalbody=last)
        found.body = [*words, *ast.parse(f"{_HELD} = []").body, guarded]
        return found

    return edit


def _other_seed(node: ast.stmt, seed: str) -> Edit:
    def edit(found: ast.AST) -> ast.AST:
        assert isinstance(found, ast.Expr)
        assert isinstance(found.value, ast.Call)
        found.value.args = [expression(seed)]
        return found

    return edit_at(node, edit)


class _Noting(ast.NodeTransformer):
    """Puts statements before one."""

    def __init__(self, node: ast.stmt, before: list[ast.stmt]) -> None:
        self._place = place_of(node)
        self._before = before

    def visit(self, node: ast.AST) -> ast.AST | list[ast.stmt]:
        if isinstance(node, ast.stmt) and place_of(node) == self._place:
            return [*self._before, node]
        return self.generic_visit(node)
