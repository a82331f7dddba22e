"""Captured packets get fewer and shorter, and their lengths and sums stay right."""

import struct
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_oracles import Judge, fails_if, odd_judges, shrunk, shrunk_ahead

from whet.reduction.formats.binary import captures
from whet.reduction.payload_kinds import kinds_of, readable

UDP, TCP = 17, 6
ETHERNET = bytes(12) + b"\x08\0"


def total(data: bytes) -> int:
    """Return what is added up to all ones where a sum is right."""
    padded = data + b"\0" * (len(data) % 2)
    found: int = sum(struct.unpack(f">{len(padded) // 2}H", padded))
    while found >> 16:
        found = (found & 0xFFFF) + (found >> 16)
    return found


def packet(content: bytes, protocol: int = UDP) -> bytes:
    """Return a packet with right lengths and sums."""
    addresses = b"\x0a\0\0\1\x0a\0\0\2"
    if protocol == UDP:
        inner = struct.pack(">HHHH", 1000, 53, 8 + len(content), 0) + content
    else:
        inner = struct.pack(">HHIIHHHH", 1000, 80, 7, 9, 0x5018, 512, 0, 0) + content
    pseudo = addresses + struct.pack(">BBH", 0, protocol, len(inner))
    at = 6 if protocol == UDP else 16
    inner = inner[:at] + struct.pack(">H", ~total(pseudo + inner) & 0xFFFF) + inner[at + 2 :]
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(inner), 1, 0, 64, protocol, 0) + addresses
    head = head[:10] + struct.pack(">H", ~total(head) & 0xFFFF) + head[12:]
    return ETHERNET + head + inner


def pcap(packets: list[bytes], order: str = "<") -> bytes:
    head = struct.pack(order + "IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    return head + b"".join(
        struct.pack(order + "4I", 1_700_000_000 + at, 7, len(each), len(each)) + each
        for at, each in enumerate(packets)
    )


def block(kind: int, body: bytes) -> bytes:
    body += b"\0" * (-len(body) % 4)
    size = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + size + body + size


def pcapng(packets: list[bytes]) -> bytes:
    head = block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    interface = block(1, struct.pack("<HHI", 1, 0, 65535))
    blocks = (
        block(6, struct.pack("<5I", 0, 1, at, len(each), len(each)) + each)
        for at, each in enumerate(packets)
    )
    return head + interface + b"".join(blocks)


def packets_of(payload: bytes) -> Iterator[bytes]:
    """Read a capture as its tools do: a length that leads nowhere ends it."""
    if payload[:4] == b"\n\r\r\n":
        at = 0
        while at < len(payload):
            kind, size = struct.unpack_from("<II", payload, at)
            if struct.unpack_from("<I", payload, at + size - 4)[0] != size:
                raise ValueError("two lengths")
            if kind == 6:
                (length,) = struct.unpack_from("<I", payload, at + 20)
                yield payload[at + 28 : at + 28 + length]
            at += size
        return
    at, order = 24, "<" if payload[0] == 0xD4 else ">"
    while at < len(payload):
        _, _, size, whole = struct.unpack_from(order + "4I", payload, at)
        if whole < size or at + 16 + size > len(payload):
            raise ValueError("it ends too early")
        yield payload[at + 16 : at + 16 + size]
        at += 16 + size


def content_of(frame: bytes) -> bytes:
    """Return what a packet carries; one with a wrong length or sum is dropped."""
    head, inner = frame[14:34], frame[34:]
    if len(head) < 20 or head[0] != 0x45 or struct.unpack_from(">H", head, 2)[0] != len(frame) - 14:
        raise ValueError("a wrong length")
    pseudo = head[12:20] + struct.pack(">BBH", 0, head[9], len(inner))
    if total(head) != 0xFFFF or total(pseudo + inner) != 0xFFFF:
        raise ValueError("a wrong sum")
    if head[9] == UDP and struct.unpack_from(">H", inner, 4)[0] != len(inner):
        raise ValueError("a wrong length")
    return inner[8:] if head[9] == UDP else inner[20:]


def has_a_long_name(payload: bytes) -> bool:
    return any(content_of(each).count(b"w") > 40 for each in packets_of(payload))


FILES: list[Callable[[list[bytes]], bytes]] = [pcap, lambda it: pcap(it, ">"), pcapng]


@pytest.mark.parametrize("write", FILES)
@pytest.mark.parametrize("protocol", [UDP, TCP])
def test_one_packet_of_many_is_left(write: Callable[[list[bytes]], bytes], protocol: int) -> None:
    contents = [b"query %d\nfor a name\n" % number for number in range(200)]
    contents[123] += b"w" * 60 + b"\nand more\n" * 20
    payload = write([packet(each, protocol) for each in contents])
    assert kinds_of(payload)[0].name == "pcap"

    done = shrunk(payload, fails_if(has_a_long_name))

    (left,) = packets_of(done.reduction.payload)
    assert content_of(left) == b"w" * 41
    assert done.calls <= 200, "ask for the reason before raising this"
    assert shrunk_ahead(payload, fails_if(has_a_long_name), 3) == done.reduction


@given(
    st.lists(
        st.builds(packet, st.binary(max_size=30), st.sampled_from([UDP, TCP])),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(FILES),
    odd_judges(),
)
@settings(max_examples=8)
def test_every_candidate_is_a_capture(
    frames: list[bytes], write: Callable[[list[bytes]], bytes], judge: Judge
) -> None:
    payload = write(frames)
    assert list(packets_of(captures.pack(captures.unpack(payload)))) == frames

    for candidate, _ in shrunk(payload, judge, format_name="pcap").told:
        list(packets_of(candidate.data))


def test_a_wrong_sum_and_what_was_not_captured_stay() -> None:
    wrong = packet(b"x", TCP)
    wrong = wrong[:50] + b"\x12\x34" + wrong[52:]
    payload = pcap([wrong, b"no packet at all"])
    payload = payload[:-20] + struct.pack("<I", 999) + payload[-16:]

    assert captures.pack(captures.unpack(payload)) == payload


def test_what_a_person_reads() -> None:
    payload = pcap([packet(b"a\n") + bytes(16)])

    assert readable(payload) == (
        f'{{"pcap": "{payload[:24].hex()}"}}\n'
        '{"time": [1700000000, 7], "headers": "0000000000000000000000000800450000000001000040110000'
        '0a0000010a00000203e8003500000000", "content": ["a\\n"]}'
    )


@pytest.mark.parametrize(
    "payload",
    [
        pcap([])[:20],
        pcap([b"x" * 9])[:-1],
        pcap([]) + b"\xff" * 16,
        pcapng([])[:-4],
        block(0x0A0D0D0A, b"odd")[:8] + b"\0" * 4,
        b"\n\r\r\n" + b"\0" * 40,
        b"\n\r\r\n\x0c\0\0\0\x4d\x3c\x2b\x1a",
    ],
)
def test_what_is_no_capture(payload: bytes) -> None:
    assert kinds_of(payload)[0].name != "pcap"
