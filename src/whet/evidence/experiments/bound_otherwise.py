"""Small changes of a program that give one part of it its own value instead of a shared one.

They separate a function made in a loop from the loop's next round, a caller's object from a removal,
a variable from a loop that binds its name, a cached result from the next call, and one layer of settings
from another.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from whet.evidence.experiments.changes import (
    Change,
    Edit,
    Needed,
    changed_in_place,
    edit_at,
    line_of,
    replacing,
    root_of,
)

GIVEN_AGAIN, SCALAR, SCALARS = "given again", "a scalar", "scalars"
_TAKES = frozenset({"pop", "popitem", "remove", "clear", "discard", "popleft"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def bound_otherwise(tree: ast.Module) -> Iterator[Change]:
    """Yield the changes that a module offers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.While):
            yield from _late_functions(node)
        if isinstance(node, _FUNCTIONS):
            yield from _taken_out(node)
            yield from _names_bound_again(node)
        if isinstance(node, ast.AsyncFunctionDef):
            yield from _interleaved(node)
        if isinstance(node, ast.If):
            yield from _kept_by_hand(node)
        if isinstance(node, ast.expr):
            yield from _layers(node)


def early(names: Sequence[str], function: str) -> str:
    """Return in words that a function keeps names as they are when it is made."""
    words = " and ".join(f"`{name}`" for name in names)
    return f"{words} as {'they are' if len(names) > 1 else 'it is'} when {function} is made"


def bound_in(loop: ast.For | ast.While) -> set[str]:
    """Return the names that a loop binds in each of its rounds."""
    return {name for name, _ in _bindings(loop)}


def _bindings(loop: ast.For | ast.While) -> Iterator[tuple[str, int]]:
    for each in _own_nodes(loop):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            yield each.id, each.lineno


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield what is inside of a node, functions themselves but not what is in them."""
    for each in ast.iter_child_nodes(node):
        yield each
        if not isinstance(each, (*_FUNCTIONS, ast.ClassDef, ast.Lambda)):
            yield from _own_nodes(each)


def _late_functions(loop: ast.For | ast.While) -> Iterator[Change]:
    """Yield the functions defined in a loop that look its variables up when they are called."""
    for each in _own_nodes(loop):
        if not isinstance(each, _FUNCTIONS):
            continue
        names = {name for name, line in _bindings(loop) if line < each.lineno}
        own = {one.arg for one in ast.walk(each.args) if isinstance(one, ast.arg)}
        inside = [one for part in each.body for one in ast.walk(part) if isinstance(one, ast.Name)]
        own |= {one.id for one in inside if isinstance(one.ctx, ast.Store)}
        names_late = sorted(({one.id for one in inside} & names) - own)
        if not names_late:
            continue

        def edit(found: ast.AST, bound: tuple[str, ...] = tuple(names_late)) -> ast.AST:
            assert isinstance(found, _FUNCTIONS)
            found.args.kwonlyargs += [ast.arg(arg=name) for name in bound]
            found.args.kw_defaults += [ast.Name(id=name, ctx=ast.Load()) for name in bound]
            return found

        words = " and ".join(f"`{name}`" for name in names_late)
        yield Change(
            node=each, what=f"`{each.name}`, made here, looks {words} up when it is called, after the loop has moved on",
            instead=early(names_late, "the function"), edit=edit_at(each, edit),
        )  # fmt: skip


def _taken_out(node: _Function) -> Iterator[Change]:
    """Yield the arguments that a function takes something out of, where its caller continues with them."""
    parameters = {
        each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    }
    seen_names: set[str] = set()
    for each in ast.walk(node):
        name = ""
        if isinstance(each, ast.Call) and isinstance(each.func, ast.Attribute):
            is_it = each.func.attr in _TAKES and isinstance(each.func.value, ast.Name)
            name = root_of(each.func.value) if is_it else ""
        elif isinstance(each, ast.Subscript) and isinstance(each.ctx, ast.Del):
            name = root_of(each.value)
        if not name or name not in parameters or name in seen_names:
            continue
        seen_names.add(name)

        def edit(found: ast.AST, name: str = name) -> ast.AST:
            assert isinstance(found, _FUNCTIONS)
            found.body[:0] = ast.parse(f"{name} = __import__('copy').copy({name})").body
            return found

        yield Change(
            node=each,
            what=f"`{ast.unparse(each)}` removes something from the caller's own `{name}`, which later calls share",
            instead=f"`{name} = copy({name})` first in `{node.name}`", edit=edit_at(node, edit),
            needs=Needed(GIVEN_AGAIN, name, (line_of(each),)),
        )  # fmt: skip


def _names_bound_again(node: _Function) -> Iterator[Change]:
    """Yield the loops that bind the name of something that is used after them."""
    parameters = {each.arg for each in ast.walk(node.args) if isinstance(each, ast.arg)}
    names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
    for loop in ast.walk(node):
        if not isinstance(loop, ast.For):
            continue
        end = loop.end_lineno or loop.lineno
        for target in ast.walk(loop.target):
            if not isinstance(target, ast.Name):
                continue
            name = target.id
            before = name in parameters or any(
                each.id == name and isinstance(each.ctx, ast.Store) and each.lineno < loop.lineno
                for each in names
            )
            after = any(
                each.id == name and isinstance(each.ctx, ast.Load) and each.lineno > end
                for each in names
            )
            if before and after:
                yield Change(
                    node=loop, what=f"the loop gives `{name}` another value, and `{name}` is used after it",
                    instead="another name in the loop", edit=edit_at(loop, _renaming(name)),
                )  # fmt: skip


def _renaming(name: str) -> Edit:
    def edit(found: ast.AST) -> ast.AST:
        assert isinstance(found, ast.For)
        for each in (found.target, *found.body):
            for one in ast.walk(each):
                if isinstance(one, ast.Name) and one.id == name:
                    one.id = f"{name}_in_loop"
        return found

    return edit


def _kept_by_hand(node: ast.If) -> Iterator[Change]:
    """Yield values that are stored in a dict under a key and returned again for it."""
    match node.test:
        case ast.Compare(left=key, ops=[ast.NotIn()], comparators=[holder]):
            pass
        case ast.Compare(
            left=ast.Attribute() as attribute, ops=[ast.Is()], comparators=[ast.Constant(None)]
        ):
            yield from _kept_in(node, attribute)
            return
        case ast.UnaryOp(op=ast.Not(), operand=ast.Attribute() as attribute):
            yield from _kept_in(node, attribute)
            return
        case _:
            return
    source = ast.unparse(holder)
    puts = [each for part in node.body for each in changed_in_place(part)]
    if any(ast.unparse(each) == source for each in puts):
        change = replacing(
            node.test, f"what `{source}` has under `{ast.unparse(key)}` is returned again", "True"
        )
        change = replace(change, instead="a new one each time", hides=True, frees=True)
        yield replace(change, needs=Needed(SCALARS, source, (node.lineno,)))
        # A new mutable object loses all changes that were made to the old one.
        yield replace(change, is_telling=False)


def _interleaved(node: ast.AsyncFunctionDef) -> Iterator[Change]:
    """Yield the coroutine that changes what all share after an `await`: others run in between."""
    waits = sorted(each.lineno for each in ast.walk(node) if isinstance(each, ast.Await))
    assignments = [
        each.lineno
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute | ast.Subscript) and isinstance(each.ctx, ast.Store)
    ]
    if not waits or not assignments or max(assignments) < waits[0]:
        return

    def edit(found: ast.AST) -> ast.AST:
        assert isinstance(found, ast.AsyncFunctionDef)
        lock = f"globals().setdefault('_{node.name}_alone', __import__('asyncio').Lock())"
        alone = ast.parse(f"async def f():\n    async with {lock}:\n        pass").body[0]
        assert isinstance(alone, ast.AsyncFunctionDef)
        (guarded,) = alone.body
        assert isinstance(guarded, ast.AsyncWith)
        guarded.body, found.body = found.body, [guarded]
        return found

    first = next(
        each for each in ast.walk(node) if isinstance(each, ast.Await) and each.lineno == waits[0]
    )
    # Where a lock is held already, one that helps says only that this one doesn't.
    is_guarded = any(isinstance(each, ast.AsyncWith) for each in ast.walk(node))
    yield Change(
        node=first, what=f"other tasks run `{node.name}` while it waits here, before it changes what they share",
        instead=f"one task at a time in `{node.name}`", edit=edit_at(node, edit), is_telling=not is_guarded,
    )  # fmt: skip


def _kept_in(node: ast.If, kept: ast.Attribute) -> Iterator[Change]:
    """Yield the number or text that is computed once, whatever changes afterwards."""
    source = ast.unparse(kept)
    for each in node.body:
        if isinstance(each, ast.Assign) and source in map(ast.unparse, each.targets):
            change = replacing(node.test, f"`{source}` is computed once and kept", "True")
            yield replace(
                change,
                instead="it computed each time",
                needs=Needed(SCALAR, source, (node.lineno,)),
            )


def _layers(node: ast.expr) -> Iterator[Change]:
    """Yield changes that let another layer of settings win: the last one, or the one that is asked first."""
    merge, wins = "", ""
    match node:
        case ast.Call(
            func=ast.Attribute(value=first, attr="get"),
            args=[key, ast.Call(func=ast.Attribute(value=second, attr="get"), args=[again, *_])],
        ) if ast.unparse(key) == ast.unparse(again):
            first_source, other = ast.unparse(first), ast.unparse(second)
            merge, wins = (
                f"{other}.get({ast.unparse(key)}, {first_source}.get({ast.unparse(key)}))",
                first_source,
            )
        case _:
            return
    # That it passes so may only take away a bad value of the layer that is meant to win.
    yield replace(
        replacing(node, f"in `{ast.unparse(node)}` what `{wins}` says wins", merge),
        is_telling=False,
    )
