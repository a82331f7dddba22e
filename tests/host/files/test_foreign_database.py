"""A database that somebody else made is read; nothing in it acts."""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from whet.host.files.foreign_database import open_foreign_database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database whose view calls a function, and whose text isn't UTF-8."""
    path = tmp_path / "it's 100%?.db"
    with closing(sqlite3.connect(path)) as database:
        database.create_function("act", 0, lambda: 1)
        database.execute("CREATE TABLE t (x)")
        database.execute("INSERT INTO t VALUES (CAST(x'ff61' AS TEXT))")
        database.execute("CREATE VIEW v AS SELECT act()")
        database.commit()
    return path


def test_a_schema_cannot_call_a_function_that_acts(path: Path) -> None:
    acted: list[bool] = []
    with closing(open_foreign_database(path)) as database:
        database.create_function("act", 0, lambda: acted.append(True))
        with pytest.raises(sqlite3.OperationalError, match="unsafe use of act"):
            database.execute("SELECT * FROM v").fetchall()

    assert not acted


def test_it_is_read_whatever_its_name_and_text_and_never_written(path: Path) -> None:
    before = path.read_bytes()
    with closing(open_foreign_database(path)) as database:
        assert database.execute("SELECT x FROM t").fetchall() == [("\udcffa",)]
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            database.execute("INSERT INTO t VALUES (1)")

    assert path.read_bytes() == before


def test_no_value_is_larger_than_the_file(path: Path) -> None:
    with (
        closing(open_foreign_database(path)) as database,
        pytest.raises(sqlite3.DataError, match="too big"),
    ):
        database.execute("SELECT zeroblob(1 << 20)").fetchall()


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs Connection.getconfig (Python 3.12)")
def test_it_is_opened_in_the_defensive_mode(path: Path) -> None:
    with closing(open_foreign_database(path)) as database:
        if sys.version_info >= (3, 12):
            assert database.getconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE)


def test_one_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_foreign_database(tmp_path / "none.db")

    assert not (tmp_path / "none.db").exists()
