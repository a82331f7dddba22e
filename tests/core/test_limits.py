"""Limits as values: they survive JSON, keys stay as they were, sizes are read as they are shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.limits import LimitMet, Limits, shown_share, shown_size, size_bytes
from whet.core.observations.resources import ProcessPeak, ResourceUse, sparkline
from whet.core.trial import Trial

amounts = st.none() | st.integers(1, 1 << 50)
limits = st.builds(
    Limits,
    wall_seconds=st.none() | st.floats(0.001, 1e6),
    output_bytes=amounts,
    memory_bytes=amounts,
    swap_bytes=amounts,
    cpus=st.none() | st.floats(0.01, 512),
    files=amounts,
    processes=amounts,
    stack_bytes=amounts,
    cpu_seconds=amounts,
    slow_disk_bytes=amounts,
)


@given(limits)
def test_limits_survive_json(given_limits: Limits) -> None:
    assert Limits.from_json(given_limits.to_json()) == given_limits


@given(limits)
def test_a_trial_with_limits_survives_json_and_has_a_key_of_its_own(given_limits: Limits) -> None:
    trial = Trial(command=("true",), cwd="/", limits=given_limits)
    assert Trial.from_json(trial.to_json()) == trial
    assert (trial.key == Trial(command=("true",), cwd="/").key) == (given_limits == Limits())


def test_trials_without_limits_keep_the_key_that_they_had_before_there_were_any() -> None:
    assert Limits(wall_seconds=3.0).to_json() == {"wall_seconds": 3.0, "output_bytes": None}


@given(limits)
def test_they_starve_exactly_when_something_is_put_around_the_program(given_limits: Limits) -> None:
    assert given_limits.starve == bool(given_limits.options)


@given(st.integers(1, 1023), st.sampled_from(["", "K", "M", "G", "T"]))
def test_a_whole_size_is_read_as_it_is_shown(count: int, unit: str) -> None:
    size = size_bytes(f"{count}{unit}")
    assert size is not None
    assert size_bytes(shown_size(size)) == size


@given(st.integers(1 << 20, 1 << 45), st.integers(0, 1 << 30))
def test_an_amount_that_is_enough_looks_other_than_one_that_is_a_part_in_500_less(
    least: int, more: int
) -> None:
    enough = least + max(least // 500, 16 << 10) + 1 + more
    assert shown_size(least, tells_apart=True) != shown_size(enough, tells_apart=True)
    assert shown_size(100 << 20, tells_apart=True) == "100 MiB"


@pytest.mark.parametrize("words", ["5X", "-5", "", "G", "1e3", "5 5", "0x10", "nan", "1.G", "5GG"])
def test_what_is_no_size_is_not_read(words: str) -> None:
    assert size_bytes(words) is None


@pytest.mark.parametrize(
    ("words", "size"), [("300", 300), ("1.5G", 3 << 29), ("5 gib", 5 << 30), ("64KB", 64 << 10)]
)
def test_sizes(words: str, size: int) -> None:
    assert size_bytes(words) == size


def test_a_met_limit_names_the_process_in_the_unit_of_the_limit() -> None:
    met = LimitMet(name="memory", limit=5 << 30, reached=5.35e9, process="python", pid=7)
    assert met.words == "4.98 of 5.00 GiB, largest process python (pid 7)"
    assert LimitMet.from_json(met.to_json()) == met
    assert shown_share(0, 0) == "0.00 of 0.00 B"


columns = st.lists(st.integers(0, 1 << 40), min_size=1, max_size=9)


@given(columns, st.integers(1, 60))
def test_a_sparkline_shows_its_highest_bar_where_the_most_is(column: list[int], width: int) -> None:
    line = sparkline(column, width)
    assert len(line) == min(width, len(column))
    if max(column):
        at = column.index(max(column)) * len(line) // len(column)
        assert "█" in line[max(0, at - 1) : at + 2]


@given(columns)
def test_what_was_used_survives_json(column: list[int]) -> None:
    whole, decimal = tuple(column), tuple(map(float, column))
    use = ResourceUse(
        seconds=decimal,
        memory_bytes=whole,
        cpu_seconds=decimal,
        files=whole,
        read_bytes=whole,
        written_bytes=whole,
        processes=whole,
        largest=(ProcessPeak(pid=1, name="python", peak_bytes=3),),
    )
    assert ResourceUse.from_json(use.to_json()) == use
