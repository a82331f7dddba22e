"""A value that is kept as JSON data: its fields, and their types, say how."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import MISSING, Field, field, fields
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import ClassVar, Literal, Self, TypeVar, cast, get_args, get_origin

from whet.core.text.record import (
    JsonObject,
    boolean,
    integer,
    malformed,
    number,
    record,
    records,
    row,
    sequence,
    text,
)

ValueT = TypeVar("ValueT")
Write = Callable[[object], object]
Read = Callable[[JsonObject, str], object]


APART: Mapping[str, object] = {"apart": True}
"""Metadata of a field that is stored in another place."""


class Codec:
    """How the value of a field is kept.

    Attributes:
        write: makes JSON data of it; None: it is that already.
        read: finds it in a record by the field's name.
    """

    def __init__(self, write: Write | None, read: Read) -> None:
        self.write = write
        self.read = read


class Record:
    """Base of a frozen dataclass that is kept as a JSON object.

    A field that the object doesn't have is as by default, so that older records stay readable.
    """

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[object]]]

    def to_json(self) -> dict[str, object]:
        """Return this as JSON data."""
        data: dict[str, object] = {}
        for each in _plan(type(self)):
            value: object = getattr(self, each.name)
            if not each.is_sparse or value != each.usual:
                write = each.codec.write
                data[each.name] = value if write is None else write(value)
        return data

    @classmethod
    def from_json(cls, data: JsonObject, **known: object) -> Self:
        """Return what ``to_json`` wrote.

        Args:
            data: what ``to_json`` returned.
            known: fields that aren't read from it.

        Raises:
            MalformedRecordError: if it is something else; names the field.
        """
        for each in _plan(cls):
            if each.name not in known and (each.is_needed or each.name in data):
                known[each.name] = each.codec.read(data, each.name)
        make: Callable[..., Self] = cls
        return make(**known)


def sparse(default: ValueT, codec: Codec | None = None) -> ValueT:
    """Return the default of a field that isn't written where it is as by default."""
    return _field(default, {"sparse": True, "codec": codec})


def kept_by(codec: Codec, default: ValueT) -> ValueT:
    """Return the default of a field that is written in its own way."""
    return _field(default, {"codec": codec})


def pairs(first: str, second: str, read: Read = integer) -> Codec:
    """Return how pairs are kept as objects, by the names of the two; the first one is a text."""
    return Codec(
        lambda value: [
            {first: a, second: b} for a, b in cast("Sequence[tuple[str, object]]", value)
        ],
        lambda data, name: tuple(
            (text(each, first), read(each, second)) for each in records(data, name)
        ),
    )


def anything(data: JsonObject, name: str) -> object:
    """Return the value at ``name``, whatever it is."""
    return data.get(name)


def _field(default: ValueT, metadata: Mapping[str, object]) -> ValueT:
    return field(default=default, metadata=metadata)


class _Kept:
    """How a field is kept."""

    def __init__(self, each: "Field[object]") -> None:
        make = each.default_factory
        self.name = each.name
        self.codec: Codec = each.metadata.get("codec") or _codec(cast("Hashable", each.type))
        self.usual = each.default if make is MISSING else make()
        self.is_needed = self.usual is MISSING or NoneType in get_args(each.type)
        self.is_sparse = "sparse" in each.metadata


_PLANS: dict[type[Record], tuple[_Kept, ...]] = {}


def _plan(kind: type[Record]) -> tuple[_Kept, ...]:
    """Return how each field of a class is kept. Worked out once, and only for a class in use."""
    if kind not in _PLANS:
        shared = (each for each in fields(kind) if not each.metadata.keys() & APART)
        _PLANS[kind] = tuple(map(_Kept, shared))
    return _PLANS[kind]


@cache
def _codec(hint: Hashable) -> Codec:
    """Return how a value of a type is kept."""
    if hint in _PLAIN:
        return Codec(None, _PLAIN[hint])
    kind, parts = get_origin(hint), get_args(hint)
    if kind is UnionType:
        return _optional(_codec(parts[0]))
    if kind is tuple:
        return _items(_codec(parts[0])) if parts[-1] is ... else _row(tuple(map(_codec, parts)))
    if kind in {Mapping, dict}:
        return _mapping(_codec(parts[1]))
    if kind is Literal:
        return _choice(None, {each: each for each in parts})
    return _class(cast("type", hint))


def _class(hint: type) -> Codec:
    if issubclass(hint, Enum):
        return _choice(lambda value: cast("Enum", value).value, {each.value: each for each in hint})
    if not issubclass(hint, Record):
        raise TypeError(f"no rule says how to store {hint}")
    return Codec(
        lambda value: cast("Record", value).to_json(),
        lambda data, name: hint.from_json(record(data, name)),
    )


def _optional(codec: Codec) -> Codec:
    write = codec.write
    return Codec(
        None if write is None else lambda value: None if value is None else write(value),
        lambda data, name: None if data.get(name) is None else codec.read(data, name),
    )


def _items(codec: Codec) -> Codec:
    write = codec.write
    return Codec(
        _as_list
        if write is None
        else lambda value: [write(each) for each in cast("Sequence[object]", value)],
        lambda data, name: tuple(codec.read({name: each}, name) for each in sequence(data, name)),
    )


def _row(codecs: Sequence[Codec]) -> Codec:
    return Codec(
        _as_list,
        lambda data, name: tuple(
            codec.read({name: each}, name)
            for codec, each in zip(codecs, row(data.get(name), len(codecs)), strict=True)
        ),
    )


def _mapping(codec: Codec) -> Codec:
    return Codec(
        lambda value: dict(cast("JsonObject", value)),
        lambda data, name: {
            key: codec.read({key: each}, key) for key, each in record(data, name).items()
        },
    )


def _choice(write: Write | None, values: Mapping[object, object]) -> Codec:
    def read(data: JsonObject, name: str) -> object:
        word = text(data, name)
        if word not in values:
            raise malformed(data, name, f"one of {', '.join(map(str, values))}")
        return values[word]

    return Codec(write, read)


def _as_list(value: object) -> list[object]:
    return list(cast("Sequence[object]", value))


MILLISECONDS: Mapping[str, object] = {
    "codec": Codec(lambda value: round(cast("float", value), 3), number)
}
"""Metadata of a time that is stored in milliseconds."""

_PLAIN: Mapping[object, Read] = {
    str: text,
    int: integer,
    float: number,
    bool: boolean,
    object: anything,
}
