"""The part in which a container differs from one that the failing line states."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias, cast

from whet.core.text.literal import literal_in
from whet.core.value_class import value_class
from whet.evidence.provenance.run.recording import CONTAINER, SCALAR, Call, Recording, Step, Value
from whet.evidence.provenance.run.source import called_name
from whet.evidence.provenance.trace.walk import Walk

_EQUAL = re.compile(r"(?:assert|is)?_?(?:array|dict|list|sequence|tuple)?_?equals?", re.IGNORECASE)
"""Not those for which nearly the same is equal, or in which the order doesn't matter: `assertCountEqual`."""

_DEEPEST = 4
_LITERALS = (ast.Dict, ast.List, ast.Tuple)
_TYPES = (Decimal, Fraction, date, datetime, time, timedelta)
_MADE: dict[str, Callable[..., object]] = {each.__name__: each for each in _TYPES}
_PLAIN = (str, bytes, int, float, bool, type(None))


@value_class
class Differing:
    """A part of a container that isn't what the other side of a comparison states in its place.

    Attributes:
        expr: the container, as it is written.
        holder: what holds the part: the container, or one in it.
        above: the keys that lead to the holder, as subscripts; empty: it is the container.
        key: of the part.
        value: the part.
        says: what it is and isn't.
    """

    expr: ast.expr
    holder: Value
    above: str
    key: str
    value: Value
    says: str


def differing_in(
    node: ast.AST, call: Call, step: Step, walk: Walk, recording: Recording
) -> Iterator[Differing]:
    """Yield the first part that differs from what the program states on the other side.

    Args:
        node: what was tested.
        call: where.
        step: when.
        walk: knows the values.
        recording: of the failing run.
    """
    sides = sides_of(node)
    for one, other in (sides, sides[::-1]) if sides else ():
        value = walk.now.value(one, call, step)
        if value is None or value.kind != CONTAINER or not isinstance(other, _LITERALS):
            continue
        with suppress(ValueError, TypeError, ArithmeticError):
            stated = _known(_stated(other), 0)
            found = None if stated is None else _first(value, stated, recording, "")
            if found is not None:
                yield Differing(one, *found)


def sides_of(node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """Return what was compared for being equal, by `==` or by a function such as `assertEqual`."""
    match node:
        case ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]):
            return left, right
        case ast.Expr(value=ast.Call() as inner):
            return sides_of(inner)
        case ast.Call(args=[first, second, *_]) if _EQUAL.fullmatch(called_name(node)):
            return first, second
        case _:
            return None


Known: TypeAlias = Mapping[str, "Known | None"] | str
"""What one side states: a scalar as it is written, or the parts of a container by their keys."""


def _stated(node: ast.expr) -> object:
    """Return what is written out, with the values of the types that are made of literals."""
    match node:
        case ast.Call(args=args, keywords=[]) if called_name(node) in _MADE:
            return _MADE[called_name(node)](*map(_stated, args))
        case ast.Dict(keys=keys, values=values) if None not in keys:
            pairs = zip(filter(None, keys), values, strict=True)
            return {_stated(key): _stated(each) for key, each in pairs}
        case ast.List(elts=elements) | ast.Tuple(elts=elements):
            return [_stated(each) for each in elements]
        case _:
            return literal_in(ast.unparse(node))


def _known(data: object, depth: int) -> Known | None:
    if isinstance(data, (*_PLAIN, *_TYPES)):
        return repr(data)
    if depth > _DEEPEST:
        return None
    if isinstance(data, dict):
        pairs = cast("dict[object, object]", data)
        return {repr(key): _known(each, depth + 1) for key, each in pairs.items()}
    if isinstance(data, list | tuple):
        row = cast("Sequence[object]", data)
        return {str(at): _known(each, depth + 1) for at, each in enumerate(row)}
    return None


_Found = tuple[Value, str, str, Value, str]


def _first(value: Value, stated: Known, recording: Recording, above: str) -> _Found | None:
    """Return the first part that differs: its holder, the keys to that, its key, itself, and how."""
    if isinstance(stated, str) or not value.is_whole:
        return None
    is_moved = value.type in {"list", "tuple"} and value.size != len(stated)
    for key, part in recording.parts(value):
        other = stated.get(key)
        if key not in stated:
            if part.kind == SCALAR and set(stated) < set(value.parts):
                return value, above, key, part, f"{part.words}, and the other side has none"
        elif isinstance(other, str):
            if part.kind == SCALAR and not _is_equal(part.words, other):
                # In a row that is shorter or longer, all others may only have moved.
                says = f"{part.words} and not {other}"
                return None if is_moved else (value, above, key, part, says)
        elif other is not None and part.kind == CONTAINER:
            found = _first(part, other, recording, f"{above}[{key}]")
            if found is not None:
                return None if is_moved else found
    return None


def _is_equal(one: str, other: str) -> bool:
    """Whether two scalars are equal, as `1` and `1.0` are."""
    if one == other:
        return True
    with suppress(ValueError, TypeError, ArithmeticError, SyntaxError):
        one_side, other_side = (ast.parse(each, mode="eval").body for each in (one, other))
        return bool(_stated(one_side) == _stated(other_side))
    return False
