"""Values with named fields: data classes, named tuples, attrs, pydantic and ordinary classes."""

import dataclasses
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any, TypeAlias, cast

from whet.core.value_class import value_class
from whet.reduction.objects.tree import ABSENT

Make: TypeAlias = Callable[..., object]

_OWN_WAYS = (
    "__copy__", "__deepcopy__", "__reduce__", "__reduce_ex__", "__getstate__", "__setstate__",
    "__setattr__", "__getattribute__", "__slots__",
)  # fmt: skip


class _Plain:
    """An object with attributes and nothing else."""


_PLAIN_SIZE = _Plain.__basicsize__


@value_class(kw_only=True)
class Fields:
    """The fields of a record.

    Attributes:
        values: what they hold.
        defaults: for each, whether it can be left to the class; empty if none can.
        join: makes a record of other values, through the class's own constructor, so that what
            the class refuses is never tried.
    """

    values: tuple[object, ...]
    defaults: tuple[bool, ...]
    join: Callable[[list[object]], object]


@value_class
class _Field:
    """A field: what it is called in the object and in the constructor."""

    name: str
    argument: str
    has_default: bool


def fields_of(value: object) -> Fields | None:
    """Return the fields of a record; None if a value is no record."""
    if issubclass(type(value), tuple) and hasattr(type(value), "_field_defaults"):
        return _of_named_tuple(cast("tuple[object, ...]", value))
    for described in (_of_data_class, _of_attrs, _of_pydantic, _of_namespace):
        fields = described(value)
        if fields is not None:
            return _fields(value, fields)
    return None


def _fields(value: object, fields: list[_Field]) -> Fields:
    names = [field.argument for field in fields]

    def join(values: list[object]) -> object:
        given = zip(names, values, strict=True)
        make = cast("Make", type(value))
        return make(**{name: each for name, each in given if each is not ABSENT})

    defaults = tuple(field.has_default for field in fields)
    return Fields(
        values=tuple(getattr(value, field.name) for field in fields),
        defaults=defaults if any(defaults) else (),
        join=join,
    )


def _of_named_tuple(value: tuple[object, ...]) -> Fields:
    kind = cast("Any", type(value))
    names: tuple[str, ...] = kind._fields
    known: Mapping[str, object] = kind._field_defaults
    fields = [_Field(name, name, name in known) for name in names]
    return _fields(value, fields)


def _of_data_class(value: object) -> list[_Field] | None:
    if not dataclasses.is_dataclass(value):
        return None
    missing = dataclasses.MISSING
    return [
        _Field(
            field.name,
            field.name,
            field.default is not missing or field.default_factory is not missing,
        )
        for field in dataclasses.fields(value)
        if field.init
    ]


def _of_attrs(value: object) -> list[_Field] | None:
    attributes = getattr(type(value), "__attrs_attrs__", None)
    if attributes is None:
        return None
    # Without a default there stands attrs's own NOTHING, which is known by its name alone here.
    return [
        _Field(each.name, each.alias or each.name.lstrip("_"), repr(each.default) != "NOTHING")
        for each in attributes
        if each.init
    ]


def _of_pydantic(value: object) -> list[_Field] | None:
    fields = getattr(type(value), "model_fields", None)
    if not isinstance(fields, dict) or not hasattr(value, "model_copy"):
        return None
    return [
        _Field(name, field.alias or name, not field.is_required())
        for name, field in cast("dict[str, Any]", fields).items()
    ]


def attributes_of(value: object) -> Fields | None:
    """Return the attributes of an ordinary object; None if it is more than these.

    No constructor is called: nobody knows its arguments. So none of the attributes is left out,
    and an object with state elsewhere (slots, C), or with a way of its own to be copied, is none.
    """
    kind = type(value)
    own_ways = (each for each in kind.__mro__[:-1] for name in _OWN_WAYS if name in vars(each))
    if not hasattr(value, "__dict__") or isinstance(value, type) or any(own_ways):
        return None
    if kind.__new__ is not object.__new__ or kind.__basicsize__ > _PLAIN_SIZE:
        return None
    names = tuple(vars(value))

    def join(values: list[object]) -> object:
        made = object.__new__(kind)
        vars(made).update(zip(names, values, strict=True))
        return made

    return Fields(values=tuple(vars(value).values()), defaults=(), join=join)


def _of_namespace(value: object) -> list[_Field] | None:
    if type(value) is not SimpleNamespace:
        return None
    return [_Field(name, name, has_default=True) for name in vars(value)]
