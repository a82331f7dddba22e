"""What is read of many values at once is what is read of each alone."""

import csv
import io
import json
import math
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from whet.sampling.lines import csv_file, json_lines
from whet.sampling.record_groups import blocks_like, csv_groups
from whet.sampling.table import Rows
from whet.sampling.values import Measure, identity_of, measure_of

numberlike = st.text(st.sampled_from("0123456789+-._eE infatyNI\u0663é\t"), min_size=1, max_size=8)
whole = st.integers(-(1 << 70), 1 << 70).map(str)
texts = st.lists(st.none() | numberlike | whole | st.floats().map(str) | st.text(min_size=1))


def extremes(found: Iterable[tuple[Measure, int]]) -> dict[tuple[str, bool], tuple[object, int]]:
    """Return the first least and the first largest of each kind."""
    known: dict[tuple[str, bool], tuple[object, int]] = {}
    for (kind, size), place in sorted(found, key=lambda each: each[1]):
        for is_largest in (False, True):
            now = known.get((kind, is_largest))
            if now is None or (size > now[0] if is_largest else size < now[0]):
                known[kind, is_largest] = (size, place)
    return known


numbers = st.integers() | st.floats() | st.just(1 << 1024)
values = (
    texts | st.lists(st.none() | numbers) | st.lists(texts | numbers | st.booleans() | numberlike)
)


@given(values)
@example([0.0, -0.0, 0, 1, 1.0])
@example(["", None, "a", ""])
@example(["1", "1.0", "01", "nan", None, "1_0", "²", "\u0661"])
@example([str((1 << 53) + 1), str(1 << 53)])
@example(["inf", "-inf", "5"])
def test_the_extremes_of_values_are_those_of_each_alone(values: list[object]) -> None:
    rows = Rows(range(len(values)), {"x": values})
    alone = zip(map(measure_of, values), range(len(values)), strict=True)

    assert extremes(rows.extremes("x")) == extremes(alone)


@given(values)
@example([True, 1, 1.0, math.nan, "1"])
def test_the_first_of_each_value_is_found(values: list[object]) -> None:
    rows = Rows(range(len(values)), {"x": values})
    firsts: dict[object, int] = {}
    for place, value in enumerate(values):
        firsts.setdefault(identity_of(value), place)
    found: dict[object, int] = {}
    for value, place in rows.firsts("x"):
        found[value] = min(place, found.get(value, place))

    assert found == firsts


json_parts = st.sampled_from(["[1", "2]", '{"a": [1', "2]}", "{}", '{"a": 1, "a": 2}', ",", "3"])
odd_parts = st.sampled_from([*" \t\r\0\x0b\xa0\ufeff", '{"a": NaN}', '{"a": "\\ud800é"}'])


@given(
    st.lists(st.lists(json_parts | odd_parts, max_size=3).map("".join)),
    st.sampled_from(["utf-8", "latin-1"]),
)
def test_json_lines_are_what_each_line_holds(lines: list[str], encoding: str) -> None:
    def held(line: bytes) -> object:
        with suppress(ValueError):
            row: Any = json.loads(line)
            if isinstance(row, dict):
                return cast("dict[str, object]", row).get("a")
        return None

    records = [f"{line}\n".encode(encoding, "replace") for line in lines]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.jsonl")
        path.write_bytes(b'{"a": 0}\n' + b"".join(records))
        (rows,) = json_lines(path, "t").tables
        found = [value for batch in rows.batches(["a"]) for value in batch.column("a")]

    assert repr(found) == repr([0, *(held(each) for each in records if not each.isspace())])


odd_cells = st.sampled_from(
    br'1 -2.5 ab "" "a""b" "x,y" "c\nd" a"b "a"b "a"b" " nan inf 9007199254740993 1_0 \u06612 2\u0661'
    br" n\xe9 \x203\x20 \x1f4 \r \0 \ufeff +5 \xe4 \xa07 1e999 -0 0x1p3 infinity 3\u2003 NAN 1e5"
    .decode("unicode_escape").split(" ")
) | st.just("")  # fmt: skip
mixed = odd_cells | st.floats().map(str) | whole
lines = st.lists(
    st.lists(mixed, min_size=2, max_size=2) | st.lists(mixed, min_size=1, max_size=3), max_size=6
) | st.lists(st.lists(numberlike, min_size=2, max_size=2), max_size=6)


@pytest.mark.long
@given(lines, st.sampled_from(["\n", "\r\n"]), st.sampled_from(["utf-8", "latin-1"]))
@example([['"c', 'd"'], ["1", '"c\nd"']], "\n", "utf-8")
@example([["1", '"a"b"'], ["1", '"c\nd"']], "\n", "utf-8")
@example([["5"], [" 3 "], ["n"]], "\n", "utf-8")
def test_arrow_finds_what_python_finds(
    table: list[list[str]], line_end: str, encoding: str
) -> None:
    content = line_end.join(map(",".join, table)).encode(encoding, "replace")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_bytes(b"a,b" + line_end.encode() + content)
        (records,) = csv_file(path, "t").tables
        plain = [*records.batches(None)]
        with patch("whet.sampling.lines.WORTH_BYTES", 0):
            fast = [*records.batches(None)]

    assert [[*batch.places] for batch in fast] == [[*batch.places] for batch in plain]
    for one, other in zip(fast, plain, strict=True):
        for name in ("a", "b"):
            assert one.column(name) == other.column(name)
            assert extremes(one.extremes(name)) == extremes(other.extremes(name))
            assert dict(one.firsts(name)) == dict(other.firsts(name))


@given(st.binary(), st.sampled_from([1, 8, 1 << 18]))
@example(b'a,"b\nc",d\r\n\r\n"x\n', 1)
@example(b'"a"b\n"c\n"d\n', 8)
def test_records_do_not_depend_on_how_much_is_read_at_once(content: bytes, size: int) -> None:
    def records(at_once: int) -> list[tuple[int, bytes]]:
        stream = io.BytesIO(content)
        groups = csv_groups(stream, at_once, blocks=blocks_like(content), delimiter=b",")
        return [each for group in groups for each in zip(group.places, group.records, strict=True)]

    assert records(size) == records(64)
    assert all(content[place:].startswith(record) for place, record in records(size))


cells = st.text(st.sampled_from('ab1,;" \né\x00\x1f'), max_size=4)


@given(
    st.lists(st.lists(cells, min_size=1, max_size=4), min_size=1, max_size=6),
    st.sampled_from(["\n", "\r\n"]),
)
def test_cells_are_what_a_reader_of_csv_finds(table: list[list[str]], line_end: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        with path.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator=line_end)
            writer.writerow(["a", "b", "c"])
            writer.writerows(table)
        (rows,) = csv_file(path, "t").tables
        found = [value for batch in rows.batches(["b"]) for value in batch.column("b")]
        with path.open(newline="") as file:
            _, *read = [row for row in csv.reader(file) if row]

    assert found == [(row[1] if len(row) > 1 else "") or None for row in read]
