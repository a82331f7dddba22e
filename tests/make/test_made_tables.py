"""Tables from nothing: what whet writes, the library of the format reads; each type, each fill."""

import csv
import hashlib
import io
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import whet
from whet.core.errors import (
    BadUsage,
    NotEnoughMemory,
    PayloadMissing,
    PayloadUnreadable,
    UnknownFormat,
    WhetError,
)
from whet.make.edges import HUGE, LONE_SURROGATE, TEXTS
from whet.make.elements.fills import FILLS, Filling
from whet.make.explain import guards_like
from whet.make.tables.columns import TYPES, Column, FilledTable, columns_named, filled_table
from whet.make.tables.like import columns_like
from whet.make.tables.sqlite_file import sqlite_bytes
from whet.make.tables.table_files import TABLE_FILES

names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=5)
columns = st.lists(
    st.builds(
        Column, name=names, type=st.sampled_from(TYPES), is_nullable=st.booleans()
    ),
    min_size=1, max_size=5, unique_by=lambda column: column.name.casefold(),
)  # fmt: skip
fills = st.sampled_from(sorted({*FILLS} - {"coordinates"}))
rows = st.integers(0, 40)


def made(columns: Sequence[Column], rows: int, fill: str, **how: Any) -> FilledTable:
    return filled_table(columns, rows, Filling(name=fill, **how))


def as_text(value: object) -> str:
    if value is None:
        return ""
    return value.hex() if isinstance(value, bytes) else getattr(value, "isoformat", value.__str__)()


@given(columns, rows, fills)
def test_csv_has_each_value_of_each_row(columns: list[Column], rows: int, fill: str) -> None:
    table = made(columns, rows, fill)

    content = TABLE_FILES[".csv"](table).decode("utf-8", "surrogatepass")
    header, *held = csv.reader(io.StringIO(content, newline=""))

    assert header == [each.name for each in columns]
    assert held == [[as_text(each) for each in row] for row in table.rows]


@given(columns, rows, fills)
def test_json_has_each_value_of_each_row(columns: list[Column], rows: int, fill: str) -> None:
    table = made(columns, rows, fill)

    lines = TABLE_FILES[".jsonl"](table).decode().splitlines()
    held = json.loads(TABLE_FILES[".json"](table))

    assert repr([json.loads(line) for line in lines]) == repr(held)
    assert len(held) == rows
    for row, values in zip(held, table.rows, strict=True):
        for column, value in zip(columns, values, strict=True):
            is_text = not isinstance(value, bool | int | float | None)
            assert repr(row[column.name]) == repr(as_text(value) if is_text else value)


@given(columns, rows, fills)
def test_pyarrow_reads_parquet_and_arrow(columns: list[Column], rows: int, fill: str) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    feather = pytest.importorskip("pyarrow.feather")
    table = made(columns, rows, fill).without(LONE_SURROGATE)

    for held in (
        parquet.read_table(io.BytesIO(TABLE_FILES[".parquet"](table))),
        feather.read_table(io.BytesIO(TABLE_FILES[".arrow"](table))),
    ):
        assert held.column_names == [each.name for each in columns]
        assert repr([each.to_pylist() for each in held.columns]) == repr(
            list(map(list, table.values))
        )


@given(columns, rows, fills)
def test_sqlite_holds_each_row(columns: list[Column], rows: int, fill: str) -> None:
    table = made(columns, rows, fill)

    with closing(sqlite3.connect(":memory:")) as connection:
        connection.deserialize(sqlite_bytes(table, 'a "table"'))
        held = connection.execute('SELECT * FROM "a ""table"""').fetchall()
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert len(held) == rows


@given(columns, rows, fills)
def test_a_table_is_the_same_each_time(columns: list[Column], rows: int, fill: str) -> None:
    for write in TABLE_FILES.values():
        assert write(made(columns, rows, fill)) == write(made(columns, rows, fill))
    again = made(columns, rows, fill)
    assert sqlite_bytes(made(columns, rows, fill), "x") == sqlite_bytes(again, "x")


def test_random_rows_are_the_same_on_every_machine() -> None:
    table = made(columns_named(",".join(f"{each}_:{each}" for each in TYPES)), 50, "random", seed=4)

    assert hashlib.sha256(TABLE_FILES[".csv"](table)).hexdigest()[:16] == "4b65a1dd359618ea"
    assert hashlib.sha256(sqlite_bytes(table, "x")).hexdigest()[:16] == "130b2dfea5f30c9b"


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".json", ".parquet", ".feather"])
@pytest.mark.parametrize("null", ["", "?"])
def test_a_table_like_a_file_has_its_columns(tmp_path: Path, ending: str, null: str) -> None:
    if ending in {".parquet", ".feather"}:
        pytest.importorskip("pyarrow")
    text = ",".join(f"{each} column:{each}{null}" for each in _kept_by(ending))
    path = tmp_path / f"a{ending}"
    path.write_bytes(TABLE_FILES[ending](made(columns_named(text), 5, "random")))

    assert ",".join(map(str, columns_like(path))) == text


def _kept_by(ending: str) -> Sequence[str]:
    if ending in {".parquet", ".feather"}:
        return TYPES
    return ("bool", "int64", "float64", "str", "date", "datetime")


def test_names_of_a_real_file_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,,a,,a_\n1,2,x\n")

    assert [each.name for each in columns_like(tmp_path / "a.csv")] == [
        "a", "column1", "a_", "column3", "a__",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("a.xls", b"", UnknownFormat),
        ("a.csv", b"", UnknownFormat),
        ("a.jsonl", b"{\n", UnknownFormat),
        ("a.jsonl", b"[1]\n", UnknownFormat),
        ("a.json", b"[]", UnknownFormat),
        ("a.parquet", b"PAR1", UnknownFormat),
        ("a.feather", b"", UnknownFormat),
        ("gone.csv", None, PayloadMissing),
        ("gone.parquet", None, PayloadMissing),
        ("folder.csv", None, PayloadUnreadable),
    ],
)
def test_a_file_without_columns_is_refused(
    tmp_path: Path, name: str, content: bytes | None, error: type[WhetError]
) -> None:
    if "parquet" in name or "feather" in name:
        pytest.importorskip("pyarrow")
    if content is not None:
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder.csv").mkdir()

    with pytest.raises(error):
        columns_like(tmp_path / name)


def test_a_coordinate_names_the_row_and_the_column() -> None:
    table = made(columns_named("a:int64,b:float64,c:str,d:bool"), 3, "coordinates")

    assert table.rows[2][:3] == (2000, 2001.0, "2002")


def test_a_table_is_read_in_the_order_of_its_rows() -> None:
    table = made(columns_named("a,b:float64,c:str,d:date?"), 3, "count")

    assert table.rows == [
        (1, 2.0, "c1", date(2024, 1, 1)),
        (5, 6.0, "c2", date(2024, 1, 2)),
        (9, 10.0, "c3", None),
    ]


def test_the_edges_of_texts_are_all_there() -> None:
    (texts,) = made(columns_named("a:str"), len(TEXTS), "edge").values

    assert tuple(texts) == TEXTS
    assert {"", LONE_SURROGATE} < {*texts}
    assert max(map(len, map(str, texts))) == HUGE


@pytest.mark.parametrize(
    ("text", "hint"),
    [("a:itn64", "`int64`"), ("a,a", "--columns"), ("", "--columns"), ("a:complex64", "`str`")],
)
def test_columns_that_can_not_be_are_refused(text: str, hint: str) -> None:
    with pytest.raises(BadUsage) as caught:
        columns_named(text)
    assert hint in caught.value.hint or "there are" in caught.value.hint


def test_what_a_table_can_not_be_is_refused() -> None:
    with pytest.raises(BadUsage, match="-1 rows"):
        made(columns_named("a"), -1, "count")
    with pytest.raises(BadUsage, match="`deadbeaf` is not a fill of a table"):
        made(columns_named("a"), 1, "deadbeaf")
    with pytest.raises(BadUsage, match="int8 can't tell the coordinates"):
        made(columns_named("a:int8,b"), 2, "coordinates")
    with pytest.raises(NotEnoughMemory, match="a table of 1000000000000 rows"):
        made(columns_named("a"), 10**12, "count")


def test_in_python_a_table_without_a_library_is_a_dict() -> None:
    assert whet.make.table(library="dict") == {"a": [1, 3], "b": [2, 4]}
    with closing(whet.make.sqlite("a,b:str", 2, name="t")) as connection:
        assert connection.execute("SELECT * FROM t").fetchall() == [(1, "b1"), (3, "b2")]


def database(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as opened, opened:
        for statement in statements:
            opened.execute(statement)
    return path


def test_a_table_like_one_of_a_database_has_its_columns(tmp_path: Path) -> None:
    path = database(
        tmp_path / "a.db",
        "CREATE TABLE orders (id INTEGER, amount REAL, note TEXT, raw BLOB, day, size INT, gone DATETIME)",
        "INSERT INTO orders VALUES (1, 2.5, NULL, x'00', '2024-01-02', NULL, NULL), (2, 3, 'a', x'01', NULL, NULL, NULL)",
    )
    text = "id:int64,amount:float64,note:str?,raw:bytes,day:date?,size:int64?,gone:datetime?"

    assert ",".join(map(str, columns_like(path))) == text
    assert ",".join(map(str, columns_like(tmp_path / "a.db:orders"))) == text

    database(path, "CREATE TABLE customers (id INTEGER)")
    assert ",".join(map(str, columns_like(tmp_path / "a.db:customers"))) == "id:int64"
    for name, says in (("a.db", "has 2 tables"), ("a.db:nothing", "has no table `nothing`")):
        with pytest.raises(UnknownFormat, match=says) as refused:
            columns_like(tmp_path / name)
        assert "it has customers and orders" in str(refused.value.hint)
    with pytest.raises(PayloadMissing):
        columns_like(tmp_path / "b.db")
    (tmp_path / "c.db").write_bytes(b"no database" * 100)
    with pytest.raises(UnknownFormat, match="isn't the table"):
        columns_like(tmp_path / "c.db")


def test_what_a_nested_column_holds_in_the_real_file_is_known(tmp_path: Path) -> None:
    table = pa.table({"a": [1], "b": [[1, 2]], "c": [{"x": 1}], "d": ["text"]})
    pq.write_table(table, tmp_path / "a.parquet")
    (tmp_path / "a.jsonl").write_text('{"a": 1, "b": [1, 2], "c": {"x": 1}, "d": "text"}\n')

    for name in ("a.parquet", "a.jsonl"):
        columns = columns_like(tmp_path / name)
        assert [each.type for each in columns] == ["int64", "str", "str", "str"]
        assert [bool(each.real) for each in columns] == [False, True, True, False]


@pytest.mark.parametrize("rows", [0, 1, 2, 50])
def test_guards_are_the_first_and_the_last_row_of_each_column_with_room(rows: int) -> None:
    columns = columns_named("i:int32,h:float16,f:float64,s:str?,r:bytes,d:date,b:bool")
    made = filled_table(columns, rows, Filling(name="deadbeef"))
    counted = filled_table(columns, rows, Filling())

    for column, values, plain in zip(columns, made.values, counted.values, strict=True):
        assert len(values) == rows
        assert values[1:-1] == plain[1:-1]
        if rows and column.type not in {"date", "bool"}:
            assert any("before" in each for each in guards_like(_in_hex(values[0])))
        if rows > 1 and column.type not in {"date", "bool"}:
            assert any("behind" in each for each in guards_like(_in_hex(values[-1])))


def _in_hex(value: object) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
