"""Variants of a payload are valid in its format, and the cut that is found is a smallest one."""

import csv
import io
import json

from hypothesis import given
from hypothesis import strategies as st

from whet.reduction.variants import Cut, cuts, units_of

ROWS = b"name,count\npear,1\nplum,2\nfig,3\n"
RECORDS = b'[{"id": 1, "to": "a"}, {"id": 2, "to": "b"},\n {"id": 3, "to": null}]\n'


def found(count: int, wrong: set[int]) -> Cut | None:
    """Search a payload that passes once all of some units have gone."""
    search = cuts(count)
    try:
        cut = next(search)
        while True:
            cut = search.send(wrong <= set(range(*cut)))
    except StopIteration as ended:
        answer: Cut | None = ended.value
        return answer


@given(st.data(), st.integers(3, 60))
def test_the_cut_is_one_unit_where_one_decides(data: st.DataObject, count: int) -> None:
    one = data.draw(st.integers(0, count - 1))
    assert found(count, {one}) == (one, one + 1)


@given(st.data(), st.integers(8, 60))
def test_nothing_at_an_end_of_the_cut_could_stay_out_of_it(data: st.DataObject, count: int) -> None:
    one = data.draw(st.integers(0, count - 2))
    cut = found(count, {one, one + 1})
    assert cut is None or cut == (one, one + 2)


def test_no_cut_is_found_where_none_passes() -> None:
    assert found(9, {0, 8}) is None


def test_a_table_stays_one_without_rows_and_with_other_cells() -> None:
    (units,) = units_of(ROWS, "a.csv")
    assert units.without((0, 2)) == b"name,count\nfig,3\n"
    for span, text in units.others(1):
        rows = list(csv.reader(io.StringIO(units.with_value(span, text).decode())))
        assert [len(row) for row in rows] == [2] * 4


def test_json_stays_json_without_records_and_with_other_values() -> None:
    (units, *_) = units_of(RECORDS, "a.json")
    for first in range(3):
        for behind in range(first + 1, 4):
            kept = json.loads(units.without((first, behind)))
            assert [each["id"] for each in kept] == [
                at + 1 for at in range(3) if not first <= at < behind
            ]
    values = [json.loads(units.with_value(*each))[2] for each in units.others(2)]
    assert {"id": 3, "to": "b"} in values
    assert {"id": 2, "to": None} in values


def test_the_settings_of_a_file_go_one_by_one() -> None:
    (units, *_) = units_of(b'{"width": 4, "order": "little", "level": 3}', "a.json")
    assert json.loads(units.without((1, 2))) == {"width": 4, "level": 3}
    assert json.loads(units.without((2, 3))) == {"width": 4, "order": "little"}


def test_other_text_goes_by_lines_and_no_bytes_do() -> None:
    (units,) = units_of(b"login ann\n\nopen\nclose\n", "a.log")
    assert units.without((1, 2)) == b"login ann\n\nclose\n"
    assert units.line(units.spans[1][0]) == 3
    assert units_of(b"\0\1\2", "a.bin") == []
