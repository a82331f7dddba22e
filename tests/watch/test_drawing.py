"""A panel as lines: within its room, with the most important number as the largest."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from whet.core.observations.panel import Number, Reading
from whet.watch.drawing import cut, panel_lines
from whet.watch.layout import LEAST_HEIGHT, layout

TEXT = st.text(max_size=60)
READINGS = st.builds(
    Reading,
    panel=TEXT,
    title=TEXT,
    headline=st.one_of(TEXT, st.just("3.2 GB"), st.just("12,345")),
    detail=TEXT,
    table=st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=9).map(tuple),
    lines=st.lists(TEXT, max_size=9).map(tuple),
    reason=TEXT,
    numbers=st.just((Number(name="rss", value=3.2e9, unit="bytes"),)),
)
SIZES = st.tuples(st.integers(0, 100), st.integers(0, 20))
MEMORY = Reading(
    panel="memory", title="memory", headline="3.2 GB", detail="4.0 GB of 16.0 GB free here",
    numbers=(Number(name="rss", value=3.2e9, unit="bytes"),),
)  # fmt: skip


@given(READINGS, st.lists(st.floats(0, 1e12), max_size=40), SIZES)
def test_no_panel_is_wider_or_higher_than_its_room(
    reading: Reading, history: list[float], size: tuple[int, int]
) -> None:
    lines = panel_lines(reading, history, size, before=reading)
    assert len(lines) <= size[1]
    assert all(line.cell_len <= size[0] for line in lines)


@given(TEXT, st.integers(1, 80))
def test_what_is_cut_says_so(text: str, width: int) -> None:
    shown = cut(text, width)
    assert cell_len(shown) <= width
    whole = cut(text, 10_000)
    assert shown == whole or (shown.endswith("…") and whole.startswith(shown[:-1]))


def test_the_headline_is_three_rows_high_where_there_is_room() -> None:
    lines = [str(each) for each in panel_lines(MEMORY, [1e9, 3.2e9], (38, 8))]
    assert lines[0].startswith("┏━┓ ┏━┓")
    assert lines[2].rstrip().endswith("GB")
    assert "free here" in lines[0]
    assert lines[-1].endswith("█")


def test_a_low_panel_has_the_headline_in_its_first_line() -> None:
    first, *others = [str(each) for each in panel_lines(MEMORY, [], (38, 2))]
    assert first.startswith("3.2 GB  4.0 GB of 16.0 GB free here")
    assert others == []


def test_a_level_that_has_fallen_shows_its_peak() -> None:
    lines = [str(each) for each in panel_lines(MEMORY, [9e9, 3.2e9], (60, 8))]
    assert "peak 9.0 GB" in lines[1]


def test_columns_of_numbers_are_aligned_and_what_is_left_out_is_counted() -> None:
    rows = [(str(10**place), f"{place}.5", "python x.py") for place in range(9)]
    reading = Reading(
        panel="processes", title="", headline="9 processes", table=(("PID", "GB", "command"), *rows)
    )
    head, titles, *shown, last = [str(each) for each in panel_lines(reading, [], (40, 6))]
    assert head == "9 processes"
    assert {each.index("python") for each in shown} == {titles.index("command")}
    assert last == "… 6 more"


def test_words_that_have_changed_are_marked() -> None:
    before = Reading(panel="x", title="x", lines=("a 1 b", "c"))
    now = Reading(panel="x", title="x", lines=("a 2 b", "c"))
    changed, same = panel_lines(now, [], (20, 5), before=before)
    assert [changed.plain[each.start : each.end] for each in changed.spans] == ["2"]
    assert not same.spans


def test_why_there_is_nothing_to_show_is_wrapped_not_cut() -> None:
    reading = Reading(panel="gpu", title="GPU", reason="no NVIDIA driver is installed here")
    lines = [str(each) for each in panel_lines(reading, [], (12, 5))]
    assert " ".join(each.strip() for each in lines) == reading.reason


@given(
    st.integers(1, 12), st.integers(20, 250), st.integers(10, 80), st.sampled_from(["", "output"])
)
def test_the_panels_of_a_grid_fill_each_row(
    count: int,
    width: int,
    height: int,
    output: str,
) -> None:
    plan = layout(count, width, height, has_output=bool(output))
    assert sum(plan.spans) == plan.columns * plan.rows
    assert all(1 <= span <= plan.columns for span in plan.spans)
    assert bool(plan.output_rows) == bool(output)
    if plan.rows * LEAST_HEIGHT + LEAST_HEIGHT <= height:
        assert plan.rows * LEAST_HEIGHT + plan.output_rows <= height
