"""The conditions of `whet watch --when`, and when they tell."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.errors import BadThreshold
from whet.core.threshold import LEVEL_NAMES, Crossing, Threshold

SIGNS = {">": "above", ">=": "at", "<": "below", "<=": "under"}


@given(st.lists(st.floats(0, 100)), st.sampled_from(sorted(SIGNS)))
def test_a_crossing_is_told_once_each_time_the_level_passes_the_threshold(
    values: list[float], sign: str
) -> None:
    threshold = Threshold(text="cpu", name="cpu", sign=sign, value=50, action="bell")
    crossing = Crossing(threshold)
    told = [crossing.crosses(each) for each in values]
    beyond = [threshold.holds(each) for each in values]
    rises = [
        is_beyond and not before
        for before, is_beyond in zip([False, *beyond], beyond, strict=False)
    ]
    assert told == rises


@given(st.lists(st.one_of(st.none(), st.floats(0, 100))))
def test_a_level_that_is_not_measured_crosses_nothing(values: list[float | None]) -> None:
    with_gaps, without = (
        Crossing(Threshold(text="", name="cpu", sign=">", value=50, action="bell"))
        for _ in range(2)
    )
    told = [with_gaps.crosses(each) for each in values]
    assert [each for each, value in zip(told, values, strict=True) if value is not None] == [
        without.crosses(each) for each in values if each is not None
    ]
    assert not any(each for each, value in zip(told, values, strict=True) if value is None)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("rss > 8G", "rss", 8e9),
        ("rss>8GB", "rss", 8e9),
        ("rss >= 0.5GiB", "rss", 2.0**29),
        ("disk.free < 500M", "disk.free", 5e8),
        ("cpu > 90%", "cpu", 90),
        ("cpu > 90", "cpu", 90),
        ("files > 100", "files", 100),
        ("network.in > 5MB/s", "network.in", 5e6),
        ("value > 2min", "value", 120),
        ("value > 1.5G", "value", 1.5e9),
    ],
)
def test_a_quantity_is_read_in_the_unit_of_its_level(text: str, name: str, value: float) -> None:
    threshold = Threshold.parse(text, "bell")
    assert (threshold.name, threshold.value) == (name, value)


@pytest.mark.parametrize(
    ("text", "action", "word"),
    [
        ("rss", "bell", "`rss`"),
        ("rrs > 8G", "bell", "`rrs`"),
        ("rss == 8G", "bell", "`==`"),
        ("rss > 8 apples", "bell", "`8 apples`"),
        ("rss > ", "bell", "``"),
        ("cpu > 8G", "bell", "`8G`"),
        ("cpu > nan", "bell", "`nan`"),
        ("rss > 8G", " ", "no action"),
    ],
)
def test_a_condition_that_cannot_be_read_names_the_word(text: str, action: str, word: str) -> None:
    with pytest.raises(BadThreshold) as caught:
        Threshold.parse(text, action)
    assert word in str(caught.value)


def test_a_misspelt_level_names_the_nearest_one() -> None:
    with pytest.raises(BadThreshold) as caught:
        Threshold.parse("disk.fre < 1G", "bell")
    assert "`disk.free`" in caught.value.hint


@given(st.text(), st.text(min_size=1))
def test_any_text_is_read_or_refused(text: str, action: str) -> None:
    with suppress(BadThreshold):
        assert Threshold.parse(text, action).name in LEVEL_NAMES
