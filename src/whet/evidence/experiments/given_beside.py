"""Two calls of a function that handle the same data with another switch: one may be meant like the other."""

import ast
from collections.abc import Iterator, Sequence

_SWITCHES = range(-3, 4)
"""The numbers that pick an axis, a place or a mode; others are data."""
_Slot = int | str


def given_beside(node: ast.Call, around: Sequence[ast.AST]) -> Iterator[ast.Call]:
    """Yield a call with a switch as another call beside it has it, which is given the same data.

    Args:
        node: the call.
        around: what it is in, the innermost last.
    """
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    inner = next((each for each in reversed(around) if isinstance(each, functions)), None)
    own, data = _switches(node), _data(node)
    offered: set[str] = {ast.dump(node)}
    for other in ast.walk(inner) if inner is not None and own and data else ():
        if not isinstance(other, ast.Call) or other is node or data.isdisjoint(_data(other)):
            continue
        is_same = ast.dump(node.func) == ast.dump(other.func)
        for slot, switch in _switches(other).items():
            if slot in own and (is_same or isinstance(slot, str)):
                changed = _with(node, slot, switch)
                if ast.dump(changed) not in offered:
                    offered.add(ast.dump(changed))
                    yield changed


def _switches(node: ast.Call) -> dict[_Slot, ast.expr]:
    """Return the arguments that pick how something is done, by their names or places."""
    slots: list[tuple[_Slot, ast.expr]] = [*enumerate(node.args)]
    slots += [(each.arg, each.value) for each in node.keywords if each.arg]
    return {slot: each for slot, each in slots if _is_switch(each)}


def _is_switch(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if not isinstance(node, ast.Constant):
        return False
    value = node.value
    is_number = isinstance(value, int) and value in _SWITCHES
    return value is None or is_number or (isinstance(value, str) and value.isidentifier())


def _data(node: ast.Call) -> set[str]:
    """Return what a call is given, or is called of, that isn't written in it."""
    given = [*node.args, *(each.value for each in node.keywords)]
    if isinstance(node.func, ast.Attribute):
        given.append(node.func.value)
    named = (ast.Name, ast.Attribute, ast.Subscript)
    return {ast.dump(each) for each in given if isinstance(each, named)} - {_SELF}


_SELF = ast.dump(ast.Name("self", ast.Load()))


def _with(node: ast.Call, slot: _Slot, switch: ast.expr) -> ast.Call:
    args = [switch if position == slot else each for position, each in enumerate(node.args)]
    keywords = [
        ast.keyword(each.arg, switch if each.arg == slot else each.value) for each in node.keywords
    ]
    return ast.Call(node.func, args, keywords)
