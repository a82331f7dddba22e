"""Plainer types for the columns of pyarrow: fewer fields, no nesting, plain leaves."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from whet.core.value_class import value_class

PLAIN = ("int64", "double", "string", "bool")


def pyarrow() -> Any:
    """Return the library, which has no types of its own."""
    import pyarrow as pa

    return pa


@value_class
class Offer:
    """A type that may stand instead of another.

    Attributes:
        type: that.
        said: what a value of the other type is in it; None: a cast tells.
    """

    type: Any
    said: Callable[[Any], Any] | None = None


def types_in(type_: Any) -> int:
    """Return how far a type is from plain: a plain one not at all, one that holds others farther."""
    if str(type_) in PLAIN:
        return 0
    return 1 + sum(1 + types_in(each.type) for each in _fields(type_))


def _fields(type_: Any) -> list[Any]:
    """Return the fields of a type that holds others, such as a list or a structure."""
    pa = pyarrow()

    if pa.types.is_dictionary(type_) or not pa.types.is_nested(type_):
        return []
    return [type_.field(index) for index in range(type_.num_fields)]


def plainer_types(type_: Any) -> Iterator[Offer]:
    """Yield what may stand instead of a type; the plainest first."""
    pa = pyarrow()

    if pa.types.is_struct(type_):
        yield from _plainer_structs(type_)
    elif pa.types.is_list(type_) or pa.types.is_large_list(type_):
        inner = type_.value_type
        yield Offer(inner, _first)
        for each in plainer_types(inner):
            yield Offer(pa.list_(each.type), each.said and partial(_mapped, each.said))
    elif not pa.types.is_nested(type_):
        for plain in plain_types(type_):
            if plain != type_:
                yield Offer(plain)


def _plainer_structs(type_: Any) -> Iterator[Offer]:
    pa = pyarrow()

    fields = _fields(type_)
    for field in fields:
        yield Offer(field.type, partial(_field, field.name))
    for index, field in enumerate(fields):
        others = [*fields[:index], *fields[index + 1 :]]
        if others:
            yield Offer(pa.struct(others), partial(_without, field.name))
    for index, field in enumerate(fields):
        for each in plainer_types(field.type):
            changed = pa.field(field.name, each.type)
            yield Offer(
                pa.struct([*fields[:index], changed, *fields[index + 1 :]]),
                each.said and partial(_changed, field.name, each.said),
            )


def _first(items: Any) -> Any:
    return items[0] if items else None


def _mapped(said: Callable[[Any], Any], items: Any) -> Any:
    return None if items is None else [said(each) for each in items]


def _field(name: str, value: Any) -> Any:
    return None if value is None else value[name]


def _without(name: str, value: Any) -> Any:
    return None if value is None else {key: each for key, each in value.items() if key != name}


def _changed(name: str, said: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else {**value, name: said(value[name])}


def plain_types(type_: Any) -> list[Any]:
    """Return the plain types that come closest to a type."""
    pa = pyarrow()

    inner = type_.value_type if pa.types.is_dictionary(type_) else type_
    if pa.types.is_integer(inner):
        return [pa.int64()]
    if pa.types.is_floating(inner) or pa.types.is_decimal(inner):
        return [pa.float64(), pa.int64()]
    if pa.types.is_boolean(inner):
        return [pa.bool_()]
    return [pa.int64(), pa.string()] if pa.types.is_temporal(inner) else [pa.string()]
