"""The page of a profile: it needs nothing else, and names of programs are never markup."""

import re
import xml.etree.ElementTree as ET

from whet.core.failure import Frame
from whet.core.observations.profile import (
    CPU_SECONDS,
    SECONDS,
    Profile,
    ProfiledProcess,
    Stack,
)
from whet.core.observations.timeline import Span, Timeline
from whet.measurement.profiles.sentences import Measured
from whet.report.profile_page import profile_page

HOSTILE = "<script>alert(1)</script>&\"'"
PROFILE = Profile(
    question="cpu",
    engine="py-spy 0.4.3",
    unit=CPU_SECONDS,
    frames=(
        Frame(path="/p/train.py", line=3, function=HOSTILE, in_user_code=True),
        Frame(path="/v/lib/python3.11/json/decoder.py", line=9, function="decode", in_user_code=False),
    ),
    stacks=(
        Stack(frames=(0, 1), pid=7, numbers={CPU_SECONDS: 1.0, SECONDS: 1.0}),
        Stack(frames=(0,), pid=7, numbers={CPU_SECONDS: 0.5, SECONDS: 4.0}),
    ),
    samples=150,
    rate=100.0,
    seconds=5.0,
    processes=(ProfiledProcess(pid=7, name="python"),),
    timeline=Timeline(
        spans=(Span(name=HOSTILE, start=0.5, seconds=4.0, pid=7, source="profile"),)
    ),
)  # fmt: skip
SECTIONS = Timeline(
    spans=(
        Span(name="outer", start=0.0, seconds=3.0, pid=7),
        Span(name="inner", start=1.0, seconds=1.0, pid=7, parent=0),
    )
)


def page() -> str:
    measured = Measured(cpu_seconds=1.5, wall_seconds=5.2)
    return profile_page(
        [PROFILE], measured, title="Profile of trial 7", command="python train.py", folder="/p",
        timelines=[SECTIONS],
    ).decode()  # fmt: skip


def test_the_page_needs_no_network_and_obeys_no_name_of_the_program() -> None:
    text = page()
    assert HOSTILE not in text
    assert text.count("<script>") == 1  # its own
    assert set(re.findall(r"https?://[^\"' <]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in text


def test_each_picture_is_well_formed_and_has_what_it_shows() -> None:
    pictures = [ET.fromstring(each) for each in re.findall(r"<svg.*?</svg>", page(), re.DOTALL)]
    assert [each.get("class") for each in pictures] == ["flame", "flame", "timeline"]
    words = [
        [each.text for each in picture.iter() if each.tag.endswith("}title")]
        for picture in pictures
    ]
    assert "decode (/v/lib/python3.11/json/decoder.py:9): 1.0 s, 66.7%" in words[0]
    assert f"{HOSTILE} (/p/train.py:3): 5.0 s, 100.0%" in words[1]
    assert "outer: 3.0 s from 0.000 s on" in words[2]
    assert "inner: 1.0 s from 1.000 s on" in words[2]


def test_a_section_inside_another_one_has_a_row_below_it() -> None:
    (picture,) = [
        ET.fromstring(each)
        for each in re.findall(r"<svg class=\"timeline.*?</svg>", page(), re.DOTALL)
    ]
    heights = {}
    for group in picture.iter("{http://www.w3.org/2000/svg}g"):
        title, rect = group[0].text, group[1]
        heights[str(title).partition(":")[0]] = float(rect.get("y", "0"))
    assert heights["outer"] < heights["inner"]


def test_without_scripts_the_table_and_the_sentences_can_be_read() -> None:
    text = re.sub(r"<[^>]+>", " ", page().partition("<script>")[0])
    assert "The program waits more than it computes: 3.5 s of 5.0 s" in text
    assert "train.py:3" in text
    assert ", in decode" in text
