"""A quantity over time, drawn with blocks."""

import math

from hypothesis import given
from hypothesis import strategies as st

from whet.core.text.curve import curve

BLOCKS = " ▁▂▃▄▅▆▇█"
NUMBERS = st.lists(st.floats(-1e300, 1e300), max_size=50)


def height_of(rows: tuple[str, ...], column: int) -> int:
    """Return the eighths of a column."""
    return sum(BLOCKS.index(row[column]) for row in rows)


@given(st.lists(st.floats()), st.integers(0, 30), st.integers(0, 8))
def test_a_curve_fills_exactly_its_room(values: list[float], width: int, height: int) -> None:
    rows = curve(values, width, height)
    assert len(rows) == height
    assert all(len(row) == width for row in rows)


@given(st.lists(st.floats(0, 1e9), min_size=2, max_size=20), st.integers(1, 8))
def test_a_larger_value_is_never_drawn_lower(values: list[float], height: int) -> None:
    rows = curve(values, len(values), height)
    heights = [height_of(rows, column) for column in range(len(values))]
    for one, at in zip(values, heights, strict=True):
        assert all(
            at <= other for value, other in zip(values, heights, strict=True) if value >= one
        )


@given(NUMBERS.filter(bool), st.integers(1, 20))
def test_the_newest_values_are_at_the_right(values: list[float], width: int) -> None:
    shown = curve(values, width, 3)
    assert shown == curve(values[-width:], width, 3)
    gap = width - len(values)
    assert all(row[: max(gap, 0)].isspace() or gap <= 0 for row in shown)


def test_a_value_that_is_no_number_leaves_a_gap() -> None:
    assert curve([1.0, math.nan, 1.0], 3, 1) == ("█ █",)


def test_a_full_scale_is_kept_until_a_value_is_above_it() -> None:
    assert curve([50.0], 1, 2, full=100) == (" ", "█")
    assert curve([200.0], 1, 2, full=100) == ("█", "█")
