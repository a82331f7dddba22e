"""Profiles for other viewers: each format holds all of the profile, in that format's words."""

import json
import math
import zlib
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st
from profile_makers import library, own, profile_of

from whet.core.failure import Frame
from whet.core.observations.profile import CPU_SECONDS, Profile, ProfiledProcess
from whet.core.observations.timeline import Level, Mark, Span, Timeline
from whet.measurement.profiles.exports.chrome_trace import chrome_trace
from whet.measurement.profiles.exports.collapsed import collapsed
from whet.measurement.profiles.exports.pprof import pprof
from whet.measurement.profiles.exports.speedscope import speedscope
from whet.measurement.profiles.flame import flame

NAMES = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
FRAMES = st.builds(
    Frame, path=NAMES, line=st.integers(0, 2000), function=NAMES, in_user_code=st.booleans()
)
PROFILES = st.builds(
    profile_of,
    st.dictionaries(
        st.lists(FRAMES, min_size=1, max_size=4).map(tuple),
        st.tuples(st.floats(0, 1000), st.floats(0, 1000)),
        max_size=6,
    ),
    pid=st.integers(1, 1 << 22),
    thread=st.sampled_from(["", "worker"]),
)


@given(PROFILES)
def test_collapsed_stacks_hold_each_microsecond_once(profile: Profile) -> None:
    lines = collapsed(profile).decode().split("\n")[:-1]
    counts = [int(line.rpartition(" ")[2]) for line in lines]
    assert math.isclose(sum(counts) / 1e6, profile.total(CPU_SECONDS), abs_tol=1e-5)
    depths = [
        len(each.frames) + 1 for each in profile.stacks if round(each.number(CPU_SECONDS) * 1e6)
    ]
    assert [line.count(";") + 1 for line in lines] == depths


@given(PROFILES)
def test_speedscope_has_the_same_weights(profile: Profile) -> None:
    data = json.loads(speedscope(profile, "x"))
    frames = data["shared"]["frames"]
    weights = 0.0
    for each in data["profiles"]:
        assert each["type"] == "sampled"
        assert len(each["samples"]) == len(each["weights"])
        assert all(0 <= place < len(frames) for sample in each["samples"] for place in sample)
        assert math.isclose(each["endValue"], sum(each["weights"]))
        weights += sum(each["weights"])
    assert math.isclose(weights, profile.total(CPU_SECONDS), abs_tol=1e-6)


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield the fields of a message, as protobuf's encoding page has them."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2
            size = varint()
            yield key >> 3, data[at : at + size]
            at += size


def varints(data: bytes) -> list[int]:
    numbers, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(value)
            value = shift = 0
    return numbers


@given(PROFILES)
def test_pprof_reads_back_to_the_same_stacks(profile: Profile) -> None:
    message = list(fields(zlib.decompress(pprof(profile), wbits=31)))
    strings = [each.decode() for number, each in message if number == 6 and isinstance(each, bytes)]
    assert strings[0] == ""
    functions: dict[object, tuple[str, str]] = {}
    for number, each in message:
        if number == 5 and isinstance(each, bytes):
            told = dict(fields(each))
            name, path = told.get(2, 0), told.get(4, 0)
            assert isinstance(name, int)
            assert isinstance(path, int)
            functions[told[1]] = (strings[name], strings[path])
    places: dict[object, tuple[str, str, object]] = {}
    for number, each in message:
        if number == 4 and isinstance(each, bytes):
            told = dict(fields(each))
            assert isinstance(told[4], bytes)
            line = dict(fields(told[4]))
            places[told[1]] = (*functions[line[1]], line.get(2, 0))
    seen = []
    for number, each in message:
        if number == 2 and isinstance(each, bytes):
            told = dict(fields(each))
            assert isinstance(told[1], bytes)
            assert isinstance(told[2], bytes)
            stack = [places[place] for place in reversed(varints(told[1]))]
            seen.append((stack, varints(told[2])[0]))
    expected = [
        (
            [(frame.function, frame.path, frame.line) for frame in profile.lines_of(each)],
            round(each.number(CPU_SECONDS) * 1e9),
        )
        for each in profile.stacks
        if any(round(number * 1e9) for number in each.numbers.values())
    ]
    assert seen == expected


@given(PROFILES)
def test_a_box_of_a_flame_graph_is_as_wide_as_what_is_in_it(profile: Profile) -> None:
    waiting = [flame(profile, CPU_SECONDS)]
    assert math.isclose(waiting[0].amount, profile.total(CPU_SECONDS), abs_tol=1e-6)
    while waiting:
        node = waiting.pop()
        inside = sum(each.amount for each in node.children.values())
        assert inside <= node.amount + 1e-6
        waiting += node.children.values()


def test_a_trace_has_a_row_for_each_thread_and_the_sections_over_it() -> None:
    profile = Profile(
        question="cpu",
        engine="",
        unit=CPU_SECONDS,
        processes=(ProfiledProcess(pid=7, name="python", rank=1),),
        timeline=Timeline(spans=(Span(name="f", start=0.5, seconds=1.5, pid=7, source="profile"),)),
    )
    sections = Timeline(
        spans=(Span(name="load", start=0.25, seconds=2.0, pid=7),),
        marks=(Mark(name="epoch", at=1.0, pid=7),),
        levels=(Level(name="memory", unit="bytes", seconds=(0.0, 1.0), values=(1.0, 2.0)),),
    )
    events = json.loads(chrome_trace(profile, [sections]))["traceEvents"]
    spans = [each for each in events if each["ph"] == "X"]
    assert [(each["name"], each["ts"], each["dur"]) for each in spans] == [
        ("f", 0.5e6, 1.5e6), ("load", 0.25e6, 2e6),
    ]  # fmt: skip
    assert spans[0]["tid"] != spans[1]["tid"]
    names = [each["args"]["name"] for each in events if each["ph"] == "M"]
    assert names == ["rank 1 python 7", "main thread", "section: main thread"]
    assert [each["ph"] for each in events].count("C") == 2
    assert [each["name"] for each in events if each["ph"] == "i"] == ["epoch"]


def test_a_semicolon_in_a_name_makes_no_other_frame() -> None:
    profile = profile_of({(own(1, "a;b"), library("c")): (1.0, 1.0)})
    assert collapsed(profile).count(b";") == 2
