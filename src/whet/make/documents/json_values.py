"""JSON from nothing: like another document, or as a JSON Schema wants it."""

import json
from collections.abc import Mapping
from itertools import count
from typing import cast

from whet.core.errors import BadUsage
from whet.make.edges import TEXTS
from whet.make.elements.chance import uniform, whole
from whet.make.elements.dtypes import DTYPES
from whet.make.elements.fills import Filling, edges_of
from whet.make.words import unknown_word

JSON_FILLS = ("count", "constant", "random", "edge")
_DEEP = 500

EDGES = "\n".join((
    "{",
    ' "twice": 1,',
    ' "twice": 2,',
    ' "": "an empty key",',
    ' "__proto__": {"polluted": true},',
    ' "constructor": null,',
    ' "more than 53 bits": 9007199254740993,',
    ' "more than 64 bits": 18446744073709551617,',
    ' "minus zero": -0.0,',
    ' "more than a float": 1e400,',
    ' "less than a float": 1e-400,',
    ' "nan": NaN,',
    ' "inf": -Infinity,',
    ' "lone surrogate": "\\ud800",',
    ' "zero": "\\u0000",',
    ' "leap day": "2024-02-29",',
    ' "empty": [[], {}, "", 0, false, null],',
    f' "huge": "{"x" * 100_000}",',
    f' "deep": {"[" * _DEEP}{"]" * _DEEP}',
    "}",
    "",
))  # fmt: skip
"""A document with what breaks programs: two equal keys, numbers that no float holds, and so on."""


class Leaves:
    """The values at the ends of a document, one after the other."""

    def __init__(self, filling: Filling) -> None:
        """Start.

        Args:
            filling: which values.

        Raises:
            BadUsage: if there is no such fill.
        """
        if filling.name not in JSON_FILLS:
            raise unknown_word("fill of JSON", filling.name, JSON_FILLS)
        self.filling = filling
        self._places = count(1)
        self._wholes = whole(filling.seed, 0, 9)
        self._floats = uniform(filling.seed, 0, 1)
        self._edges: dict[type, int] = {}

    @property
    def are_edges(self) -> bool:
        """Whether they are those that break programs."""
        return self.filling.name == "edge"

    def next(self) -> int:
        """Return the next whole number of a count, or a random one."""
        return next(self._wholes if self.filling.name == "random" else self._places)

    def like(self, value: object, key: str) -> object:
        """Return the next value of the same type."""
        if isinstance(value, bool | None):
            return value if value is None else self.next() % 2 == 1
        if self.filling.name == "constant" and isinstance(value, int | float):
            return self.filling.value
        if self.are_edges:
            return self._edge(value)
        if isinstance(value, str):
            return f"{key or 'text'}{self.next()}"
        if isinstance(value, float):
            return next(self._floats) if self.filling.name == "random" else float(self.next())
        return self.next()

    def _edge(self, value: object) -> object:
        kinds: dict[type, list[object]] = {
            str: list(TEXTS),
            int: list(edges_of(DTYPES["int64"])),
            float: list(edges_of(DTYPES["float64"])),
        }
        at = self._edges[type(value)] = self._edges.get(type(value), -1) + 1
        return kinds[type(value)][at % len(kinds[type(value)])]


def json_like(value: object, items: int, leaves: Leaves, key: str = "") -> object:
    """Return a document with the same keys and types; its lists have ``items`` values, like their first.

    Args:
        value: the document to resemble.
        items: how long lists become.
        leaves: the values in it.
        key: where it stands in the document around it.
    """
    if isinstance(value, dict):
        held = cast("Mapping[str, object]", value)
        return {name: json_like(each, items, leaves, name) for name, each in held.items()}
    if isinstance(value, list):
        first = cast("list[object]", value)[:1]
        return [json_like(each, items, leaves, key) for each in first for _ in range(items)]
    return leaves.like(value, key)


def json_text(value: object) -> str:
    """Return a document as it is written; what UTF-8 can't hold is escaped."""
    return f"{json.dumps(value, indent=1)}\n"


def read_json(text: str, what: str) -> object:
    """Return the document in a text.

    Raises:
        BadUsage: if it is no JSON.
    """
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadUsage(f"`{what}` isn't JSON: {error}", hint="check the file") from error
    return found
