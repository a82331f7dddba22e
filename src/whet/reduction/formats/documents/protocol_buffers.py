"""Protocol Buffers by their wire: without a schema a field is its number, and a guess at its type.

Bytes that are text are shown as text, those that are a message as a message. A number of eight
bytes is shown as a float. What was guessed wrong is written as it was read, to the byte.
"""

import struct
from collections.abc import Iterator, Sequence

from whet.reduction.formats.documents.packed import (
    MOST_BYTES,
    MOST_DEPTH,
    REFUSALS,
    Packing,
    Pairs,
    packed_kind,
    tagged,
)

_BYTES = "!bytes"
_FIXED = {4: ("<f", "!float32", "!fixed32"), 8: ("<d", "", "!fixed64")}
_VARINT, _EIGHT, _SIZED, _FOUR = 0, 1, 2, 5
_MOST_VARINT, _MORE = 10, 0x80
_MOST_NUMBER = 1 << 29
_LEAST_FIELDS, _LEAST_BYTES = 3, 24
"""With fewer fields or bytes, whet takes a file without a telling name for something else."""

_LEAST_FLOAT, _MOST_FLOAT = 1e-30, 1e30
"""No one writes an eight-byte number outside these bounds as a float."""


def _varint(payload: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(_MOST_VARINT):
        byte = payload[at + place]
        value |= (byte & 0x7F) << (7 * place)
        if byte < _MORE:
            return value, at + place + 1
    raise ValueError("the number does not end")


def _fields(payload: bytes, depth: int) -> Iterator[tuple[str, object]]:
    if depth > MOST_DEPTH:
        raise ValueError("it is nested too deep")
    at = 0
    while at < len(payload):
        key, at = _varint(payload, at)
        number, wire = key >> 3, key & 7
        if not 0 < number < _MOST_NUMBER:
            raise ValueError("no field has this number")
        value: object
        if wire == _VARINT:
            value, at = _varint(payload, at)
        else:
            size = {_EIGHT: 8, _FOUR: 4}.get(wire)
            if wire == _SIZED:
                size, at = _varint(payload, at)
            if size is None or at + size > len(payload):
                raise ValueError("no field is like this")
            raw, at = payload[at : at + size], at + size
            value = _sized(raw, depth) if wire == _SIZED else _fixed(raw)
        yield str(number), value


def _fixed(raw: bytes) -> object:
    form, tag, whole_tag = _FIXED[len(raw)]
    number: float = struct.unpack(form, raw)[0]
    is_float = number == 0 or _LEAST_FLOAT < abs(number) < _MOST_FLOAT
    if is_float and struct.pack(form, number) == raw:
        return tagged(tag, number) if tag else number
    return tagged(whole_tag, int.from_bytes(raw, "little"))


def _sized(raw: bytes, depth: int) -> object:
    text = _text_of(raw)
    if text is not None:
        return text
    try:
        message = Pairs(tuple(_fields(raw, depth + 1)))
        if _message(message) == raw:
            return message
    except REFUSALS:
        pass
    return tagged(_BYTES, raw.hex())


def _text_of(raw: bytes) -> str | None:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    is_text = all(each.isprintable() or each in "\n\r\t" for each in text)
    return text if is_text else None


def unpack(payload: bytes) -> list[object]:
    """Return the one message of a payload."""
    message = Pairs(tuple(_fields(payload, 0)))
    return [message]


def pack(values: Sequence[object]) -> bytes:
    """Return the payload of one message."""
    [message] = values
    if not isinstance(message, Pairs):
        raise TypeError("a message has fields")
    try:
        return _message(message)
    except struct.error as error:
        raise ValueError("a number is too large") from error


def _message(message: Pairs) -> bytes:
    return b"".join(_field(int(key), value) for key, value in message.items)


def _field(number: int, value: object) -> bytes:
    if not 0 < number < _MOST_NUMBER:
        raise ValueError("no field has this number")
    wire, packed = _value(value)
    size = _number(len(packed)) if wire == _SIZED else b""
    return _number(number << 3 | wire) + size + packed


def _value(value: object) -> tuple[int, bytes]:
    """Return the type and the bytes of a value."""
    match value:
        case bool() | None | tuple():
            raise TypeError("no field holds this")
        case int():
            return _VARINT, _number(value)
        case float():
            return _EIGHT, struct.pack("<d", value)
        case str():
            return _SIZED, value.encode()
        case Pairs(tag=""):
            return _SIZED, _message(value)
        case Pairs(items=(("!bytes", str(text)),)):
            return _SIZED, bytes.fromhex(text)
        case Pairs(items=(("!float32", float(number)),)):
            return _FOUR, struct.pack("<f", number)
        case Pairs(items=(("!fixed32", int(whole)),)):
            return _FOUR, struct.pack("<I", whole)
        case Pairs(items=(("!fixed64", int(whole)),)):
            return _EIGHT, struct.pack("<Q", whole)
        case _:
            raise ValueError("there is no such value")


def _number(value: int) -> bytes:
    if not 0 <= value < 1 << 64:
        raise ValueError("the number is too large")
    found = bytearray()
    while value >= _MORE:
        found.append(value & 0x7F | _MORE)
        value >>= 7
    return bytes((*found, value))


def _is_likely(payload: bytes) -> bool:
    """Return whether it is read to its end, and would be written just so."""
    if not _LEAST_BYTES <= len(payload) <= MOST_BYTES or _text_of(payload) is not None:
        return False
    try:
        [message] = unpack(payload)
        assert isinstance(message, Pairs)
        return len(message.items) >= _LEAST_FIELDS and pack([message]) == payload
    except REFUSALS:
        return False


PROTOCOL_BUFFERS = packed_kind(
    Packing(
        name="protobuf",
        suffixes=(".pb", ".binpb", ".protobuf"),
        unpack=unpack,
        pack=pack,
        is_likely=_is_likely,
    )
)
