"""A database from somebody else: what it computes takes no memory, and odd texts stay as they are."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from whet.core.errors import CannotSample, UnknownFormat
from whet.make.tables.like import columns_like
from whet.sampling.kinds import open_source
from whet.sampling.selection import Wish, select


def database(path: Path, computed: str) -> Path:
    with closing(sqlite3.connect(path)) as made:
        made.execute(f"CREATE TABLE t (a INTEGER, b AS ({computed}))")
        made.executemany("INSERT INTO t (a) VALUES (?)", [(number,) for number in range(50)])
        made.commit()
    return path


def test_a_value_that_is_larger_than_the_file_is_refused(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db", "zeroblob(900000000)")
    with pytest.raises(UnknownFormat, match="too big"):
        columns_like(path)
    (table,) = open_source(path, "a.db").tables
    assert select(table, Wish(rows=3)).places == [1, 2, 3]
    with pytest.raises(CannotSample, match="too big"):
        select(table, Wish(rows=3, extremes=True))


def test_a_text_that_is_not_utf_8_stays_the_same_bytes(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as made:
        made.execute("CREATE TABLE t (a INTEGER, b)")
        made.execute("INSERT INTO t VALUES (1, CAST(x'ff41' AS TEXT)), (2, 'é'), (3, x'ff')")
        made.commit()
    source = open_source(tmp_path / "a.db", "a.db")
    source.write({"t": [1, 2, 3]}, tmp_path / "out.db")
    with closing(sqlite3.connect(tmp_path / "out.db")) as written:
        rows = written.execute("SELECT a, typeof(b), hex(b) FROM t ORDER BY a").fetchall()
    assert rows == [(1, "text", "FF41"), (2, "text", "C3A9"), (3, "blob", "FF")]


def test_a_value_that_fits_is_read(tmp_path: Path) -> None:
    path = database(tmp_path / "a.db", "a * 2")
    assert [each.name for each in columns_like(path)] == ["a", "b"]
