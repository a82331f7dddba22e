"""Recorded values as objects for a debugger: real ones if the recording is complete.

An object that can't be made without the program's own code becomes a `Kept`: it has the attributes of
the object, and the line that describes it.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import NoReturn, cast

from whet.core.text.record import JsonObject, items_of, record_of, rows, text
from whet.evidence.variables.kept_value import value_line

_WIDTH = 2000
_CONTAINERS: dict[str, Callable[[list[object]], object]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "deque": deque,
}
_FLOATS = {"nan", "inf", "-inf"}


class Kept:
    """What is left of an object: its attributes, and what it was in a line."""

    def __init__(self, line: str, attributes: Mapping[str, object]) -> None:
        vars(self).update(attributes)
        vars(self)["\0line"] = line

    def __repr__(self) -> str:
        line: str = vars(self)["\0line"]
        return line

    def __dir__(self) -> list[str]:
        return [name for name in vars(self) if name != "\0line"]

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"`{name}` is not kept of {self!r}")


def rebuilt(node: object) -> object:
    """Return a kept value as an object.

    Raises:
        MalformedRecordError: if it is nothing that the agent keeps.
    """
    data = record_of(node)
    if data is None:
        return node
    value = _rebuilt(str(data.get("k")), data)
    return Kept(value_line(node, _WIDTH), _attributes(data)) if value is None else value


def _rebuilt(kind: str, data: JsonObject) -> object | None:
    """Return the very value, None if it isn't all there."""
    name = str(data.get("type", ""))
    is_own_type = name.rpartition(".")[2] == kind
    if kind in _CONTAINERS and is_own_type:
        return _container(kind, data)
    if kind == "dict" and is_own_type:
        return _dictionary(data)
    if kind in {"bytes", "bytearray"}:
        raw = text(data, "text").encode("latin-1", "replace")
        whole = bytearray(raw) if kind == "bytearray" else raw
        return whole if len(raw) == data.get("n") else None
    if kind == "float" and str(data.get("text")) in _FLOATS:
        return float(str(data["text"]))
    if kind == "array" and "values" in data:
        return _array(data)
    if kind == "scalar":
        return data.get("value")
    return None


def _container(kind: str, data: JsonObject) -> object | None:
    items = [rebuilt(item) for item in items_of(data.get("of"))]
    if len(items) != data.get("n"):
        return None
    try:
        return _CONTAINERS[kind](items)
    except TypeError:  # a member that can't be hashed any more
        return None


def _dictionary(data: JsonObject) -> object | None:
    pairs = list(rows(data.get("of"), 2))
    if len(pairs) != data.get("n"):
        return None
    try:
        return {rebuilt(key): rebuilt(value) for key, value in pairs}
    except TypeError:
        return None


def _array(data: JsonObject) -> object | None:
    if not str(data.get("type")).startswith("numpy."):
        return None
    try:
        import numpy as np

        array: object = np.array(_numbers(data["values"]), dtype=str(data.get("dtype")))
    except (ImportError, ValueError, TypeError):
        return None
    return array


def _numbers(values: object) -> object:
    if isinstance(values, list):
        return list(map(_numbers, items_of(cast("object", values))))
    return rebuilt(values)


def _attributes(data: JsonObject) -> dict[str, object]:
    """Return what can be asked of an object that isn't whole."""
    attributes = {str(name): rebuilt(value) for name, value in rows(data.get("at"), 2)}
    if str(data.get("k")) in {"array", "table"}:
        attributes["shape"] = tuple(items_of(data.get("shape")))
        attributes |= {name: rebuilt(data[name]) for name in _OF_ARRAYS if name in data}
    names = [str(name) for name in items_of(data.get("names"))]
    attributes |= dict(zip(names, map(rebuilt, items_of(data.get("of"))), strict=False))
    return attributes


_OF_ARRAYS = ("dtype", "device", "min", "mean", "max", "nan", "inf")
