"""Tables are shrunk by rows and columns, types and cells; real files all of them."""

import csv
import datetime as dt
import io
import json
import math
from collections.abc import Callable
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
from odd_oracles import Judge, fails_if, shrunk, shrunk_ahead

from whet.core.verdict import Verdict
from whet.reduction.formats.tables.arrow_tables import ARROW, ARROW_STREAM, PARQUET
from whet.reduction.formats.tables.csv_table import parse_csv
from whet.reduction.formats.tables.excel import EXCEL
from whet.reduction.payload_kinds import KINDS, kinds_of, readable
from whet.testing.reduction import check_format, check_pass

ROWS = 12_000


def people(rows: int = ROWS) -> Any:
    ids = list(range(rows))
    ids[rows // 4] = ids[3 * rows // 4]
    return pa.table(
        {
            "id": pa.array(ids, pa.int32()),
            "city": pa.array(["Oslo", "Rome", "Bern"] * (rows // 3)).dictionary_encode(),
            "amount": [number * 0.37 for number in range(rows - 1)] + [-7.25],
            "born": pa.array(range(rows), pa.timestamp("s")),
            "more": [json.dumps({"a": [1, 2, {"k": number}]}) for number in range(rows)],
        },
        metadata={"by": "a test"},
    )


def parquet(table: Any) -> bytes:
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file, compression="snappy", row_group_size=1000)
    return file.getvalue()


def feather(table: Any) -> bytes:
    file = io.BytesIO()
    pyarrow.feather.write_feather(table, file, compression="lz4")
    return file.getvalue()


def stream(table: Any) -> bytes:
    file = io.BytesIO()
    with pyarrow.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=1000)
    return file.getvalue()


def table_of(payload: bytes) -> Any:
    if payload.startswith(b"PAR1"):
        return pyarrow.parquet.read_table(io.BytesIO(payload))
    if not payload.startswith(b"ARROW1"):
        return pyarrow.ipc.open_stream(payload).read_all()
    return pyarrow.feather.read_table(io.BytesIO(payload))


def column(payload: bytes, name: str) -> list[Any]:
    found: list[Any] = table_of(payload).column(name).to_pylist()
    return found


def workbook() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Data of 2024"
    sheet.append(["id", "name", "amount", "born"])
    first = dt.datetime.fromisoformat("2024-01-01")
    for number in range(120):
        born = first + dt.timedelta(days=4 * number)
        sheet.append([number, f"n{number}", number * 1.5, born])
    sheet["B9"] = "oops"
    sheet["C100"] = "=A1+1"
    book.create_sheet("Notes")["B2"] = "hello"
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def cells_of(payload: bytes) -> list[Any]:
    book = openpyxl.load_workbook(io.BytesIO(payload))
    return [cell for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row]


def left_of(payload: bytes, holds: Callable[[bytes], object], most_calls: int) -> str | None:
    judge = fails_if(lambda it: bool(holds(it)))
    assert judge(payload) is Verdict.BAD
    done = shrunk(payload, judge)
    assert done.calls <= most_calls, "ask for the reason before raising this"
    return readable(done.reduction.payload)


def has_twins(payload: bytes) -> bool:
    found = column(payload, "id")
    return len(set(found)) < len(found)


@pytest.mark.parametrize("write", [parquet, pytest.param(feather, marks=pytest.mark.long), stream])
def test_two_rows_of_thousands_that_interact(write: Callable[[Any], bytes]) -> None:
    assert left_of(write(people()), has_twins, 60) == "id: int64\n0\n0"


def test_values_of_two_columns_in_two_rows() -> None:
    def holds(it: bytes) -> bool:
        is_cold = any((value or 0) < -3 for value in column(it, "amount"))
        return is_cold and "Rome" in column(it, "city")

    assert left_of(parquet(people()), holds, 110) == (
        "city: string  amount: double\n'Rome'        0.0\n''            -4.0"
    )


def test_a_type_stays_where_it_matters() -> None:
    def holds(it: bytes) -> bool:
        return any(str(each.type) == "timestamp[s]" for each in table_of(it).schema)

    assert left_of(feather(people()), holds, 25) == "born: timestamp[s]"


def test_json_in_a_cell_is_shrunk_as_json() -> None:
    def holds(it: bytes) -> bool:
        return any(json.loads(each)["a"][2]["k"] == 700 for each in column(it, "more"))

    shown = left_of(parquet(people(3000)), holds, 330)

    assert shown == "more: string\n" + repr('{"a":[0,0,{"k":700}]}')


def nested(rows: int = 300) -> Any:
    users = [
        {"name": f"u{n}", "tags": [f"t{n}", "x"], "score": math.nan if n == 77 else n / 2}
        for n in range(rows)
    ]
    pairs = pa.array(
        [[("a", n), ("b", 300 - n)] for n in range(rows)], pa.map_(pa.string(), "int64")
    )
    return pa.table({"id": range(rows), "user": users, "more": pairs})


@pytest.mark.parametrize(
    ("holds", "left", "most_calls"),
    [
        (
            lambda it: any(each and each["score"] != each["score"] for each in column(it, "user")),
            "user: struct<score: double>\n{'score': nan}",
            40,
        ),
        (
            lambda it: any(
                each and isinstance(each["tags"], list) and "t250" in each["tags"]
                for each in column(it, "user")
            ),
            "user: struct<tags: list<element: string>>\n{'tags': ['t250']}",
            60,
        ),
        (
            lambda it: any(dict(each or ()).get("b", 0) > 200 for each in column(it, "more")),
            "more: map<string, int64 ('more')>\n[('b', 201)]",
            60,
        ),
    ],
)
def test_nested_columns_lose_fields_and_items(
    holds: Callable[[bytes], object], left: str, most_calls: int
) -> None:
    assert left_of(parquet(nested()), holds, most_calls) == left


def test_a_dictionary_holds_nothing_but_what_its_rows_say() -> None:
    text = pa.array([f"a city with the number {n}" for n in range(600)]).dictionary_encode()

    def holds(it: bytes) -> bool:
        field = table_of(it).schema.field("city")
        return bool(pa.types.is_dictionary(field.type)) and None not in column(it, "city")

    done = shrunk(feather(pa.table({"city": text})), fails_if(holds))

    assert len(done.reduction.payload) < 1000
    assert done.calls <= 40


def test_how_a_file_is_stored_is_kept_only_where_it_matters() -> None:
    def has_groups(it: bytes) -> bool:
        file = pyarrow.parquet.ParquetFile(io.BytesIO(it))
        return file.num_row_groups > 1 and "id" in file.schema.names

    def is_packed(it: bytes) -> bool:
        found = pyarrow.parquet.ParquetFile(io.BytesIO(it)).metadata
        codec = found.row_group(0).column(0).compression
        return bool(found.num_row_groups == 1 and codec == "SNAPPY")

    assert left_of(parquet(people()), has_groups, 100) == "id: int64\n0\n0"
    assert left_of(parquet(people(30)), is_packed, 60) == "id: int64"


def test_a_stream_of_record_batches_keeps_as_many_as_matter() -> None:
    def has_three(it: bytes) -> bool:
        with pyarrow.ipc.open_stream(it) as batches:
            found = list(batches)
        return len(found) > 2 and "id" in found[0].schema.names

    assert left_of(stream(people()), has_three, 100) == "id: int64\n0\n0\n0"


@pytest.mark.slow
def test_two_cells_of_a_workbook() -> None:
    def holds(it: bytes) -> bool:
        cells = cells_of(it)
        is_late = any(isinstance(each, dt.datetime) and each.year == 2025 for each in cells)
        return is_late and "oops" in cells

    shown = str(left_of(workbook(), holds, 80))

    assert shown.splitlines()[:3] == ["a:", "A       B", "'oops'  None"]
    assert len(shown.splitlines()) == 4


@pytest.mark.slow
def test_a_formula_of_a_workbook_stays_one() -> None:
    def holds(it: bytes) -> bool:
        sheet = openpyxl.load_workbook(io.BytesIO(it))["Data of 2024"]
        return any(str(each).startswith("=A") for row in sheet.values for each in row)

    assert left_of(workbook(), holds, 40) == "Data of 2024:\nA\n'=A'"


def table(*, twins: bool) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(["id", "name", "city", "amount", "note"])
    for number in range(ROWS):
        note = f'said "hi", then\nleft {number}' if number % 50 == 0 else f"n{number}"
        row = [number, f"user{number}", "Rome", number * 0.37, note]
        if number == 3000:
            row[0] = 9000 if twins else number
            row[2] = "Rome" if twins else "Paris"
        if number == 8000 and not twins:
            row[3] = -17.25
        writer.writerow(row)
    return file.getvalue().encode()


def rows_of(payload: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(payload.decode(), newline="")))


@pytest.mark.slow
def test_two_equal_rows_of_a_csv() -> None:
    def holds(it: bytes) -> bool:
        found = [row["id"] for row in rows_of(it)]
        return len(set(found)) < len(found)

    payload = table(twins=True)
    done = shrunk(payload, fails_if(holds), name="x.csv")

    assert done.reduction.payload == b"id\n0\n0"
    assert done.calls <= 100


@pytest.mark.slow
def test_two_rows_of_a_csv_that_interact_are_left_in_few_calls() -> None:
    def holds(it: bytes) -> bool:
        rows = rows_of(it)
        is_there = any(row["city"] == "Paris" for row in rows)
        return is_there and any(float(row["amount"] or 0) < 0 for row in rows)

    done = shrunk(table(twins=False), fails_if(holds), name="x.csv")

    assert done.reduction.payload == b"city,amount\nParis,-1"
    small = next(
        at
        for at, (each, verdict) in enumerate(done.told)
        if verdict is Verdict.BAD and len(rows_of(each.data)) <= 2
    )
    assert small <= 60
    assert done.calls <= 250


def test_where_hundreds_of_rows_stay_a_column_takes_one_trial() -> None:
    def holds(it: bytes) -> bool:
        rows = rows_of(it)
        return sum(float(row["amount"]) >= 0 and row["city"] != "" for row in rows) >= 50

    done = shrunk(table(twins=False), fails_if(holds), name="x.csv", format_name="csv")

    assert done.reduction.payload.splitlines() == [b"city,amount", *[b"0,0"] * 50]
    made = {each.by_pass: verdict for each, verdict in done.told if verdict is Verdict.BAD}
    assert "put 0 in columns" in made


def rugged(table_: Any) -> Any:
    return table_.slice(0, 6)


EXAMPLES = {
    "parquet": [parquet(rugged(people(12)))],
    "arrow": [feather(rugged(people(12)))],
    "arrow stream": [stream(rugged(people(12)))],
    "excel": [workbook()],
}


@pytest.mark.parametrize("layout", [PARQUET, ARROW, ARROW_STREAM, EXCEL], ids=lambda it: it.name)
def test_formats_keep_their_promises(layout: Any) -> None:
    examples = [payload for payloads in EXAMPLES.values() for payload in payloads]

    check_format(layout.format(), [b"", b"PAR1", *examples])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("parquet", marks=pytest.mark.long),
        "arrow",
        pytest.param("arrow stream", marks=pytest.mark.long),
    ],
)
def test_passes_keep_their_promises(name: str) -> None:
    kind = KINDS[name]
    for each in kind.passes:
        check_pass(
            each,
            EXAMPLES[name],
            is_valid=lambda payload: not payload or kind.claims(payload, ""),
            order=kind.order,
        )


def test_a_workbook_of_the_same_cells_is_the_same_bytes() -> None:
    view = EXCEL.parse(workbook())
    assert view is not None

    again = view.written(lambda: view.sheets)

    assert view.written(lambda: view.sheets) == again
    assert kinds_of(again)[0].name == "excel"
    assert cells_of(again) == cells_of(workbook())


def test_the_number_of_jobs_changes_nothing() -> None:
    payload = parquet(people(60))

    for jobs in (2, 5):
        judge: Judge = fails_if(has_twins)
        assert shrunk_ahead(payload, judge, jobs) == shrunk(payload, judge).reduction


def test_a_broken_table_is_no_table() -> None:
    whole = parquet(people(30))
    broken = [whole[:400] + whole[-8:], b"PAR1PAR1", b"ARROW1ARROW1", workbook()[:3000]]
    broken += [b"\xff\xff\xff\xff", stream(people(30))[:-400], stream(people(30))[:9]]
    names = {"parquet", "arrow", "arrow stream", "excel"}

    assert [kinds_of(each)[0].name in names for each in broken] == [False] * len(broken)


def test_a_number_that_a_column_cannot_hold_is_no_candidate() -> None:
    payload = parquet(pa.table({"a": pa.array([7], pa.int8())}))
    view = PARQUET.parse(payload)
    assert view is not None

    written = view.with_sheet(0, lambda sheet: sheet.with_column(0, [10**6]))

    assert written == b""
    assert KINDS["parquet"].order.is_better(payload, written)


def dressed_workbook() -> bytes:
    """Two sheets of numbers; one has bold heads, a red cell, merged cells and is not the only one."""
    book = openpyxl.Workbook()
    for title in ("Plain", "Dressed", "Hidden one"):
        sheet = book.create_sheet(title)
        for row in range(30):
            sheet.append([row, f"n{row}", row * 0.25, row % 3])
    del book["Sheet"]
    dressed = book["Dressed"]
    for cell in dressed[1]:
        cell.font = openpyxl.styles.Font(bold=True)
    dressed["C7"].fill = openpyxl.styles.PatternFill("solid", fgColor="FFFF0000")
    dressed["C9"].number_format = "0.00%"
    dressed.merge_cells("A12:C14")
    dressed.merge_cells("B20:B22")
    book["Hidden one"].sheet_state = "hidden"
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def sheets_of(payload: bytes) -> list[Any]:
    return list(openpyxl.load_workbook(io.BytesIO(payload)).worksheets)


def is_merged(payload: bytes) -> bool:
    return any(len(each.merged_cells.ranges) > 0 for each in sheets_of(payload))


def is_red(payload: bytes) -> bool:
    cells = (cell for sheet in sheets_of(payload) for row in sheet.iter_rows() for cell in row)
    return any(cell.fill.fgColor.rgb == "FFFF0000" for cell in cells)


def is_in_percent(payload: bytes) -> bool:
    cells = (cell for sheet in sheets_of(payload) for row in sheet.iter_rows() for cell in row)
    return any(cell.number_format == "0.00%" for cell in cells)


def is_hidden(payload: bytes) -> bool:
    return any(each.sheet_state == "hidden" for each in sheets_of(payload))


@pytest.mark.parametrize(
    ("holds", "left"),
    [
        pytest.param(is_merged, ["a:", "A", "0", "None", "merged A1:A2"], marks=pytest.mark.long),
        (is_red, ["a:", "A", "0", "A1 looks: fill FFFF0000"]),
        pytest.param(is_in_percent, ["a:", "A", "0", "A1 looks: '0.00%'"], marks=pytest.mark.long),
    ],
)
def test_what_a_workbook_shows_is_kept_where_it_matters(
    holds: Callable[[bytes], bool], left: list[str]
) -> None:
    assert str(left_of(dressed_workbook(), holds, 90)).splitlines() == left


def test_a_hidden_sheet_stays_beside_one_that_is_shown() -> None:
    shown = str(left_of(dressed_workbook(), is_hidden, 60)).splitlines()

    assert "hidden" in shown
    assert sum(line.endswith("without columns") for line in shown) == 2


def test_a_workbook_with_all_that_it_shows_is_written_as_it_was_read() -> None:
    payload = dressed_workbook()
    shown = str(readable(payload))
    view = EXCEL.parse(payload)
    assert view is not None

    assert readable(EXCEL.write(view.sheets)) == shown
    assert shown.count("merged") == 2
    assert shown.count("looks: bold") == 4


def test_json_in_the_last_column_of_a_csv_is_still_json() -> None:
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    writer.writerow(["id", "meta"])
    for number in range(300):
        age = -5 if number == 211 else number
        meta = {"user": {"name": f"u{number}", "tags": ["x", "y"], "age": age}}
        writer.writerow([number, json.dumps(meta)])

    def holds(it: bytes) -> bool:
        return any(json.loads(row["meta"])["user"]["age"] < 0 for row in rows_of(it))

    done = shrunk(file.getvalue().encode(), fails_if(holds), name="x.csv")

    assert done.reduction.payload == b'meta\n"{""user"":{""age"":-1}}"'
    assert done.calls <= 330


def test_text_with_a_doubled_quote_in_one_line_is_no_column_unless_the_line_is_a_cell() -> None:
    assert parse_csv(b'a\n"say ""hi"""\n') is not None
    assert parse_csv(b'a\nsay ""hi""\n') is None
    assert parse_csv(b'a\n""\n') is None
    assert parse_csv(b'a\n"b"\n') is None
