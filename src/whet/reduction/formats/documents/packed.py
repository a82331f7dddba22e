"""Trees of values in a packed form, such as MessagePack: reduced as the JSON that says the same.

Nobody reads their bytes. What JSON has no word for is an object of one key that starts with an
exclamation mark, such as ``{"!bytes": "00ff"}``; so does a key that is no text, or that starts so
itself. A key may stand in an object more than once. A candidate that is no such JSON is never run.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from math import inf
from typing import cast

from whet.core.value_class import value_class
from whet.reduction.order import TEXT, Order
from whet.reduction.payload_kind import Kind, Part

MOST_DEPTH = 100
"""Deeper nesting doesn't have this form."""

MOST_BYTES = 16 * 1024 * 1024
"""What is larger takes long to read, and its JSON longer to reduce."""

REFUSALS = (ValueError, TypeError, IndexError, OverflowError, RecursionError)
"""The errors from reading or writing a broken one; a text that isn't one is a ``ValueError``."""

_VIEWS, _MOST_IN_KEY = 3, 1 << 16
_BLANKS = re.compile(r"\s*+")
_MARK = "!"
_PRINTABLE = frozenset(b"\t\n\r" + bytes(range(32, 127)))


@value_class
class Pairs:
    """An object: keys with values, in their order; a key may stand there twice."""

    items: tuple[tuple[str, object], ...]

    @property
    def tag(self) -> str:
        """The key that says what a value is that JSON has no word for; empty: it is an object."""
        is_tagged = len(self.items) == 1 and self.items[0][0][1:].isalnum()
        return self.items[0][0] if is_tagged and self.items[0][0].startswith(_MARK) else ""


def tagged(tag: str, value: object) -> Pairs:
    """Return a value that JSON has no word for."""
    return Pairs(((tag, value),))


def as_key(key: object) -> str:
    """Return a key of JSON for any key.

    Raises:
        ValueError: if that is very long: each key in a key doubles what marks the one inside.
    """
    if isinstance(key, str) and not key.startswith(_MARK):
        return key
    text = f"{_MARK} {_text(key)}"
    if len(text) > _MOST_IN_KEY:
        raise ValueError("a key is too large or nested too deep")
    return text


def from_key(key: str) -> object:
    """Return the key that a key of JSON stands for."""
    return _values(key[1:])[0] if key.startswith(_MARK) else key


def as_lines(raw: bytes) -> object:
    """Return what bytes say: lines of text, or their digits if they are none."""
    if _PRINTABLE.issuperset(raw):
        return tuple(raw.decode().splitlines(keepends=True))
    return tagged("!bytes", raw.hex())


def from_lines(value: object) -> bytes:
    """Return the bytes that say that.

    Raises:
        ValueError: if none do.
        TypeError: likewise.
    """
    match value:
        case Pairs(items=(("!bytes", str(text)),)):
            return bytes.fromhex(text)
        case _:
            lines = cast("tuple[object, ...]", value) if isinstance(value, tuple) else (value,)
    if not all(isinstance(line, str) for line in lines):
        raise TypeError("a line is no text")
    return "".join(cast("tuple[str, ...]", lines)).encode("ascii")


@value_class(kw_only=True)
class Packing:
    """A packed form.

    Attributes:
        name: the format.
        suffixes: of names of such files; with another name more of the content must fit.
        unpack: the values that stand in a payload one behind the other; raises one of `REFUSALS`.
        pack: a payload of values; raises one of `REFUSALS`.
        is_likely: whether a payload that can be read is meant to be of this form.
    """

    name: str
    suffixes: tuple[str, ...]
    unpack: Callable[[bytes], Sequence[object]]
    pack: Callable[[Sequence[object]], bytes]
    is_likely: Callable[[bytes], bool]


def packed_kind(packing: Packing) -> Kind:
    """Return the kind of payloads in a packed form."""

    @lru_cache(maxsize=_VIEWS)
    def text_of(payload: bytes) -> bytes | None:
        if len(payload) > MOST_BYTES:
            return None
        try:
            return "\n".join(map(_text, packing.unpack(payload))).encode()
        except REFUSALS:
            return None

    def put(content: bytes) -> bytes | None:
        try:
            return packing.pack(_values(content.decode()))
        except REFUSALS:
            return None

    def claims(payload: bytes, name: str) -> bool:
        is_named = name.lower().endswith(packing.suffixes)
        is_likely = bool(payload) and (is_named or packing.is_likely(payload))
        return is_likely and text_of(payload) is not None

    def weight(payload: bytes) -> float:
        text = text_of(payload)
        return inf if text is None else TEXT.weight(text)

    def rank(payload: bytes) -> tuple[object, ...]:
        return (*TEXT.rank(text_of(payload) or b""), len(payload), payload)

    def inside(payload: bytes) -> list[Part]:
        text = text_of(payload)
        return [] if text is None else [Part(content=text, name="", put=put)]

    return Kind(
        name=packing.name,
        claims=claims,
        passes=(),
        order=Order(weight, rank),
        is_text=False,
        inside=inside,
        shown=lambda payload: (text_of(payload) or b"").decode(),
        suffixes=packing.suffixes,
        again=lambda payload: put(text_of(payload) or b"") or b"",
    )


def _text(value: object) -> str:
    """Return JSON, on one line."""
    if isinstance(value, Pairs):
        items = (f"{_leaf(key)}: {_text(each)}" for key, each in value.items)
        return "{" + ", ".join(items) + "}"
    if isinstance(value, tuple):
        return "[" + ", ".join(map(_text, cast("Iterable[object]", value))) + "]"
    return _leaf(value)


def _leaf(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isascii() or _is_writable(text) else json.dumps(value)


def _is_writable(text: str) -> bool:
    return not any("\ud800" <= each <= "\udfff" for each in text)


def _values(text: str) -> list[object]:
    """Return the values of JSON texts that stand one behind the other."""
    return list(_each_value(text))


def _each_value(text: str) -> Iterator[object]:
    decoder = json.JSONDecoder(object_pairs_hook=lambda items: Pairs(tuple(items)))
    end = 0
    while blanks := _BLANKS.match(text, end):
        if blanks.end() == len(text):
            return
        value, end = decoder.raw_decode(text, blanks.end())
        yield _frozen(value)


def _frozen(value: object) -> object:
    """Return a value with tuples for its lists, so that it can't change."""
    if isinstance(value, Pairs):
        return Pairs(tuple((key, _frozen(each)) for key, each in value.items))
    return (
        tuple(map(_frozen, cast("Iterable[object]", value))) if isinstance(value, list) else value
    )
