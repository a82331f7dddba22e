"""A damaged file of a profiler gives no profile and no crash: a note says what is wrong."""

import json
import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from whet.core.failure import Frame
from whet.core.observations.profile import BYTES, CPU_SECONDS, Obstacle, Profile, Recording, Stack
from whet.core.observations.timeline import Span, Timeline
from whet.core.text.record import MalformedRecordError
from whet.measurement.profiles.integrity import checked, read_checked
from whet.measurement.profiles.memory_blocks import read_blocks

FRAME = Frame(path="/p/x.py", line=3, function="f", in_user_code=True)
SOUND = Profile(
    question="memory", engine="memray 1", unit=BYTES, frames=(FRAME,), rate=100.0, seconds=2.0,
    stacks=(Stack(frames=(0,), pid=7, numbers={BYTES: 2.0**40, CPU_SECONDS: 1e6}),), facts={"peak_bytes": 2.0**40},
)  # fmt: skip


def test_a_sound_profile_stays_as_it_is_also_with_a_terabyte() -> None:
    assert checked(SOUND) is SOUND


def read(recording: Recording) -> Profile:
    return read_blocks(recording, lambda _: True)


NUMBERS = (math.nan, math.inf, -1.0, 2.0**70)
PLACES: dict[str, Callable[[float], Profile]] = {
    "seconds": lambda number: replace(SOUND, seconds=number),
    "rate": lambda number: replace(SOUND, rate=number),
    "a fact": lambda number: replace(SOUND, facts={"peak_bytes": number}),
    "a stack": lambda number: replace(SOUND, stacks=(Stack(frames=(), numbers={BYTES: number}),)),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("number", NUMBERS)
def test_an_impossible_number_is_refused(place: str, number: float) -> None:
    with pytest.raises(MalformedRecordError, match="` is "):
        checked(PLACES[place](number))


@pytest.mark.parametrize("place", [-1, 1, 2**70])
def test_a_stack_with_a_line_that_is_not_there_is_refused(place: int) -> None:
    with pytest.raises(MalformedRecordError, match=f"names line {place} of 1"):
        checked(replace(SOUND, stacks=(Stack(frames=(place,)),)))


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_a_span_at_no_time_is_refused(number: float) -> None:
    for span in (Span(name="a", start=number), Span(name="a", start=0.0, seconds=number)):
        with pytest.raises(MalformedRecordError, match="`a` has no time"):
            checked(replace(SOUND, timeline=Timeline(spans=(span,))))


@pytest.mark.parametrize(
    "running",
    [b"", b"[", b'{"a": 1}]', b'[{"pid": 7, "peak": 1e999, "blocks": []}]', b"[" * 5000,
     b'[{"pid": 7, "peak": 9, "blocks": [[1, 2]]}]', b'[{"pid": 7, "peak": 9, "blocks": [[1, 2, [["f"]]]]}]'],
)  # fmt: skip
def test_a_damaged_file_gives_an_empty_profile_that_says_what_is_wrong(running: bytes) -> None:
    recording = Recording(engine="memray 1", rate=0.0, running=running, complaint="a complaint")
    profile = read_checked(read, recording, "memory")
    assert not profile.stacks
    assert "wrote is damaged: " in profile.notes[0]
    assert profile.obstacle is Obstacle.DAMAGED
    assert profile.notes[1] == "a complaint"


def test_a_sound_file_is_read_by_the_same_way() -> None:
    blocks = [{"pid": 7, "peak": 900, "blocks": [[800, 2, [["f", "/p/x.py", 3]]]]}]
    recording = Recording(engine="memray 1", rate=0.0, running=json.dumps(blocks).encode())
    profile = read_checked(read, recording, "memory")
    assert profile.total(BYTES) == 800
    assert profile.notes == ()


@pytest.mark.parametrize("obstacle", [*Obstacle, None])
def test_why_nothing_was_seen_is_kept_apart_from_what_the_profiler_says(
    obstacle: Obstacle | None,
) -> None:
    words = "not installed, Permission denied, wrote is damaged: "
    nothing = Recording(
        engine="memray 1", rate=0.0, running=b"[]", complaint=words, obstacle=obstacle
    )
    blocks = b'[{"pid": 7, "peak": 900, "blocks": [[800, 2, [["f", "/p/x.py", 3]]]]}]'

    assert read_checked(read, nothing, "memory").obstacle is obstacle
    assert read_checked(read, replace(nothing, running=blocks), "memory").obstacle is None
