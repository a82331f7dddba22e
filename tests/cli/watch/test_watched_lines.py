"""A sight as lines: what has changed, and no more."""

from hypothesis import given
from hypothesis import strategies as st

from whet.cli.display.watched import aligned, sight_lines
from whet.core.observations.panel import Number, Reading, Sight

ROWS = st.lists(st.tuples(st.text("ab ", max_size=9), st.text("12.", max_size=5), st.text("xy")))
MEMORY = Reading(panel="memory", title="memory", headline="3.2 GB", detail="1.0 GB free here",
                 numbers=(Number(name="rss", value=3.2e9, unit="bytes"),))  # fmt: skip
TEXT = Reading(panel="df", title="df", headline="25%", column="Use%", lines=("Use%", "25% /"))
NONE = Reading(panel="gpu", title="GPU", reason="there is none")


def test_a_sight_that_is_as_the_one_before_has_no_line() -> None:
    sight = Sight(seconds=2.0, readings=(MEMORY, TEXT, NONE))
    assert sight_lines(sight, sight) == []
    assert len(sight_lines(sight, None)) == 3


def test_a_line_says_when_and_all_that_has_changed() -> None:
    first, *below = sight_lines(Sight(seconds=61.0, readings=(MEMORY, TEXT, NONE)), None)
    assert first.split("  ")[0] == "1 min 1 s"
    assert "memory 3.2 GB, 1.0 GB free here · df: Use% 25% · GPU: there is none" in first
    assert [each.strip() for each in below] == ["Use%", "25% /"]


def test_what_crosses_a_threshold_is_told_although_nothing_else_has_changed() -> None:
    sight = Sight(seconds=2.0, readings=(MEMORY,))
    crossed = Sight(seconds=3.0, readings=(MEMORY,), events=("rss > 3G: it is 3.2 GB",))
    assert sight_lines(crossed, sight) == ["   3.0 s  ! rss > 3G: it is 3.2 GB"]


def test_that_an_ended_program_has_no_processes_is_no_news() -> None:
    gone = Sight(seconds=4.0, readings=(Reading(panel="memory", title="memory", reason="none"),))
    assert sight_lines(gone, Sight(seconds=3.0, readings=(MEMORY,)), is_over=True) == []


@given(ROWS)
def test_all_columns_but_the_last_are_aligned_to_the_right(rows: list[tuple[str, ...]]) -> None:
    lines = aligned(rows)
    assert len(lines) == len(rows)
    for line, row in zip(lines, rows, strict=True):
        assert line.endswith(row[-1])
    assert len({len(line) - len(row[-1]) for line, row in zip(lines, rows, strict=True)}) <= 1


def test_a_detail_that_goes_on_with_the_headline_has_no_comma_before_it() -> None:
    of_gpu = Reading(panel="gpu", title="GPU 0", headline="1.3 GB", detail="of 85.5 GB, 0 % busy")
    (line,) = sight_lines(Sight(seconds=1.0, readings=(of_gpu,)), None)
    assert line.endswith("GPU 0 1.3 GB of 85.5 GB, 0 % busy")
