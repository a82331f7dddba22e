"""The order of payloads: total, well-founded, and on the side of the reader."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.reduction.order import NATURAL, TEXT, weight

payloads = st.one_of(
    st.binary(max_size=12),
    st.text(max_size=8).map(str.encode),
    st.text(alphabet='ab01()[]{}" \n\t', max_size=8).map(str.encode),
)


@given(payloads, payloads)
def test_of_two_payloads_exactly_one_is_better(one: bytes, other: bytes) -> None:
    assert TEXT.is_better(one, other) + TEXT.is_better(other, one) == (one != other)


@given(payloads, payloads)
def test_is_better_compares_the_keys(one: bytes, other: bytes) -> None:
    assert TEXT.is_better(one, other) == (TEXT.key(one) < TEXT.key(other))
    assert TEXT.is_better(one, other) == TEXT.is_better(one, other, other_weight=weight(other))


@given(payloads)
def test_the_weight_is_at_least_the_length(payload: bytes) -> None:
    """So that finitely many payloads are better than any one, and a search ends."""
    assert weight(payload) >= len(payload)


@given(st.text(max_size=6), st.text(min_size=1, max_size=1), st.text(max_size=6), st.data())
def test_a_character_less_is_better_and_half_a_character_is_worse(
    head: str, character: str, tail: str, data: st.DataObject
) -> None:
    encoded = character.encode()
    whole = head.encode() + encoded + tail.encode()
    if character not in '()[]{}"':
        assert TEXT.is_better(head.encode() + tail.encode(), whole)
    if len(encoded) > 1:
        cut = data.draw(st.integers(1, len(encoded) - 1))
        assert TEXT.is_better(whole, head.encode() + encoded[:cut] + tail.encode())


def test_every_byte_has_its_place_once() -> None:
    assert sorted(NATURAL) == list(range(256))


@pytest.mark.parametrize(
    "better_first",
    [
        [b"", b"0", b"1", b"9", b"a", b"b", b"z", b"A", b" ", b"\n", b"!", b"~", b"\t", b"\r"],
        [b"0", b"{}", b'{"":0}', b'{"a":0}', b'{"b":0}', b'{"a":10}'],
        [b"()", b"(", b"(((())))", b"(((("],
        [b"a\n", b"a\r\n"],
        [b"ab", "é".encode(), b"\xe9"],
        [b"aaa", b"\x00"],
        [b"a b", b"a\nb", b"a\tb"],
        [b"0" * 99, b"z" * 99, b"0" * 100],
    ],
)
def test_a_person_would_choose_the_first(better_first: list[bytes]) -> None:
    for one, other in pairwise(better_first):
        assert TEXT.is_better(one, other), (one, other)
