"""Small changes of a program for calls that return less, or something else, than they seem to.

A default that is made again each time and never stored; groups of unsorted data; the binary value
of a float; the part of the requested data that has arrived so far.
"""

import ast
from collections.abc import Iterator

from whet.evidence.experiments.changes import Change, name_of, replacing

_MUTABLE = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)
_EXACT = frozenset({"Decimal", "Fraction"})


def given_otherwise(node: ast.Call) -> Iterator[Change]:
    """Yield the changes that a call offers."""
    source = ast.unparse(node)
    match node:
        case ast.Call(func=ast.Attribute(value=holder, attr="get"), args=[key, default]) if (
            isinstance(default, (ast.Call, *_MUTABLE))
        ):
            what = f"`{source}` makes a new one for a missing key, and doesn't store it"
            setdefault = (
                f"{ast.unparse(holder)}.setdefault({ast.unparse(key)}, {ast.unparse(default)})"
            )
            yield replacing(node, what, setdefault)
        case ast.Call(func=ast.Attribute(attr="recv"), args=[count], keywords=[]):
            what = f"`{source}` returns what has arrived so far, which may be less than that"
            whole = (
                f"{ast.unparse(node.func)}({ast.unparse(count)}, __import__('socket').MSG_WAITALL)"
            )
            yield replacing(node, what, whole, whole.replace("__import__('socket').", ""))
        case ast.Call(func=func, args=[value], keywords=[]) if name_of(
            func
        ) in _EXACT and not isinstance(value, ast.Constant):
            what = f"`{source}` copies the float's binary value"
            yield replacing(node, what, f"{ast.unparse(func)}(str({ast.unparse(value)}))")
        case ast.Call(func=func, args=[rows, *others]) if name_of(func) == "groupby":
            keys = [*others, *(each.value for each in node.keywords if each.arg == "key")]
            by = f", key={ast.unparse(keys[0])}" if keys else ""
            ordering = _with_first(node, f"sorted({ast.unparse(rows)}{by})")
            yield replacing(
                node, f"`{source}` groups only items that are next to each other", ordering
            )
        case _:
            return


def _with_first(node: ast.Call, given: str) -> str:
    """Return a call with another first argument."""
    return ast.unparse(ast.Call(node.func, [ast.Name(given), *node.args[1:]], node.keywords))
