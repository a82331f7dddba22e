"""Laws of samples: so many rows, in their order, of the original alone, the same for the same seed."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from data import FORMATS, Row, sampled, some_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.core.errors import SampleTooSmall
from whet.sampling.arrow_conditions import filter_of
from whet.sampling.kinds import open_source
from whet.sampling.row_condition import RowCondition
from whet.sampling.selection import Wish, select
from whet.sampling.table import RowFilter


def where(text: str) -> RowFilter:
    return filter_of(RowCondition.parse(text))


def sample_of(name: str, rows: Sequence[Row], wish: Wish) -> list[Row]:
    file, write, read = FORMATS[name]
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder, file), rows)
        sampled(Path(folder, file), wish, Path(folder, "sample"))
        return read(Path(folder, "sample"))


def is_in_order(sample: Sequence[Row], rows: Sequence[Row]) -> bool:
    following = iter(rows)
    return all(any(row == other for other in following) for row in sample)


@given(
    name=st.sampled_from([*FORMATS]),
    count=st.integers(1, 60),
    wanted=st.integers(1, 70),
    seed=st.none() | st.integers(0, 3),
)
def test_a_sample_has_so_many_rows_of_the_original_in_their_order(
    name: str, count: int, wanted: int, seed: int | None
) -> None:
    rows = some_rows(count)

    sample = sample_of(name, rows, Wish(rows=wanted, seed=seed))

    assert len(sample) == min(wanted, count)
    assert is_in_order(sample, rows)
    if seed is None:
        assert sample == rows[:wanted]


@pytest.mark.long
@given(name=st.sampled_from([*FORMATS]), seed=st.integers(0, 9), fewer=st.integers(1, 40))
def test_the_same_seed_is_the_same_sample_and_a_larger_one_holds_it(
    name: str, seed: int, fewer: int
) -> None:
    rows = some_rows(50)

    sample = sample_of(name, rows, Wish(rows=fewer, seed=seed))
    again = sample_of(name, rows, Wish(rows=fewer, seed=seed))
    larger = sample_of(name, rows, Wish(rows=fewer + 5, seed=seed))

    assert sample == again
    assert is_in_order(sample, larger)


@pytest.mark.long
@given(
    name=st.sampled_from(["csv", "parquet"]),
    seed=st.none() | st.integers(0, 3),
    rows=st.integers(1, 60),
    skip=st.integers(0, 20),
)
def test_rows_that_are_skipped_are_those_of_a_smaller_sample(
    name: str, seed: int | None, rows: int, skip: int
) -> None:
    data = some_rows(50)

    whole = sample_of(name, data, Wish(rows=rows + skip, seed=seed))
    rest = sample_of(name, data, Wish(rows=rows + skip, seed=seed, skip=skip))
    first = sample_of(name, data, Wish(rows=skip, seed=seed)) if skip else []

    assert rest == [row for row in whole if row not in first]


@pytest.mark.parametrize("name", FORMATS)
def test_each_value_is_there_once_and_the_missing_one_is_a_value(name: str) -> None:
    sample = sample_of(name, some_rows(50), Wish(each=("country",)))

    assert [row["country"] for row in sample] == ["DE", "FR", None, "IT"]


@pytest.mark.long
@pytest.mark.parametrize("name", FORMATS)
@given(count=st.integers(1, 60), extra=st.integers(0, 5))
@settings(max_examples=15)
def test_the_extremes_of_each_column_are_there(name: str, count: int, extra: int) -> None:
    rows = some_rows(count)
    needed = len(sample_of(name, rows, Wish(extremes=True)))

    sample = sample_of(name, rows, Wish(extremes=True, rows=needed + extra, seed=1))

    assert len(sample) == min(count, needed + extra)
    for column in ("id", "amount"):
        there = [row[column] for row in rows if row[column] is not None]
        kept = [row[column] for row in sample if row[column] is not None]
        assert not there or (min(kept), max(kept)) == (min(there), max(there))
    assert {len(row["note"]) for row in sample} >= {
        min(len(row["note"]) for row in rows),
        max(len(row["note"]) for row in rows),
    }
    assert any(row["amount"] is None for row in sample) == any(
        row["amount"] is None for row in rows
    )


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("amount < 0 and country == 'DE'", lambda row: (row["amount"] or 0) < 0 and row["country"] == "DE"),
        ("country is null", lambda row: row["country"] is None),
        ("not country in ('DE', 'FR')", lambda row: row["country"] == "IT"),
        ("note ~ '^says' or id >= 45", lambda row: row["note"].startswith("says") or row["id"] >= 45),
        ("amount > id", lambda row: row["amount"] is not None and row["amount"] > row["id"]),
    ],
)  # fmt: skip
def test_a_condition_takes_the_rows_that_match(name: str, text: str, holds: object) -> None:
    rows = some_rows(50)
    assert callable(holds)

    sample = sample_of(name, rows, Wish(rows=50, where=where(text)))

    assert sample == [row for row in rows if holds(row)]


def test_all_wishes_work_together() -> None:
    rows = some_rows(60)
    wish = Wish(rows=20, seed=4, each=("country",), extremes=True, where=where("id < 40"))

    sample = sample_of("parquet", rows, wish)

    assert len(sample) == 20
    assert {row["country"] for row in sample} == {"DE", "FR", "IT", None}
    assert (sample[0]["id"], sample[-1]["id"]) == (0, 39)


def test_more_values_than_rows_are_refused_with_the_number_that_is_needed(tmp_path: Path) -> None:
    file, write, _ = FORMATS["csv"]
    write(tmp_path / file, some_rows(50))
    (table,) = open_source(tmp_path / file, file).tables

    with pytest.raises(SampleTooSmall) as few:
        select(table, Wish(rows=3, each=("country",)))
    with pytest.raises(SampleTooSmall) as too_few:
        select(table, Wish(rows=5, each=("country",), extremes=True))

    assert "`country`" in str(few.value)
    assert "`-n 5` is too few" in str(too_few.value)


def test_the_first_rows_end_the_reading(tmp_path: Path) -> None:
    file, write, _ = FORMATS["json lines"]
    write(tmp_path / file, some_rows(20_000))
    (table,) = open_source(tmp_path / file, file).tables

    assert select(table, Wish(rows=3)).of is None
    assert select(table, Wish(rows=3, seed=0)).of == 20_000
