"""What is read of many texts at once is what is read of each alone."""

import csv
import io
import tempfile
from collections.abc import Iterable
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from whet.sampling.lines import csv_file
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


@given(texts)
@example(["1", "1.0", "01", "nan", None, "1_0", "²", "\u0661"])
@example([str((1 << 53) + 1), str(1 << 53)])
@example(["inf", "-inf", "5"])
def test_the_extremes_of_texts_are_those_of_each_alone(values: list[str | None]) -> None:
    rows = Rows(range(len(values)), {"x": values}, is_text=True)
    alone = zip(map(measure_of, values), range(len(values)), strict=True)

    assert extremes(rows.extremes("x")) == extremes(alone)


@given(texts)
def test_the_first_of_each_text_is_found(values: list[str | None]) -> None:
    rows = Rows(range(len(values)), {"x": values}, is_text=True)
    firsts = {identity_of(value): values.index(value) for value in values}

    assert dict(rows.firsts("x")) == firsts


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
