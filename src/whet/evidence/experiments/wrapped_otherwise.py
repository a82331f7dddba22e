"""Small changes of a program that convert a value at one place as it is converted at another.

A name is stripped and folded where it is stored, and not where it is looked up; a moment is put into the
local zone where its hour is asked for, and not where its day is.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from whet.core.value_class import value_class
from whet.evidence.experiments.changes import IN_PLACE, Change, replacing

_ASKS = frozenset({"isinstance", "hasattr", "len", "print", "repr", "type", "id", "bool", "range", "sum", "any",
                   "all", "open", "next", "iter", "enumerate", "zip", "super", "getattr"})  # fmt: skip
"""What these give isn't the same thing in another form."""
_LOOKS_UP = frozenset({"get", "pop", "setdefault", "add", "discard", "remove", "index", "count"})
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_KEY = "a key of "
_MOST_EACH = 2
"""How many of the conversions that other places make of one value are tried at a place."""


@value_class(eq=False)
class _Use:
    """A value that is used: what becomes of it, and how it is converted there first.

    Attributes:
        node: the value.
        role: what becomes of it, or of what it is converted to.
        conversion: the call that converts it; None: it is used as it is.
    """

    node: ast.expr
    role: str
    conversion: ast.Call | None


def wrapped_otherwise(tree: ast.Module) -> Iterator[Change]:
    """Yield the changes that a module offers."""
    classes = [each for each in ast.walk(tree) if isinstance(each, ast.ClassDef)]
    scopes: list[ast.Module | ast.ClassDef] = [tree, *classes]
    for scope in scopes:
        uses: dict[str, list[_Use]] = defaultdict(list)
        for function in scope.body:
            if isinstance(function, _FUNCTIONS):
                for name, use in _uses(function, is_method=scope is not tree):
                    uses[name].append(use)
        for each in uses.values():
            yield from _converted(each)


def _converted(uses: list[_Use]) -> Iterator[Change]:
    """Yield the uses of one value as it is, each with what other uses of its kind convert it to."""
    for use in uses:
        if use.conversion is not None:
            continue
        others = {
            ast.unparse(each.conversion): each.conversion
            for each in uses
            if each.conversion is not None and each.role == use.role
        }
        for text, conversion in list(others.items())[:_MOST_EACH]:
            name = ast.unparse(use.node)
            change = replacing(
                use.node,
                f"`{name}` is used as it is, and line {conversion.lineno} uses `{text}`",
                text,
            )
            # Two places may want a value in two forms; the keys of one container are in one form.
            is_key = use.role.startswith(_KEY)
            yield replace(change, is_checked=True, is_telling=is_key)


def _uses(
    function: ast.FunctionDef | ast.AsyncFunctionDef, *, is_method: bool
) -> Iterator[tuple[str, _Use]]:
    """Yield what a function is given, and what its object has, with each of their uses."""
    arguments = function.args
    given = {each.arg for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    first = next((each.arg for each in (*arguments.posonlyargs, *arguments.args)), "")
    own = first if is_method else ""
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    above = {child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(function):
        if not isinstance(node, ast.Name | ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue
        is_given = isinstance(node, ast.Name) and node.id in given - stored and node.id != own
        is_own = (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == own
        )
        if not (is_given or is_own):
            continue
        conversion = _conversion(node, above, (given | stored) - {own})
        role = "" if conversion is None else _role(conversion, above.get(conversion))
        if not role:  # a call whose result isn't used further counts as a plain use
            conversion, role = None, _role(node, above.get(node))
        if role:
            yield ast.unparse(node), _Use(node, role, conversion)


def _conversion(
    node: ast.expr, above: Mapping[ast.AST, ast.AST], local: set[str]
) -> ast.Call | None:
    """Return the call that makes something of a value alone; None: there is none."""
    outer = above.get(node)
    call = above.get(outer) if isinstance(outer, ast.Attribute) else outer
    if not isinstance(call, ast.Call) or call.keywords:
        return None
    if isinstance(outer, ast.Attribute):
        others, is_it = call.args, call.func is outer and outer.attr not in IN_PLACE | _LOOKS_UP
    else:
        function = call.func
        name = function.id if isinstance(function, ast.Name) else ""
        others, is_it = [function], call.args == [node] and bool(name) and name not in _ASKS
    # It has to mean the same in another function.
    names = {each.id for other in others for each in ast.walk(other) if isinstance(each, ast.Name)}
    return call if is_it and not names & local else None


def _role(node: ast.expr, outer: ast.AST | None) -> str:
    """Return what becomes of a value; empty: nothing that another use could be compared with."""
    match outer:
        case ast.Attribute():
            return "part"
        case ast.Subscript(value=holder, slice=key) if key is node:
            return f"{_KEY}{ast.unparse(holder)}"
        case ast.Call(func=ast.Attribute(value=holder, attr=name), args=[first, *_]) if (
            first is node and name in _LOOKS_UP
        ):
            return f"{_KEY}{ast.unparse(holder)}"
        case ast.Compare(left=left, ops=[ast.In() | ast.NotIn()], comparators=[holder]) if (
            left is node
        ):
            return f"{_KEY}{ast.unparse(holder)}"
        case ast.Compare():
            return "side"
        case ast.BinOp():
            return "operand"
        case _:
            return ""
