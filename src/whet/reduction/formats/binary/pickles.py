"""Pickles, reduced as the JSON that says the same: nothing in them is ever run.

A tuple is ``{"!tuple": [1, 2]}``, a class or a function ``{"!global": "module name"}``, an object
``{"!new": {"!global": "app User"}, "args": [], "state": {"name": "x"}}``. What is in several
places is ``{"!as": 1, "value": []}`` in the first and ``{"!same": 1}`` in the others.
"""

from collections.abc import Iterator, Sequence

from whet.reduction.formats.binary.pickle_reading import NO_STATE, OBJECTS, Node, read_pickles
from whet.reduction.formats.binary.pickle_writing import write_pickle
from whet.reduction.formats.documents.packed import (
    MOST_BYTES,
    MOST_DEPTH,
    Packing,
    Pairs,
    as_key,
    packed_kind,
    tagged,
)

_PROTOCOLS = (b"\2", b"\3", b"\4", b"\5")
_LONG_TEXT = 64
"""A shorter text stands wherever it is used, however often that is."""

_MOST_SHOWN = 4 * MOST_BYTES
_START, _END = b"\x80", b"."


def unpack(payload: bytes) -> list[object]:
    """Return the values of pickles that stand one behind the other."""
    values = read_pickles(payload)
    shown = _Shown(values, _MOST_SHOWN)
    return [shown.value(each, 0) for each in values]


def pack(values: Sequence[object]) -> bytes:
    """Return a pickle of each value."""
    return b"".join(map(write_pickle, values))


class _Shown:
    """Shows nodes as JSON does; an object in several places has a number."""

    def __init__(self, roots: Sequence[object], most: int) -> None:
        self._left = most
        self._shared = _shared_of(roots)
        self._numbers: dict[int, int] = {}

    def value(self, value: object, depth: int) -> object:
        """Return a value of JSON."""
        self._left -= _size_of(value)
        if depth > MOST_DEPTH or self._left < 0:
            raise ValueError("it is too large or nested too deep")
        number = self._numbers.get(id(value))
        if number is not None:
            return tagged("!same", number)
        if id(value) not in self._shared:
            return self._held(value, depth)
        number = self._numbers[id(value)] = len(self._numbers) + 1
        return Pairs((("!as", number), ("value", self._held(value, depth))))

    def _held(self, value: object, depth: int) -> object:
        if isinstance(value, Pairs):  # it has one key
            ((tag, inner),) = value.items
            return tagged(tag, self.value(inner, depth)) if isinstance(inner, Node) else value
        if not isinstance(value, Node):
            return value
        if value.mark in OBJECTS:
            return Pairs(tuple(self._object(value, depth + 1)))
        if value.mark == "!dict":
            return self._pairs(value, depth)
        items = self._items(value.items, depth)
        if value.mark == "!list":
            return items
        return tagged(value.mark, items[0] if value.mark == "!persistent" else items)

    def _items(self, values: Sequence[object], depth: int) -> tuple[object, ...]:
        return tuple(self.value(each, depth + 1) for each in values)

    def _pairs(self, node: Node, depth: int) -> Pairs:
        pairs = ((as_key(self.value(key, depth + 1)), value) for key, value in node.pairs)
        return Pairs(tuple((key, self.value(value, depth + 1)) for key, value in pairs))

    def _object(self, node: Node, depth: int) -> Iterator[tuple[str, object]]:
        yield node.mark, self.value(node.made_by, depth)
        if node.args:
            yield "args", self._items(node.args, depth)
        if node.kwargs is not None:
            yield "kwargs", self.value(node.kwargs, depth)
        if node.items:
            yield "items", self._items(node.items, depth)
        if node.pairs:
            yield "pairs", self._pairs(node, depth)
        if node.state is not NO_STATE:
            yield "state", self.value(node.state, depth)


def _size_of(value: object) -> int:
    if isinstance(value, Pairs):
        value = value.items[0][1]
    return len(value) if isinstance(value, str) else 1


def _shared_of(roots: Sequence[object]) -> set[int]:
    """Return which values stand in several places: by what they are, not by what they hold."""
    seen: set[int] = set()
    shared: set[int] = set()
    waiting = list(roots)
    while waiting:
        value = waiting.pop()
        if isinstance(value, Pairs) and isinstance(value.items[0][1], Node):
            waiting.append(value.items[0][1])
        if not isinstance(value, Node) and _size_of(value) <= _LONG_TEXT:
            continue
        if id(value) in seen:
            shared.add(id(value))
            continue
        seen.add(id(value))
        waiting += value.inner() if isinstance(value, Node) else ()
    return shared


def _is_likely(payload: bytes) -> bool:
    """Return whether it starts and ends as pickles have since Python 2.3."""
    return payload[:1] == _START and payload[1:2] in _PROTOCOLS and payload[-1:] == _END


PICKLE = packed_kind(
    Packing(
        name="pickle",
        suffixes=(".pickle", ".pkl", ".pck", ".p"),
        unpack=unpack,
        pack=pack,
        is_likely=_is_likely,
    )
)
