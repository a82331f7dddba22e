"""Headers of packets: which of their lengths and sums are right, and those of a shorter packet.

A field that is right stands as 0 in a header that is shown, and is worked out when it is written.
"""

import struct
from collections.abc import Iterator

from whet.core.value_class import value_class

_LINK_BYTES = {0: 4, 1: 14, 101: 0, 113: 16, 228: 0, 229: 0, 276: 20}
"""How long the header of each type of link is."""

_TCP, _UDP = 6, 17
_IPV4, _IPV6 = 4, 6
_IPV4_BYTES, _IPV6_BYTES, _UDP_BYTES, _TCP_BYTES = 20, 40, 8, 20
_SUMS = {_TCP: 16, _UDP: 6}
"""Where the sum is in each header."""


@value_class
class _Place:
    """A field of two bytes that follows from the others.

    Attributes:
        at: where it stands.
        start: where what it is about starts.
        extra: what a length holds beside; of a sum, what else is added up.
        is_sum: it is a sum, not a length.
        end: where what it is about ends; None: at the end of the packet.
    """

    at: int
    start: int
    extra: bytes = b""
    is_sum: bool = False
    end: int | None = None

    def worked_out(self, packet: bytes) -> int:
        """Return what is there if it is right."""
        inner = packet[self.start : self.end]
        if not self.is_sum:
            return len(inner)
        zeroed = packet[: self.at] + b"\0\0" + packet[self.at + 2 :]
        inner = zeroed[self.start : self.end]
        pseudo = self.extra + struct.pack(">I", len(inner)) if self.extra else b""
        return _sum(pseudo + inner)


def _sum(data: bytes) -> int:
    """Return the sum of RFC 1071; what would be 0 is written as the other zero."""
    padded = data + b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return (~total & 0xFFFF) or 0xFFFF


def _fields(packet: bytes, link: int) -> Iterator[_Place | int]:
    """Yield the fields that follow from others, in the order to work them out; then the header's end."""
    start = _LINK_BYTES.get(link, len(packet))
    version = packet[start] >> 4 if len(packet) > start else 0
    if version == _IPV4 and len(packet) >= start + _IPV4_BYTES:
        inner = start + 4 * (packet[start] & 15)
        protocol, addresses = packet[start + 9], packet[start + 12 : start + 20]
        yield _Place(start + 2, start)
        yield _Place(start + 10, start, is_sum=True, end=inner)
    elif version == _IPV6 and len(packet) >= start + _IPV6_BYTES:
        inner = start + _IPV6_BYTES
        protocol, addresses = packet[start + 6], packet[start + 8 : start + 40]
        yield _Place(start + 4, inner)
    else:
        yield min(start, len(packet))
        return
    extra = addresses + bytes([0, protocol])
    if protocol == _UDP and len(packet) >= inner + _UDP_BYTES:
        yield _Place(inner + 4, inner)
        yield _Place(inner + _SUMS[_UDP], inner, extra, is_sum=True)
        inner += _UDP_BYTES
    elif protocol == _TCP and len(packet) >= inner + _TCP_BYTES:
        yield _Place(inner + _SUMS[_TCP], inner, extra, is_sum=True)
        inner += 4 * (packet[inner + 12] >> 4)
    yield min(inner, len(packet))


def _without_filling(packet: bytes, link: int) -> bytes:
    length = next(_fields(packet, link))
    if isinstance(length, int):
        return packet
    end = length.start + int.from_bytes(packet[length.at : length.at + 2], "big")
    return packet if packet[end:].strip(b"\0") else packet[:end]


def split(packet: bytes, link: int) -> tuple[bytes, bytes]:
    """Return the headers of a packet, with 0 in the fields that are right, and what they carry.

    What fills up a short frame behind that is left out.
    """
    packet = _without_filling(packet, link)
    head = bytearray(packet)
    end = len(packet)
    for each in _fields(packet, link):
        if isinstance(each, int):
            end = each
        elif int.from_bytes(packet[each.at : each.at + 2], "big") == each.worked_out(packet):
            head[each.at : each.at + 2] = b"\0\0"
    return bytes(head[:end]), packet[end:]


def join(head: bytes, content: bytes, link: int) -> bytes:
    """Return a packet with the fields worked out that stand as 0 in its headers.

    Raises:
        struct.error: if the packet is too long for one of them.
    """
    packet = head + content
    for each in _fields(packet, link):
        if isinstance(each, int) or packet[each.at : each.at + 2] != b"\0\0":
            continue
        packet = (
            packet[: each.at] + struct.pack(">H", each.worked_out(packet)) + packet[each.at + 2 :]
        )
    return packet
