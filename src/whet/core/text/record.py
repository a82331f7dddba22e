"""Reading JSON records whose types are checked, not hoped for."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar, cast

JsonObject = Mapping[str, object]
ItemT = TypeVar("ItemT")
_MOST_SHOWN = 200


class MalformedRecordError(ValueError):
    """A stored record doesn't have the shape that its reader expects."""


def decoded(data: str | bytes) -> object:
    """Return what a JSON text says.

    Raises:
        MalformedRecordError: if it is no JSON, or nested too deeply.
    """
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise MalformedRecordError(f"invalid JSON: {error}") from error
    return value


def text(data: JsonObject, name: str, default: str | None = None) -> str:
    """Return the string at ``name``."""
    value = data.get(name, default)
    if not isinstance(value, str):
        raise malformed(data, name, "a string")
    return value


def optional_text(data: JsonObject, name: str) -> str | None:
    """Return the string at ``name``, or None."""
    return None if data.get(name) is None else text(data, name)


def integer(data: JsonObject, name: str) -> int:
    """Return the whole number at ``name``."""
    value = data.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise malformed(data, name, "a whole number")
    return value


def optional_integer(data: JsonObject, name: str) -> int | None:
    """Return the whole number at ``name``, or None."""
    return None if data.get(name) is None else integer(data, name)


def number(data: JsonObject, name: str) -> float:
    """Return the number at ``name``."""
    value = data.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise malformed(data, name, "a number")
    try:
        return float(value)
    except OverflowError as error:
        raise malformed(data, name, "a number in the range of a float") from error


def boolean(data: JsonObject, name: str, *, default: bool = False) -> bool:
    """Return the truth value at ``name``."""
    value = data.get(name, default)
    if not isinstance(value, bool):
        raise malformed(data, name, "true or false")
    return value


def record(data: JsonObject, name: str) -> JsonObject:
    """Return the object at ``name``; an absent one is empty."""
    return as_record(data.get(name, {}), name)


def optional_record(data: JsonObject, name: str) -> JsonObject | None:
    """Return the object at ``name``, or None."""
    return None if data.get(name) is None else record(data, name)


def records(data: JsonObject, name: str) -> tuple[JsonObject, ...]:
    """Return the list of objects at ``name``; an absent one is empty."""
    return tuple(as_record(item, name) for item in sequence(data, name))


def texts(data: JsonObject, name: str) -> tuple[str, ...]:
    """Return the list of strings at ``name``; an absent one is empty."""
    items = sequence(data, name)
    if not all(isinstance(item, str) for item in items):
        raise malformed(data, name, "a list of strings")
    return tuple(str(item) for item in items)


def text_map(data: JsonObject, name: str) -> dict[str, str]:
    """Return the object at ``name`` whose values are all strings."""
    return {key: text(record(data, name), key) for key in record(data, name)}


def as_record(value: object, name: str) -> JsonObject:
    """Return ``value`` if it is a JSON object."""
    if not isinstance(value, Mapping):
        raise MalformedRecordError(f"`{name}` is not an object: {_cut(value)}")
    return {str(key): item for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def sequence(data: JsonObject, name: str) -> Sequence[object]:
    """Return a list; one that is missing is empty.

    Raises:
        MalformedRecordError: if it is something else.
    """
    value = data.get(name, [])
    if not isinstance(value, list | tuple):
        raise malformed(data, name, "a list")
    items: list[object] = [*value]  # pyright: ignore[reportUnknownArgumentType]
    return items


def malformed(data: JsonObject, name: str, wanted: str) -> MalformedRecordError:
    """Return the error that says what the value at ``name`` should be."""
    return MalformedRecordError(f"`{name}` is not {wanted}: {_cut(data.get(name))}")


def _cut(value: object) -> str:
    words = repr(value)
    return words if len(words) <= _MOST_SHOWN else f"{words[:_MOST_SHOWN]}…"


def whole(value: object) -> int:
    """Return a whole number in JSON data.

    Raises:
        MalformedRecordError: if it is none.
    """
    return integer({"number": value}, "number")


def row(value: object, width: int) -> list[object]:
    """Return the items of a list that must have ``width`` of them in JSON data.

    Raises:
        MalformedRecordError: if it is something else.
    """
    items = items_of(value)
    if len(items) != width:
        raise MalformedRecordError(f"not a list of {width}: {_cut(value)}")
    return items


def rows(value: object, width: int) -> Iterator[list[object]]:
    """Yield the items of a list of lists of ``width`` items; nothing if it isn't a list.

    Raises:
        MalformedRecordError: if one of them is something else.
    """
    return (row(item, width) for item in items_of(value))


def item_at(items: Sequence[ItemT], position: object) -> ItemT:
    """Return the item at a position that JSON data names.

    Raises:
        MalformedRecordError: if there is none.
    """
    at = whole(position)
    if not 0 <= at < len(items):
        raise MalformedRecordError(f"there is no item {at} among {len(items)}")
    return items[at]


def items_of(value: object) -> list[object]:
    """Return the items of a list in JSON data; none if it is no list."""
    return list(cast("list[object]", value)) if isinstance(value, list) else []


def record_of(value: object) -> JsonObject | None:
    """Return an object in JSON data; None if it is none."""
    return as_record(cast("object", value), "value") if isinstance(value, dict) else None
