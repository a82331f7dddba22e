"""MessagePack, by its specification: read and written without a library."""

import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

from whet.reduction.formats.documents.packed import (
    MOST_BYTES,
    MOST_DEPTH,
    REFUSALS,
    Packing,
    Pairs,
    as_key,
    from_key,
    packed_kind,
    tagged,
)

_BYTES, _FLOAT, _EXTENSION = "!bytes", "!float32", "!ext"
_WHOLES = {
    0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q", 0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q",
}  # fmt: skip
_POSITIVE, _NEGATIVE = list(_WHOLES)[:4], list(_WHOLES)[4:]
_SMALL = range(-32, 128)
_BYTE, _SHORT, _WORD = 1 << 8, 1 << 16, 1 << 32


def _heads() -> "Iterator[tuple[int, tuple[str, object]]]":
    """Yield the byte that starts a value, what it is, and that or its size, or how this is packed."""
    yield from {0xC0: ("is", None), 0xC2: ("is", False), 0xC3: ("is", True)}.items()
    yield from {0xCA: ("float", ">f"), 0xCB: ("number", ">d")}.items()
    yield from ((head, ("number", form)) for head, form in _WHOLES.items())
    yield from ((number % _BYTE, ("is", number)) for number in _SMALL)
    yield from ((0xA0 + size, ("text", size)) for size in range(32))
    for size in range(16):
        yield 0x80 + size, ("map", size)
        yield 0x90 + size, ("array", size)
    for place, form in enumerate((">B", ">H", ">I")):
        yield 0xC4 + place, ("bytes", form)
        yield 0xC7 + place, ("extension", form)
        yield 0xD9 + place, ("text", form)
    for place, form in enumerate((">H", ">I")):
        yield 0xDC + place, ("array", form)
        yield 0xDE + place, ("map", form)
    yield from ((0xD4 + place, ("extension", 1 << place)) for place in range(5))


_HEADS = dict(_heads())
_CONTAINERS = {head for head, (what, _) in _HEADS.items() if what in ("map", "array")}
"""No text in UTF-8 starts like this."""


@dataclass(slots=True)
class _Reader:
    payload: bytes
    at: int = 0

    def take(self, size: int) -> bytes:
        taken = self.payload[self.at : self.at + size]
        if len(taken) < size:
            raise ValueError("it ends too early")
        self.at += size
        return taken

    def number(self, form: str) -> int | float:
        found: int | float = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        return found

    def value(self, depth: int = 0) -> object:
        head = self.take(1)[0]
        if depth > MOST_DEPTH or head not in _HEADS:
            raise ValueError("no value starts with this byte")
        what, size = _HEADS[head]
        if what == "is":
            return size
        number = self.number(size) if isinstance(size, str) else size
        if what == "number":
            return number
        if what == "float":
            return tagged(_FLOAT, number)
        assert isinstance(number, int), "it is a size"
        return self.sized(what, number, depth)

    def sized(self, what: str, size: int, depth: int) -> object:
        if what == "map":
            return Pairs(tuple(self.pairs(size, depth)))
        if what == "array":
            return tuple(self.value(depth + 1) for _ in range(self.many(size)))
        if what == "extension":
            code = self.number(">b")
            return tagged(_EXTENSION, (code, self.take(size).hex()))
        raw = self.take(size)
        if what == "bytes":
            return tagged(_BYTES, raw.hex())
        return raw.decode("utf-8", "surrogateescape")

    def many(self, size: int) -> int:
        """Return a number of values: each takes a byte at least."""
        if size > len(self.payload) - self.at:
            raise ValueError("it ends too early")
        return size

    def pairs(self, size: int, depth: int) -> Iterator[tuple[str, object]]:
        for _ in range(self.many(size)):
            key = as_key(self.value(depth + 1))
            yield key, self.value(depth + 1)


def unpack(payload: bytes) -> list[object]:
    """Return the values of a payload."""
    reader = _Reader(payload)
    values: list[object] = []
    while reader.at < len(payload):
        values.append(reader.value())
    return values


def pack(values: Sequence[object]) -> bytes:
    """Return a payload of values, each in its shortest form."""
    try:
        return b"".join(part for each in values for part in _packed(each))
    except struct.error as error:
        raise ValueError("a number is too large") from error


def _packed(value: object) -> Iterator[bytes]:
    match value:
        case None:
            yield b"\xc0"
        case bool():
            yield b"\xc3" if value else b"\xc2"
        case int():
            yield _whole(value)
        case float():
            yield b"\xcb" + struct.pack(">d", value)
        case str():
            raw = value.encode("utf-8", "surrogateescape")
            yield _head(len(raw), 32, 0xA0, b"\xd9\xda\xdb") + raw
        case tuple():
            items = list(cast("Iterable[object]", value))
            yield _head(len(items), 16, 0x90, b"\0\xdc\xdd")
            for each in items:
                yield from _packed(each)
        case Pairs():
            yield from _object(value)
        case _:
            raise TypeError("there is no such value")


def _object(value: Pairs) -> Iterator[bytes]:
    match value.tag, value.items:
        case "!bytes", ((_, str(text)),):
            raw = bytes.fromhex(text)
            yield _head(len(raw), 0, 0, b"\xc4\xc5\xc6") + raw
        case "!float32", ((_, float(number)),):
            yield b"\xca" + struct.pack(">f", number)
        case "!ext", ((_, (int(code), str(text))),):
            yield _extension(code, bytes.fromhex(text))
        case "", items:
            yield _head(len(items), 16, 0x80, b"\0\xde\xdf")
            for key, each in items:
                yield from _packed(from_key(key))
                yield from _packed(each)
        case _:
            raise ValueError("there is no such value")


def _extension(code: int, raw: bytes) -> bytes:
    if len(raw) in (1, 2, 4, 8, 16):
        head = bytes([0xD4 + len(raw).bit_length() - 1])
    else:
        head = _head(len(raw), 0, 0, b"\xc7\xc8\xc9")
    return head + struct.pack(">b", code) + raw


def _head(size: int, few: int, short: int, longer: bytes) -> bytes:
    """Return what says a size.

    Args:
        size: that.
        few: a smaller one is in one byte.
        short: that byte for a size of 0.
        longer: what stands before a size of one, two and four bytes; 0: there is no such form.
    """
    if size < few:
        return bytes([short + size])
    for head, form, end in zip(longer, (">B", ">H", ">I"), (_BYTE, _SHORT, _WORD), strict=True):
        if head and size < end:
            return bytes([head]) + struct.pack(form, size)
    raise ValueError("it is too long")


def _whole(value: int) -> bytes:
    if value in _SMALL:
        return struct.pack(">b", value)
    for head in _POSITIVE if value > 0 else _NEGATIVE:
        with suppress(struct.error):  # it takes more bytes
            return bytes([head]) + struct.pack(_WHOLES[head], value)
    raise ValueError("the number is too large")


def _is_likely(payload: bytes) -> bool:
    """Return whether it is arrays and maps alone, the first of which holds something."""
    if payload[0] not in _CONTAINERS or len(payload) > MOST_BYTES:
        return False
    try:
        values = unpack(payload)
    except REFUSALS:
        return False
    return bool(values[0] and values[0] != Pairs(())) and all(
        isinstance(each, tuple | Pairs) for each in values
    )


MESSAGE_PACK = packed_kind(
    Packing(
        name="messagepack",
        suffixes=(".msgpack", ".mpk", ".mp"),
        unpack=unpack,
        pack=pack,
        is_likely=_is_likely,
    )
)
