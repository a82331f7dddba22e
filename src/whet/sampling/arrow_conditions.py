"""Conditions over batches of Arrow, by its own functions where these say the same as whet's."""

from collections.abc import Collection
from typing import Any

from whet.sampling.arrow_library import compute, pyarrow
from whet.sampling.row_condition import (
    Comparison,
    IsNull,
    IsOneOf,
    Joined,
    Negation,
    Node,
    Operand,
    RowCondition,
)
from whet.sampling.table import RowFilter
from whet.sampling.values import WRITTEN_AS_FLOAT, number_in

_FUNCTIONS = {
    "<": "less",
    "<=": "less_equal",
    ">": "greater",
    ">=": "greater_equal",
    "==": "equal",
    "!=": "not_equal",
}


_EXACT = 1 << 53
"""Every whole number up to this one is a float."""


class _NotThisWayError(Exception):
    """Arrow has no function that says the same: each row is asked."""


def filter_of(condition: RowCondition) -> RowFilter:
    """Return what asks a condition of rows."""

    def mask(batch: Any) -> Any:
        try:
            return _mask(condition.root, batch)
        except _NotThisWayError:
            return None

    return RowFilter(condition.columns, condition.holds, mask)


def mask_of_keys(batch: Any, columns: tuple[str, ...], keys: Collection[tuple[str, ...]]) -> Any:
    """Return which rows of a batch have one of the keys; None: each row is asked."""
    pa = pyarrow()
    if len(columns) != 1:
        return None
    column = _column(batch, Operand(column=columns[0]))
    texts = {text for (text,) in keys}
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        written = {
            f"{text}{WRITTEN_AS_FLOAT}" for text in texts if text.removeprefix("-").isdecimal()
        }
        values: list[str] | list[int] = list((texts | written) - {""})
    elif pa.types.is_integer(column.type):
        # A number has one text alone: 017 isn't that of 17.
        numbers = [number for number in map(number_in, texts) if isinstance(number, int)]
        values = [each for each in numbers if str(each) in texts and _fits(each, column.type)]
    else:
        return None
    return compute().is_in(column, pa.array(values, column.type))


def _mask(node: Node, batch: Any) -> Any:
    pc = compute()
    if isinstance(node, Negation):
        return pc.invert(_mask(node.inner, batch))
    if isinstance(node, Joined):
        masks = [_mask(part, batch) for part in node.parts]
        joined = masks[0]
        for each in masks[1:]:
            joined = pc.or_kleene(joined, each) if node.decides else pc.and_kleene(joined, each)
        return joined
    if isinstance(node, IsNull) and node.left.column:
        return pc.is_null(_column(batch, node.left))
    if isinstance(node, IsOneOf) and node.left.column:
        column = _column(batch, node.left)
        values = [_as_in(column, value) for value in node.values]
        found = pc.is_in(column, pyarrow().array(values, column.type))
        return pc.if_else(pc.is_null(column), None, found)
    if isinstance(node, Comparison):
        return getattr(pc, _FUNCTIONS[node.symbol])(*_sides(node, batch))
    raise _NotThisWayError


def _sides(node: Comparison, batch: Any) -> tuple[Any, Any]:
    """Return what is compared, if Arrow compares it as Python does."""
    if node.left.column and not node.right.column:
        column = _column(batch, node.left)
        return column, pyarrow().scalar(_as_in(column, node.right.value), column.type)
    if node.right.column and not node.left.column:
        column = _column(batch, node.right)
        return pyarrow().scalar(_as_in(column, node.left.value), column.type), column
    raise _NotThisWayError


def _column(batch: Any, operand: Operand) -> Any:
    column = batch.column(batch.schema.names.index(operand.column))
    is_dictionary = pyarrow().types.is_dictionary(column.type)
    return column.dictionary_decode() if is_dictionary else column


def _as_in(column: Any, value: object) -> object:
    """Return a value as the column's type has it, exactly."""
    types, type_ = pyarrow().types, column.type
    if types.is_string(type_) or types.is_large_string(type_):
        fits = isinstance(value, str)
    elif types.is_boolean(type_):
        fits = isinstance(value, bool)
    elif types.is_integer(type_):
        fits = type(value) is int and _fits(value, type_)
    elif types.is_float64(type_):
        fits = type(value) is float or (type(value) is int and abs(value) <= _EXACT)
    else:
        fits = False
    if not fits:
        raise _NotThisWayError
    return value


def _fits(number: int, type_: Any) -> bool:
    is_signed = pyarrow().types.is_signed_integer(type_)
    bits: int = type_.bit_width - is_signed
    return (-(1 << bits) if is_signed else 0) <= number < 1 << bits
