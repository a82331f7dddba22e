"""The last lines of a program's output, as a terminal would show them."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from whet.watch.output_lines import OutputLines


def shown(*parts: bytes, count: int = 100) -> list[str]:
    lines = OutputLines()
    for part in parts:
        lines.feed(part)
    return lines.last(count)


@given(st.binary(max_size=200), st.lists(st.integers(0, 200)))
def test_it_does_not_matter_in_which_parts_output_comes(data: bytes, cuts: list[int]) -> None:
    text = data.decode("utf-8", "ignore").encode()
    places = [0, *sorted(each for each in cuts if each <= len(text)), len(text)]
    parts = [text[start:end] for start, end in pairwise(places)]
    assert shown(*parts) == shown(text)


@given(st.binary(max_size=300))
def test_nothing_in_it_steers_the_terminal_but_colours(data: bytes) -> None:
    for line in shown(data):
        rest = line.replace("\x1b[0m", "")
        assert "\n" not in rest
        assert all(part[:1] == "[" for part in rest.split("\x1b")[1:])


def test_a_progress_bar_writes_over_its_line() -> None:
    assert shown(b"10 %\r20 %\r30 %") == ["30 %"]
    assert shown(b"long line\rab\n") == ["ab" + "ng line"]
    assert shown(b"long line\r\x1b[Kab\n") == ["ab"]


def test_colours_stay() -> None:
    assert shown(b"\x1b[31mred\x1b[0m plain") == [
        "".join(f"\x1b[31m{each}\x1b[0m" for each in "red") + " plain"
    ]


def test_only_the_last_lines_are_shown() -> None:
    assert shown(b"1\n2\n3\nhalf", count=2) == ["3", "half"]
    assert shown(b"1\n2\n", count=5) == ["1", "2"]


@given(st.lists(st.text("ab \n", max_size=12)))
def test_plain_text_is_as_it_is_however_fast_it_is_taken_in(parts: list[str]) -> None:
    text = "".join(parts)
    lines = text.split("\n")
    assert shown(*(each.encode() for each in parts)) == (lines[:-1] if not lines[-1] else lines)


def test_of_a_flood_only_the_last_lines_are_kept() -> None:
    flood = b"".join(b"line %d\n" % number for number in range(100_000))
    assert shown(b"first ", flood, count=2) == ["line 99998", "line 99999"]
