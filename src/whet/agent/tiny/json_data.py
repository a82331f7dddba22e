"""Data of JSON, whose types nothing promises: what a value is, and files that hold it."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeGuard


def is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether it is an object of JSON."""
    return isinstance(value, dict)


def is_array(value: object) -> TypeGuard[list[Any]]:
    """Whether it is an array of JSON."""
    return isinstance(value, list)


def is_number(value: object) -> TypeGuard[int]:
    """Whether it is a whole number from 0 up, and no truth value."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def items_of(value: object) -> list[Any]:
    """Return the items of an array or the values of an object; of anything else, none."""
    if is_object(value):
        return list(value.values())
    return value if is_array(value) else []


def read_text(path: str) -> str:
    """Return the text of a file, its line endings as they are."""
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def read_object(path: str) -> dict[str, Any]:
    """Return the object that a file holds.

    Raises:
        ValueError: if it holds none; the message names the file.
    """
    try:
        read = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise ValueError("`{}` isn't JSON: {}".format(path, error)) from error
    if not is_object(read):
        raise ValueError("`{}` holds no object".format(path))
    return read


def as_json(value: object) -> bytes:
    """Return a value as the content of a file."""
    return json.dumps(value, ensure_ascii=False, indent=1).encode("utf-8", "surrogatepass")
