"""Files that others wrote: each is read as what it is, and what matters is all that is left."""

import io
import os
import warnings
import wave
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from odd_oracles import fails_if, shrunk
from PIL import Image

from whet.core.verdict import Verdict
from whet.reduction.payload_kinds import kinds_of

ROOT = Path(__file__).parents[2]
LIBRARY = Path(os.__file__).parent


def has_text_in_svg(payload: bytes) -> bool:
    names = {each.tag.rpartition("}")[2] for each in ET.fromstring(payload).iter()}
    return {"svg", "text"} <= names


def has_a_loud_value(payload: bytes) -> bool:
    with wave.open(io.BytesIO(payload)) as sound:
        values = sound.readframes(sound.getnframes())
        return sound.getsampwidth() == 2 and len(set(values)) > 1


def has_a_colour(payload: bytes) -> bool:
    with warnings.catch_warnings(), Image.open(io.BytesIO(payload)) as picture:
        warnings.simplefilter("ignore")  # about how its transparency is written
        channels = picture.convert("RGBA").convert("RGB").convert("HSV").getextrema()[1]
        return isinstance(channels, tuple) and channels[1] > 100


FILES = [
    ("docs/shrink-curves.svg", "xml", has_text_in_svg, 40),
    ("idlelib/help.html", "html", lambda it: b"<li" in it and b"IDLE" in it, 12),
    ("test/audiodata/pluck-pcm16.wav", "wav", has_a_loud_value, 50),
    ("idlelib/Icons/idle_48.png", "image", has_a_colour, 900),
    ("lib-dynload/_json*.so", "blocks", lambda it: b".text" in it and it.startswith(b"\x7fELF"), 9),
    ("json/decoder.py", "python", lambda it: b"raise" in it and b"NaN" in it, 12),
]
"""Where it lies, of which kind it is, what must stay, and how many bytes are left at most."""


@pytest.mark.parametrize(
    ("place", "kind", "holds", "most_bytes"), FILES, ids=[place for place, *_ in FILES]
)
def test_what_matters_of_a_real_file_is_all_that_is_left(
    place: str, kind: str, holds: Callable[[bytes], bool], most_bytes: int
) -> None:
    found = sorted([*ROOT.glob(place), *LIBRARY.glob(place)])
    if not found:
        pytest.skip(f"this Python comes without {place}")
    payload = found[0].read_bytes()[: 1 << 22]

    judge = fails_if(holds)
    assert judge(payload) is Verdict.BAD
    done = shrunk(payload, judge, name=found[0].name)

    assert kinds_of(payload, name=found[0].name)[0].name == kind
    assert holds(done.reduction.payload)
    assert len(done.reduction.payload) <= most_bytes
