"""Pickles are shrunk as the values that they hold, and never run."""

import collections
import datetime as dt
import io
import pickle
import pickletools
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from odd_oracles import fails_if, odd_judges, shrunk, shrunk_ahead

from whet.reduction.formats.binary import pickles
from whet.reduction.payload_kinds import KINDS, kinds_of, readable


@dataclass
class User:
    """A class of the program."""

    name: str
    tags: list[str] = field(default_factory=list[str])


class Listed(list[Any]):
    """A list with attributes."""

    note: str = ""


LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=90),
    st.binary(max_size=300),
    st.dates(),
    st.sampled_from([len, dt.date, collections.OrderedDict]),
)
KEYS: st.SearchStrategy[object] = st.one_of(
    st.text(max_size=4), st.sampled_from(["!new", "!as"]), st.integers(), st.none(),
    st.tuples(st.booleans(), st.text(max_size=2)),
)  # fmt: skip


def _objects(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    return st.one_of(
        st.lists(inner, max_size=5),
        st.lists(inner, max_size=5).map(tuple),
        st.dictionaries(KEYS, inner, max_size=5),
        st.lists(inner, max_size=5).map(lambda values: [values, tuple(values), values]),
        st.frozensets(KEYS, max_size=3),
        st.sets(KEYS, max_size=3),
        st.builds(User, st.text(max_size=5), st.lists(st.text(max_size=5), max_size=3)),
        st.dictionaries(KEYS, inner, max_size=3).map(collections.OrderedDict),
        st.lists(inner, max_size=3).map(Listed),
    )


VALUES: st.SearchStrategy[object] = st.recursive(LEAVES, _objects, max_leaves=20)
PROTOCOLS = st.integers(0, pickle.HIGHEST_PROTOCOL)


def checked(payload: bytes) -> bytes:
    """Return a payload that Python's own disassembler finds nothing wrong with."""
    stream = io.BytesIO(payload)
    while stream.tell() < len(payload):
        pickletools.dis(stream, out=io.StringIO())
    return payload


@given(VALUES, PROTOCOLS)
def test_values_of_pickles_come_back(value: object, protocol: int) -> None:
    payload = pickle.dumps(value, protocol)

    again = checked(pickles.pack(pickles.unpack(payload)))

    assert pickle.loads(again) == value
    assert pickles.pack(pickles.unpack(again)) == again


@given(VALUES, PROTOCOLS, odd_judges())
@settings(max_examples=15)
def test_every_candidate_is_a_pickle(value: object, protocol: int, judge: Any) -> None:
    payload = pickle.dumps([value, value], protocol)

    done = shrunk(payload, judge, format_name="pickle")

    for candidate, _ in done.told:
        checked(candidate.data)


def test_what_stands_in_several_places_stays_one_object() -> None:
    shared, circle = [1], Listed("ab")
    circle.append(circle)
    circle.note = "x"
    values: list[Any] = [shared, {"again": shared}, circle]

    read = pickle.loads(checked(pickles.pack(pickles.unpack(pickle.dumps(values)))))

    assert read[0] is read[1]["again"]
    assert read[2][2] is read[2]
    assert read[2].note == "x"


def users() -> list[object]:
    return [
        {"user": User(f"user {number}", ["a", f"t{number}"]), "position": (number / 2, -number)}
        for number in range(300)
    ]


def holds_no_name(payload: bytes) -> bool:
    """Fails on a user without a name: reads objects as a program does."""
    try:
        found: list[Any] = pickle.loads(payload)
    except (pickle.UnpicklingError, EOFError, ImportError) as error:
        raise ValueError from error
    return any(each["user"].name == "" for each in found)


@pytest.mark.parametrize("protocol", [pytest.param(2, marks=pytest.mark.long), 4])
def test_one_object_of_hundreds_is_left_in_few_trials(protocol: int) -> None:
    values: list[Any] = users()
    values[211]["user"].name = ""
    payload = pickle.dumps(values, protocol)

    done = shrunk(payload, fails_if(holds_no_name), name="a.pkl")

    left = readable(done.reduction.payload, name="a.pkl")
    assert left is not None
    assert len(left) < 200
    assert left.count("[") <= 2
    assert done.calls <= 190, "ask for the reason before raising this"
    assert shrunk_ahead(payload, fails_if(holds_no_name), 3) == done.reduction


READ_AS: list[tuple[object, str]] = [
    ([None, 1.5, -1], "[null, 1.5, -1]"),
    ((1, {2}, b"a", b"\0"), '{"!tuple": [1, {"!set": [2]}, {"!b": "a"}, {"!bytes": "00"}]}'),
    (
        User("a"),
        '{"!new": {"!global": "test_pickles User"}, "state": {"name": "a", "tags": []}}',
    ),
    ({(1, 2): "x"}, '{"! {\\"!tuple\\": [1, 2]}": "x"}'),
    ({"!new": 1}, '{"! \\"!new\\"": 1}'),
    ([[]] * 2, '[{"!as": 1, "value": []}, {"!same": 1}]'),
]


@pytest.mark.parametrize(("value", "shown"), READ_AS)
def test_what_a_person_reads(value: object, shown: str) -> None:
    payload = pickle.dumps(value)

    assert kinds_of(payload)[0].name == "pickle"
    assert readable(payload) == shown


def test_nothing_in_a_pickle_is_ever_run(tmp_path: Path) -> None:
    class Hostile:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "ran",)

    payload = pickle.dumps([Hostile(), "x"])

    done = shrunk(payload, fails_if(lambda it: b"x" in it))

    assert KINDS["pickle"].claims(payload, "")
    assert len(done.reduction.payload) < 10
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    "payload",
    [
        b"\x80\4]\x94(K\1K\2",  # cut short
        b"\x80\4" + b"]" * 200 + b"a" * 199 + b".",  # nested too deep
        b"\x80\4(" + b"2\x86" * 9 + b".",
        b"\x80\4\x8dx\xff\xff\xff\xff\xff\xff\x7f.",
        b"\x80\4K\1h\7.",
        b"\x80\4]K\1K\2s.",
        b"\x80\4X\x40\x42\x0f\0" + b"x" * 1_000_000 + b"\x94" + b"(" + b"h\0" * 9 + b"t\x85.",
        b"\x80\2caaa\nbbb\nK\1R.",
        b"\x80",
        b".",
    ],
)
def test_what_no_pickle_is(payload: bytes) -> None:
    assert kinds_of(payload)[0].name != "pickle"
