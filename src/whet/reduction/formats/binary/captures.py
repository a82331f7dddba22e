"""Captured packets, PCAP and PCAPNG: reduced as JSON lines, the head of the file and then the packets.

A packet is its headers, in digits, and what they carry. Lengths and sums that were right are right
in each candidate too (`whet.reduction.formats.binary.headers`).
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from whet.reduction.formats.binary.headers import join, split
from whet.reduction.formats.documents.packed import (
    Packing,
    Pairs,
    as_lines,
    from_lines,
    packed_kind,
)

_ORDERS = {
    b"\xd4\xc3\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\x3c\x4d": ">",
}  # fmt: skip
"""The first bytes of a PCAP file, with the order of bytes in it."""

_HEAD_BYTES, _LINK_AT = 24, 20
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_SECTION_BYTES = b"\n\r\r\n"
_SECTION_ORDERS = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_BLOCK_ENDS = 12
_KEYS = {"interface", "time", "headers", "content", "missing", "options"}


def _cut(payload: bytes, start: int, size: int) -> bytes:
    if size < 0 or start + size > len(payload):
        raise ValueError("it ends too early")
    return payload[start : start + size]


def _shown(packet: bytes, link: int, whole: int, parts: Mapping[str, object]) -> Pairs:
    head, content = split(packet, link)
    missing = {"missing": whole - len(packet)} if whole != len(packet) else {}
    shown = {**parts, "headers": head.hex(), "content": as_lines(content), **missing}
    return Pairs(tuple(shown.items()))


def _packet_of(parts: Mapping[str, object], link: int) -> tuple[bytes, int]:
    """Return a packet, and how long it was when it was captured."""
    packet = join(
        bytes.fromhex(cast("str", parts.get("headers", ""))),
        from_lines(parts.get("content", ())),
        link,
    )
    return packet, len(packet) + cast("int", parts.get("missing", 0))


def _numbers(value: object) -> tuple[int, int]:
    one, other = cast("tuple[int, int]", value)
    return one, other


# ---- PCAP ----


def _packets(payload: bytes, order: str) -> Iterator[object]:
    head = _cut(payload, 0, _HEAD_BYTES)
    (link,) = struct.unpack_from(order + "I", head, _LINK_AT)
    yield Pairs((("pcap", head.hex()),))
    at = _HEAD_BYTES
    while at < len(payload):
        seconds, parts, size, whole = struct.unpack(order + "4I", _cut(payload, at, 16))
        packet = _cut(payload, at + 16, size)
        yield _shown(packet, link & 0xFFFF, whole, {"time": (seconds, parts)})
        at += 16 + size


def _pack_packets(head: bytes, values: Sequence[object]) -> Iterator[bytes]:
    order = _ORDERS[head[:4]]
    (link,) = struct.unpack_from(order + "I", _cut(head, 0, _HEAD_BYTES), _LINK_AT)
    yield head
    for each in values:
        parts = _parts_of(each)
        packet, whole = _packet_of(parts, link & 0xFFFF)
        time = _numbers(parts.get("time", (0, 0)))
        yield struct.pack(order + "4I", *time, len(packet), whole) + packet


def _parts_of(value: object) -> dict[str, object]:
    if not isinstance(value, Pairs) or not dict(value.items).keys() <= _KEYS:
        raise ValueError("no packet has such parts")
    return dict(value.items)


# ---- PCAPNG ----


def _blocks(payload: bytes) -> Iterator[object]:
    at, order = 0, "<"
    links: list[int] = []
    while at < len(payload):
        if payload.startswith(_SECTION_BYTES, at):
            order, links = _SECTION_ORDERS[payload[at + 8 : at + 12]], []
        kind, size = struct.unpack(order + "II", _cut(payload, at, 8))
        body = _cut(payload, at + 8, size - _BLOCK_ENDS)
        if _cut(payload, at + size - 4, 4) != struct.pack(order + "I", size) or size % 4:
            raise ValueError("a block has two lengths")
        if kind == _INTERFACE:
            links.append(_link_of(body, order))
        if kind == _PACKET:
            yield _shown_block(body, order, links)
        else:
            yield Pairs((("block", kind), ("body", body.hex())))
        at += size


def _link_of(body: bytes, order: str) -> int:
    link: int = struct.unpack_from(order + "H", body)[0]
    return link


def _shown_block(body: bytes, order: str, links: Sequence[int]) -> Pairs:
    head: tuple[int, ...] = struct.unpack(order + "5I", _cut(body, 0, 20))
    interface, high, low, size, whole = head
    packet = _cut(body, 20, size)
    rest = body[20 + size + -size % 4 :]
    options = {"options": rest.hex()} if rest else {}
    parts = {"interface": interface, "time": (high, low), **options}
    return _shown(packet, links[interface], whole, parts)


def _pack_blocks(values: Sequence[object]) -> Iterator[bytes]:
    order = ""
    links: list[int] = []
    for each in values:
        parts: dict[str, object] = dict(each.items) if isinstance(each, Pairs) else {}
        if parts.keys() == {"block", "body"}:
            kind, body = cast("int", parts["block"]), bytes.fromhex(cast("str", parts["body"]))
            if kind == _SECTION:
                order, links = _SECTION_ORDERS[body[:4]], []
                body = body[:8] + b"\xff" * 8 + body[16:]  # its length isn't told
            if kind == _INTERFACE:
                links.append(_link_of(body, order))
        else:
            kind, body = _PACKET, _block_of(_parts_of(each), order, links)
        size = struct.pack(order + "I", len(body) + _BLOCK_ENDS)
        if not order or len(body) % 4:
            raise ValueError("a block stands in no section")
        yield struct.pack(order + "I", kind) + size + body + size


def _block_of(parts: Mapping[str, object], order: str, links: Sequence[int]) -> bytes:
    interface = cast("int", parts.get("interface", 0))
    packet, whole = _packet_of(parts, links[interface])
    time = _numbers(parts.get("time", (0, 0)))
    head = struct.pack(order + "5I", interface, *time, len(packet), whole)
    options = bytes.fromhex(cast("str", parts.get("options", "")))
    return head + packet + b"\0" * (-len(packet) % 4) + options


# ---- both ----


def unpack(payload: bytes) -> list[object]:
    """Return the head of a capture, then its packets.

    Raises:
        ValueError: if it is none.
        IndexError: likewise.
    """
    order = _ORDERS.get(payload[:4])
    try:
        return list(_blocks(payload) if order is None else _packets(payload, order))
    except (struct.error, KeyError) as error:
        raise ValueError("it is no capture") from error


def pack(values: Sequence[object]) -> bytes:
    """Return the file of a capture.

    Raises:
        ValueError: if it is none.
        TypeError: likewise.
        IndexError: likewise.
    """
    try:
        match values[0]:
            case Pairs(items=(("pcap", str(head)),)):
                return b"".join(_pack_packets(bytes.fromhex(head), values[1:]))
            case _:
                return b"".join(_pack_blocks(values))
    except (struct.error, KeyError) as error:
        raise ValueError("it is no capture") from error


def _is_likely(payload: bytes) -> bool:
    return payload[:4] in _ORDERS or payload[:4] == _SECTION_BYTES


CAPTURE = packed_kind(
    Packing(
        name="pcap",
        suffixes=(".pcap", ".pcapng", ".cap"),
        unpack=unpack,
        pack=pack,
        is_likely=_is_likely,
    )
)
