"""How many places of a payload are no UTF-8, counted by what has changed alone."""

from hypothesis import given
from hypothesis import strategies as st

from whet.reduction.utf8 import BrokenPlaces

TEXTS = st.one_of(
    st.binary(max_size=40),
    st.text(alphabet="aé€😀\ufffd", max_size=20).map(str.encode),
    st.lists(st.sampled_from([b"\xc3", b"\xa9", b"\xf0\x9f", b"a"]), max_size=30).map(b"".join),
)
FILLERS = st.sampled_from([b"", b"a" * 700, b"\xa9" * 700, "é€".encode() * 300, b"\xff\xf0" * 400])


def as_a_reader_sees(payload: bytes) -> int:
    """Decode all of it."""
    replaced = payload.decode("utf-8", "replace").count("\ufffd")
    return replaced - payload.decode("utf-8", "ignore").count("\ufffd")


@given(st.lists(st.tuples(FILLERS, TEXTS, FILLERS), max_size=6))
def test_what_came_before_changes_no_count(rows: list[tuple[bytes, bytes, bytes]]) -> None:
    count = BrokenPlaces()
    for row in rows:
        payload = b"".join(row)
        assert count(payload) == as_a_reader_sees(payload)


@given(st.binary(min_size=500, max_size=900), st.data())
def test_candidates_of_one_payload_are_counted_right(payload: bytes, data: st.DataObject) -> None:
    count = BrokenPlaces()
    for _ in range(5):
        start, stop = sorted(
            data.draw(st.tuples(*[st.integers(0, len(payload))] * 2), label="window")
        )
        candidate = payload[:start] + payload[stop:]
        assert count(candidate) == as_a_reader_sees(candidate)
