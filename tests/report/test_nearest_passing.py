"""The smallest that fails beside the nearest that passes, and the size against time."""

import xml.etree.ElementTree as ET

import pytest

from whet.report.curve import size_curve
from whet.report.difference import difference
from whet.workbench.trials.investigation import Size


@pytest.mark.parametrize(
    ("fails", "passes", "lines"),
    [
        (b"a\n1/2\nb", b"a\n12\nb", [" a", "-1/2", "+12", " b"]),
        (b"a", b"", ["-a", "+ (an empty file)"]),
        (b"a\n", b"a", ["-b'a\\n'", "+b'a'"]),
        (b"a\r\nb", b"a\nb", ["-b'a\\r\\nb'", "+b'a\\nb'"]),
        (b"\x1b[31m", b"[31m", ["-\\x1b[31m", "+[31m"]),
    ],
)
def test_a_difference_is_shown_as_lines(fails: bytes, passes: bytes, lines: list[str]) -> None:
    assert difference(fails, passes) == lines


def test_bytes_are_shown_as_a_dump() -> None:
    gone, come = difference(b"\0\xff7", b"\0\xff8")

    assert (gone[0], come[0]) == ("-", "+")
    assert "00 ff 37" in gone
    assert "00 ff 38" in come


def test_a_long_line_is_cut_to_where_it_differs() -> None:
    gone, come = difference(b"x" * 5000 + b"1" + b"y" * 5000, b"x" * 5000 + b"2" + b"y" * 5000)

    assert "x1y" in gone
    assert "x2y" in come
    assert len(gone) < 120


def test_a_difference_of_many_lines_is_cut() -> None:
    lines = difference(b"1\n" * 100, b"2\n" * 100)

    assert len(lines) == 25
    assert lines[-1].endswith("176 more lines")


@pytest.mark.parametrize("last", [0, 1, 12_345_678])
def test_the_curve_is_whole_svg_and_stays_within_its_frame(last: int) -> None:
    sizes = [Size(seconds=0.0, bytes=12_345_678), Size(seconds=2.0, bytes=last)]

    picture = ET.fromstring(size_curve(sizes, 3.0))

    (path,) = picture.findall("{http://www.w3.org/2000/svg}path")
    heights = [float(part.split("H")[0]) for part in path.attrib["d"].split("V")[1:]]
    assert all(0 <= height <= 240 for height in heights)


def test_a_search_that_found_nothing_has_a_curve_too() -> None:
    assert ET.fromstring(size_curve([Size(seconds=0.0, bytes=5)], 0.0)) is not None
