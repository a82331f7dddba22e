"""Pickles written from the values that `pickle_values` shows, in protocol 4 where that is the same.

What is in them is never made: no class is looked for, and nothing is called.
"""

import struct
from collections.abc import Iterator, Mapping
from typing import cast

from whet.reduction.formats.documents.packed import Pairs, from_key

_OLD, _NEW, _WITH_BUFFERS = 2, 4, 5
_SMALL = 1 << 31
_BYTE, _SHORT, _WORD = 1 << 8, 1 << 16, 1 << 32
_MAY_HOLD: Mapping[str, frozenset[str]] = {
    "!call": frozenset({"args", "items", "pairs", "state"}),
    "!new": frozenset({"args", "kwargs", "items", "pairs", "state"}),
    "!instance": frozenset({"args", "items", "pairs", "state"}),
    "!as": frozenset({"value"}),
}


def write_pickle(value: object) -> bytes:
    """Return the pickle of a value.

    Raises:
        ValueError: if no pickle says that.
        TypeError: likewise.
    """
    protocol = _NEW
    match value:
        case Pairs(items=(("!protocol2", inner),)):
            protocol, value = _OLD, inner
        case _:
            pass
    writer = _Writer(protocol)
    written = b"".join(writer.value(value))
    return b"\x80" + bytes([writer.protocol]) + written + b"."


class _Writer:
    """Writes one pickle, and knows what it has written twice.

    Attributes:
        protocol: the one whose opcodes it has written.
    """

    def __init__(self, protocol: int) -> None:
        self.protocol = protocol
        self._known: dict[int, int] = {}
        """Where what is in several places is in the memo."""

    def value(self, value: object, shared: int | None = None) -> Iterator[bytes]:
        """Yield the opcodes of a value.

        Args:
            value: as JSON has it, with tuples for its lists.
            shared: the number by which other places refer to it; None: none do.
        """
        match value:
            case tuple():
                yield b"]" + self._noted(shared)
                yield from self._many(cast("tuple[object, ...]", value), b"e")
            case Pairs():
                mark = value.items[0][0] if value.items else ""
                if not (mark.startswith("!") and mark[1:].isalnum()):
                    yield b"}" + self._noted(shared)
                    yield from self._pairs(value)
                elif mark in _MAY_HOLD:
                    yield from self._object(mark, value, shared)
                else:
                    ((_, inner),) = value.items
                    yield from self._tagged(mark, inner, shared)
            case _:
                yield _plain(value, is_new=self.protocol >= _NEW) + self._noted(shared)

    def _noted(self, shared: int | None) -> bytes:
        """Return what puts a value into the memo."""
        if shared is None:
            return b""
        if shared in self._known:
            raise ValueError("two values have one number")
        place = self._known[shared] = len(self._known)
        return b"q" + bytes([place]) if place < _BYTE else b"r" + struct.pack("<I", place)

    def _many(self, values: tuple[object, ...], end: bytes) -> Iterator[bytes]:
        if values:
            yield b"("
            for each in values:
                yield from self.value(each)
            yield end

    def _pairs(self, value: Pairs) -> Iterator[bytes]:
        if value.items:
            yield b"("
            for key, each in value.items:
                yield from self.value(from_key(key))
                yield from self.value(each)
            yield b"u"

    def _object(self, mark: str, value: Pairs, shared: int | None) -> Iterator[bytes]:
        (_, first), *others = value.items
        parts = dict(others)
        if len(parts) < len(others) or not parts.keys() <= _MAY_HOLD[mark]:
            raise ValueError("no object has such parts")
        if mark == "!as":
            yield from self._first(first, parts, shared)
            return
        yield from self._made(mark, first, parts)
        yield self._noted(shared)
        yield from self._many(_items_of(parts.get("items", ())), b"e")
        pairs = parts.get("pairs", Pairs(()))
        if not isinstance(pairs, Pairs):
            raise TypeError("pairs are an object")
        yield from self._pairs(pairs)
        if "state" in parts:
            yield from self.value(parts["state"])
            yield b"b"

    def _first(
        self, number: object, parts: Mapping[str, object], shared: int | None
    ) -> Iterator[bytes]:
        """Yield a value that is in other places too."""
        if type(number) is not int or shared is not None or "value" not in parts:
            raise TypeError("a value has one number")
        yield from self.value(parts["value"], number)

    def _made(self, mark: str, made_by: object, parts: Mapping[str, object]) -> Iterator[bytes]:
        args = _items_of(parts.get("args", ()))
        if mark == "!instance":
            yield from self._many((made_by, *args), b"o")
            return
        yield from self.value(made_by)
        yield from self._tuple(args)
        if "kwargs" in parts:
            yield from self.value(parts["kwargs"])
            yield b"\x92"
        else:
            yield b"R" if mark == "!call" else b"\x81"

    def _tuple(self, values: tuple[object, ...]) -> Iterator[bytes]:
        yield from self._many(values, b"t") if values else (b")",)

    def _tagged(self, mark: str, inner: object, shared: int | None) -> Iterator[bytes]:
        match mark, inner:
            case "!tuple", _:
                yield from self._tuple(_items_of(inner))
            case "!set", _:
                yield b"\x8f" + self._noted(shared)
                yield from self._many(_items_of(inner), b"\x90")
                return
            case "!frozenset", _:
                yield b"("
                for each in _items_of(inner):
                    yield from self.value(each)
                yield b"\x91"
            case "!persistent", _:
                yield from self.value(inner)
                yield b"Q"
            case "!same", int() if inner in self._known:
                place = self._known[inner]
                yield b"h" + bytes([place]) if place < _BYTE else b"j" + struct.pack("<I", place)
            case "!bytearray" | "!buffer", _:
                self.protocol = _WITH_BUFFERS
                yield _atom(mark, inner)
            case _:
                yield _atom(mark, inner)
        yield self._noted(shared)


def _items_of(value: object) -> tuple[object, ...]:
    if not isinstance(value, tuple):
        raise TypeError("these are a list")
    return cast("tuple[object, ...]", value)


def _atom(mark: str, inner: object) -> bytes:
    """Return what holds no other value, and has no word in JSON."""
    match mark, inner:
        case "!b", str():
            return _sized(inner.encode("ascii"), b"C", b"B")
        case "!bytes", str():
            return _sized(bytes.fromhex(inner), b"C", b"B")
        case "!string", str():
            return _sized(inner.encode("latin-1"), b"U", b"T")
        case "!bytearray", str():
            raw = bytes.fromhex(inner)
            return b"\x96" + struct.pack("<Q", len(raw)) + raw
        case "!buffer", 0 | 1:
            return b"\x97\x98" if inner else b"\x97"
        case "!extension", int() if 0 < inner < _SMALL:
            return b"\x84" + struct.pack("<i", inner)
        case "!global", str():
            return _name(*inner.split(" ", 1))
        case _:
            raise ValueError("no pickle says that")


def _name(module: str, name: str) -> bytes:
    if f"{module}{name}".isascii() and "\n" not in f"{module}{name}":
        return f"c{module}\n{name}\n".encode()
    return _plain(module, is_new=True) + _plain(name, is_new=True) + b"\x93"


def _plain(value: object, *, is_new: bool) -> bytes:
    match value:
        case None:
            return b"N"
        case bool():
            return b"\x88" if value else b"\x89"
        case int():
            return _whole(value)
        case float():
            return b"G" + struct.pack(">d", value)
        case str():
            return _sized(value.encode("utf-8", "surrogatepass"), b"\x8c" if is_new else b"", b"X")
        case _:
            raise TypeError("no pickle says that")


def _whole(value: int) -> bytes:
    if 0 <= value < _BYTE:
        return b"K" + bytes([value])
    if 0 <= value < _SHORT:
        return b"M" + struct.pack("<H", value)
    if -_SMALL <= value < _SMALL:
        return b"J" + struct.pack("<i", value)
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + bytes([len(raw)]) + raw if len(raw) < _BYTE else _long(raw)


def _long(raw: bytes) -> bytes:
    return b"\x8b" + struct.pack("<i", len(raw)) + raw


def _sized(raw: bytes, short: bytes, long: bytes) -> bytes:
    if short and len(raw) < _BYTE:
        return short + bytes([len(raw)]) + raw
    if len(raw) >= _WORD:
        raise ValueError("it is too long")
    return long + struct.pack("<I", len(raw)) + raw
