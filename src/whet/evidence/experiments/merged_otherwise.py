"""Small changes of a program that separate or merge the content of its dicts.

They separate a cached result from one with other arguments, and merge a nested dict with the one that
replaces it.
"""

import ast
from collections.abc import Iterator
from dataclasses import replace

from whet.evidence.experiments.changes import (
    Change,
    Edit,
    changed_in_place,
    edit_at,
    expression,
    replacing,
)

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_MERGED = (
    "(lambda merge: merge({one}, {other}, merge))(lambda one, other, merge: {{**one, **{{key:"
    " merge(one[key], other[key], merge) if isinstance(one.get(key), dict) and"
    " isinstance(other[key], dict) else other[key] for key in other}}}} if isinstance(one, dict) and"
    " isinstance(other, dict) else {plain})"
)
"""Two dicts as one, also where both have a dict under a key."""
_SAID = "nested dicts merged too"


def merged_otherwise(tree: ast.Module) -> Iterator[Change]:
    """Yield the changes that a module offers."""
    for node in ast.walk(tree):
        if isinstance(node, _Function):
            yield from _short_keys(node)
            yield from _shared_counts(node)
            yield from _given_back(node)
        if isinstance(node, ast.Expr):
            yield from _updated(node)
        if isinstance(node, ast.Dict | ast.BinOp):
            yield from _joined(node)


# ---- values stored under a key ----


def _short_keys(function: _Function) -> Iterator[Change]:
    """Yield values stored under a key that leaves out an argument of the function that stores them."""
    for node in ast.walk(function):
        match node:
            case ast.If(
                test=ast.Compare(left=key, ops=[ast.NotIn() | ast.In()], comparators=[holder])
            ):
                pass
            case _:
                continue
        puts = [ast.unparse(each) for each in changed_in_place(function)]
        if ast.unparse(holder) in puts:
            yield from _with_more(function, key, ast.unparse(holder))
            return


def _with_more(function: _Function, key: ast.expr, holder: str) -> Iterator[Change]:
    containers = [
        each
        for each in ast.walk(function)
        if isinstance(each, ast.Assign) and ast.unparse(each.targets[0]) == ast.unparse(key)
    ]
    if len(containers) > 1:
        return
    node: ast.expr = containers[0].value if containers else key
    names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
    own = function.args
    arguments = {each.arg: each.arg for each in (*own.posonlyargs, *own.args, *own.kwonlyargs)}
    if own.vararg is not None:
        arguments[own.vararg.arg] = own.vararg.arg
    if own.kwarg is not None:
        arguments[own.kwarg.arg] = f"tuple(sorted({own.kwarg.arg}.items()))"
    for name, more in arguments.items():
        if name in {*names, "self", "cls", holder}:
            continue
        source = ast.unparse(node)
        edit = (
            _Lengthening(holder, source, more).visit
            if not containers
            else _instead(f"({source}, {more})")
        )
        yield Change(
            node=node, what=f"the key `{source}` of `{holder}` leaves out `{name}`",
            instead=f"`{name}` in the key", edit=edit_at(containers[0].value if containers else function, edit),
            is_telling=False,
        )  # fmt: skip


def _shared_counts(outer: _Function) -> Iterator[Change]:
    """Yield what functions made by another one keep in one dict, under keys that leave out which it is."""
    arguments = {each.arg for each in outer.args.args}
    own = {
        e.id for e in ast.walk(outer) if isinstance(e, ast.Name) and isinstance(e.ctx, ast.Store)
    }
    for inner in outer.body:
        if not isinstance(inner, _Function):
            continue
        names = {each.id for each in ast.walk(inner) if isinstance(each, ast.Name)}
        for each in ast.walk(inner):
            if not isinstance(each, ast.Subscript) or not isinstance(each.value, ast.Name):
                continue
            if not isinstance(each.ctx, ast.Store) or each.value.id in own:
                continue
            key, holder = ast.unparse(each.slice), each.value.id
            keys = {one.id for one in ast.walk(each.slice) if isinstance(one, ast.Name)}
            for name in sorted((arguments & names) - keys):
                what = f"all functions that `{outer.name}` makes share `{holder}[{key}]`"
                yield Change(
                    node=each, what=what, instead=f"`{name}` in the key", is_telling=False,
                    edit=edit_at(inner, _Lengthening(holder, key, name).visit),
                )  # fmt: skip


def _given_back(method: _Function) -> Iterator[Change]:
    """Yield the method that changes its own object and gives that back: who holds it shares it."""
    own = method.args.args[0].arg if method.args.args else ""
    last = method.body[-1]
    changes = [each for each in changed_in_place(method) if ast.unparse(each).startswith(f"{own}.")]
    if not changes or not isinstance(last, ast.Return) or last.value is None:
        return
    if ast.unparse(last.value) != own:
        return

    def edit(found: ast.AST) -> ast.AST:
        assert isinstance(found, _Function)
        found.body[:0] = ast.parse(f"{own} = __import__('copy').deepcopy({own})").body
        return found

    yield Change(
        node=changes[0],
        what=f"`{method.name}` changes its own object and returns it, so that all who hold it share the change",
        instead="a changed copy returned", edit=edit_at(method, edit), is_telling=False,
    )  # fmt: skip


def _instead(text: str) -> Edit:
    return lambda _: expression(text)


class _Lengthening(ast.NodeTransformer):
    """Puts a longer key instead of one, wherever a dict is asked for it."""

    def __init__(self, holder: str, key: str, more: str) -> None:
        self._holder, self._key, self._longer = holder, key, f"({key}, {more})"

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if ast.unparse(node.value) == self._holder:
            node.slice = self._long(node.slice)
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if [ast.unparse(each) for each in node.comparators] == [self._holder]:
            node.left = self._long(node.left)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        is_asked = (
            isinstance(node.func, ast.Attribute) and ast.unparse(node.func.value) == self._holder
        )
        node.args = [self._long(each) if is_asked else each for each in node.args]
        return self.generic_visit(node)

    def _long(self, key: ast.expr) -> ast.expr:
        return expression(self._longer) if ast.unparse(key) == self._key else key


# ---- nested dicts ----


def _updated(node: ast.Expr) -> Iterator[Change]:
    """Yield `one.update(other)`, which puts a dict of `other` instead of one in `one`."""
    match node.value:
        case ast.Call(func=ast.Attribute(value=one, attr="update"), args=[other], keywords=[]):
            own, argument = ast.unparse(one), ast.unparse(other)
        case _:
            return
    merge = _MERGED.format(one=own, other=argument, plain="other")
    what = f"`{ast.unparse(node)}` replaces what `{own}` has under a key, a nested dict too"
    yield replace(replacing(node.value, what, f"{own}.update({merge})"), instead=_SAID)


def _joined(node: ast.Dict | ast.BinOp) -> Iterator[Change]:
    """Yield `{**one, **other}` and `one | other`."""
    match node:
        case ast.Dict(keys=[None, None], values=[one, other]):
            plain = "{**one, **other}"
        case ast.BinOp(left=one, op=ast.BitOr(), right=other):
            plain = "one | other"
        case _:
            return
    merge = _MERGED.format(one=ast.unparse(one), other=ast.unparse(other), plain=plain)
    what = (
        f"in `{ast.unparse(node)}` a nested dict of `{ast.unparse(other)}` takes the place of one of"
        f" `{ast.unparse(one)}`"
    )
    yield replace(replacing(node, what, merge), instead=_SAID)
