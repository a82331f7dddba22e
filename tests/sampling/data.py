"""Data to take samples of, as real libraries write it."""

import csv
import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
from pyarrow import feather, ipc, parquet

from whet.sampling.kinds import open_source
from whet.sampling.selection import Wish, select
from whet.sampling.table import Source

Row: TypeAlias = Mapping[str, Any]


def some_rows(count: int) -> list[Row]:
    """Return rows with a number, a text that repeats, one that is hard to quote, and missing values."""
    return [
        {
            "id": number,
            "country": ("DE", "FR", None, "IT")[number % 4],
            "amount": None if number % 11 == 5 else (number * 37 % 101) - 20.5,
            "note": f'says "{number}",\nthen goes' if number % 7 == 3 else "plain",
        }
        for number in range(count)
    ]


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "country", "amount", "note"])
        writer.writerows(row.values() for row in rows)


def read_csv(path: Path) -> list[Row]:
    with path.open(newline="") as file:
        return [
            {
                **row,
                "id": int(row["id"]),
                "country": row["country"] or None,
                "amount": float(row["amount"]) if row["amount"] else None,
            }
            for row in csv.DictReader(file)
        ]


def write_json(path: Path, rows: Sequence[Row]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def read_json(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def as_table(rows: Sequence[Row]) -> Any:
    schema = pa.schema(
        [
            pa.field("id", pa.int32(), nullable=False),
            pa.field("country", pa.dictionary(pa.int8(), pa.string())),
            pa.field("amount", pa.float32()),
            pa.field("note", pa.string(), metadata={"of": "the clerk"}),
        ],
        metadata={"made by": "a test"},
    )
    return pa.Table.from_pylist([dict(row) for row in rows], schema)


def _read_table(table: Any) -> list[Row]:
    return list(table.to_pylist())


def write_parquet(path: Path, rows: Sequence[Row]) -> None:
    parquet.write_table(as_table(rows), path, row_group_size=13, compression="zstd")


def write_feather(path: Path, rows: Sequence[Row]) -> None:
    feather.write_feather(as_table(rows), str(path), compression="lz4", chunksize=13)


def write_arrow(path: Path, rows: Sequence[Row]) -> None:
    with ipc.new_file(str(path), as_table(rows).schema) as writer:
        writer.write_table(as_table(rows), 13)


def write_stream(path: Path, rows: Sequence[Row]) -> None:
    with ipc.new_stream(str(path), as_table(rows).schema) as writer:
        writer.write_table(as_table(rows), 13)


def write_database(path: Path, rows: Sequence[Row]) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, country, amount REAL, note TEXT)")
        database.executemany(
            "INSERT INTO t VALUES (?, ?, ?, ?)", [tuple(row.values()) for row in rows]
        )


def read_database(path: Path) -> list[Row]:
    with closing(sqlite3.connect(path)) as database:
        database.row_factory = sqlite3.Row
        return [dict(row) for row in database.execute("SELECT * FROM t ORDER BY id")]


Format: TypeAlias = tuple[str, Callable[[Path, Sequence[Row]], None], Callable[[Path], list[Row]]]

FORMATS: Mapping[str, Format] = {
    "csv": ("t.csv", write_csv, read_csv),
    "json lines": ("t.jsonl", write_json, read_json),
    "parquet": ("t.parquet", write_parquet, lambda path: _read_table(parquet.read_table(path))),
    "feather": ("t.feather", write_feather, lambda path: _read_table(feather.read_table(path))),
    "arrow": ("t.arrow", write_arrow, lambda path: _read_table(ipc.open_file(path).read_all())),
    "stream": (
        "t.arrows",
        write_stream,
        lambda path: _read_table(ipc.open_stream(path).read_all()),
    ),
    "sqlite": ("t.db", write_database, read_database),
}


def sampled(path: Path, wish: Wish, target: Path) -> Source:
    """Write a sample of a file of one table, and return the source it is of."""
    source = open_source(path, path.name)
    (table,) = source.tables
    chosen = {table.name: list(select(table, wish).places)}
    source.write(chosen, target)
    return source
