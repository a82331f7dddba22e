"""MessagePack and Protocol Buffers are shrunk as the values that they hold."""

import struct
from collections.abc import Callable, Iterable
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_oracles import fails_if, shrunk, shrunk_ahead

from whet.core.verdict import Verdict
from whet.reduction.formats.documents import message_pack, protocol_buffers
from whet.reduction.formats.documents.packed import Pairs, as_key, from_key, tagged
from whet.reduction.payload_kinds import KINDS, kinds_of, readable


def users() -> object:
    return tuple(
        Pairs(
            (
                ("id", number),
                ("name", f"user {number}"),
                ("tags", ("a", "b", f"t{number}")),
                ("raw", tagged("!bytes", "00ff")),
                ("position", Pairs((("x", number / 2), ("y", -number)))),
            )
        )
        for number in range(300)
    )


def fields() -> Pairs:
    rows = (
        (
            ("1", number),
            ("2", f"user {number}"),
            ("3", number / 2),
            ("4", Pairs((("1", "x"), ("2", 7 if number == 211 else 1)))),
        )
        for number in range(300)
    )
    return Pairs((*(("1", Pairs(row)) for row in rows), ("2", "the end")))


def holding(unpack: Callable[[bytes], object], key: str, value: object) -> Callable[[bytes], bool]:
    """Return an oracle for an object of this key and value, somewhere in another object."""

    def stands_in(found: object) -> bool:
        if isinstance(found, Pairs):
            inner = [each for _, each in found.items]
            return any(
                isinstance(each, Pairs) and (key, value) in each.items for each in inner
            ) or (any(map(stands_in, inner)))
        return isinstance(found, list | tuple) and any(
            map(stands_in, cast("Iterable[object]", found))
        )

    def judge(payload: bytes) -> bool:
        try:
            return stands_in(unpack(payload))
        except (ValueError, IndexError):
            return False

    return judge


@pytest.mark.parametrize(
    ("payload", "judge", "left", "most_calls"),
    [
        (
            message_pack.pack([users()]),
            holding(message_pack.unpack, "y", -211),
            b"\x81\xa0\x81\xa1y\xd1\xff\x2d",
            90,
        ),
        (
            protocol_buffers.pack([fields()]),
            holding(protocol_buffers.unpack, "2", 7),
            b"\n\x02\x10\x07",
            60,
        ),
    ],
    ids=["messagepack", "protobuf"],
)
def test_one_value_of_hundreds_is_left_in_few_trials(
    payload: bytes, judge: Callable[[bytes], bool], left: bytes, most_calls: int
) -> None:
    assert fails_if(judge)(payload) is Verdict.BAD

    done = shrunk(payload, fails_if(judge))

    assert done.reduction.payload == left
    assert done.calls <= most_calls, "ask for the reason before raising this"
    assert shrunk_ahead(payload, fails_if(judge), 3) == done.reduction


KEYS = st.one_of(st.text(max_size=4), st.integers(-300, 300), st.none(), st.booleans())
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=40),
    st.binary(max_size=40).map(lambda raw: tagged("!bytes", raw.hex())),
    st.binary(max_size=20).map(lambda raw: tagged("!ext", (5, raw.hex()))),
    st.floats(width=32, allow_nan=False).map(lambda number: tagged("!float32", number)),
)


def _objects(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    items = st.lists(st.tuples(KEYS.map(as_key), inner), max_size=20)
    return items.map(lambda pairs: Pairs(tuple(pairs)))


VALUES: st.SearchStrategy[object] = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=20).map(tuple), _objects(inner)),
    max_leaves=20,
)


@given(st.lists(VALUES, min_size=1, max_size=3))
def test_values_of_message_pack_come_back(values: list[object]) -> None:
    payload = message_pack.pack(values)

    assert message_pack.unpack(payload) == values
    again = KINDS["messagepack"].again
    assert again is not None
    assert again(payload) == payload


@given(KEYS)
def test_a_key_of_any_type_has_a_key_of_json(key: object) -> None:
    assert from_key(as_key(key)) == key


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        (b"\x93\xc0\xcb\x3f\xf8" + b"\0" * 6 + b"\xff", "[null, 1.5, -1]"),
        (b"\x81\x01\xa1a\x92\xc3\xc2", '{"! 1": "a"}\n[true, false]'),
        (b"\xdc\0\1\xd4\5x", '[{"!ext": [5, "78"]}]'),
        (b"\x81\xc4\1b\xa0", '{"! {\\"!bytes\\": \\"62\\"}": ""}'),
        (b"\x81\xa6!bytes\xa0", '{"! \\"!bytes\\"": ""}'),
    ],
)
def test_what_a_person_reads_of_message_pack(payload: bytes, shown: str) -> None:
    assert kinds_of(payload)[0].name == "messagepack"
    assert readable(payload) == shown


def test_what_a_person_reads_of_protocol_buffers() -> None:
    payload = b"\x08\x96\x01\x12\x02\x00\xff\x1a\x02ab\x22\x02\x08\x01"
    payload += b"\x2d" + struct.pack("<f", 1.5) + b"\x31" + struct.pack("<d", 0.1)

    assert readable(payload, name="a.pb") == (
        '{"1": 150, "2": {"!bytes": "00ff"}, "3": "ab", "4": {"1": 1}, "5": {"!float32": 1.5}, "6": 0.1}'
    )
    assert kinds_of(payload)[0].name == "protobuf"


@pytest.mark.parametrize(
    "payload",
    [
        b"\x80\x04\x95\x0b\0\0\0\0\0\0\0]\x94(K\1K\2e.",  # a pickle
        b"\x93\1\2",
        b"\xdd\xff\xff\xff\xff\1",
        b"\x91" * 5000,
        pytest.param(b"\x81" * 60 + b"\1" * 61, id="maps as keys of maps, each doubles the text"),
        "\u00dcber alles".encode("latin-1"),
        b"one line of text\n" * 9,
        b"\x08\1\x10\2\x18\3",  # too short to be sure
        b"\x08\1" * 40 + b"\x0b",
        bytes(range(256)) * 4,
    ],
)
def test_what_is_of_neither_form(payload: bytes) -> None:
    assert kinds_of(payload)[0].name not in {"messagepack", "protobuf"}


def test_what_is_not_written_in_its_shortest_form_is_shrunk_so_only_if_that_matters() -> None:
    payload = b"\x92\xd1\0\5" + b"\xd9\1a"

    short = shrunk(payload, fails_if(lambda it: it[:1] == b"\x92" and b"a" in it[1:]))
    long = shrunk(payload, fails_if(lambda it: b"\xd1\0\5" in it))

    assert short.reduction.payload == b"\x92\0\xa1a"
    assert long.reduction.payload == b"\xd1\0\5"
