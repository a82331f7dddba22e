import os
import sqlite3
import threading
from pathlib import Path

import pytest
from record_builder import a_trial, failing, same

from whet.core.errors import HostFailure, NotebookBusy, NotebookDamaged, NotebookTooNew
from whet.notebook.database import Database
from whet.notebook.notebook import FILE_NAME, Notebook


def recorded(folder: Path, trials: int = 40) -> Path:
    with Notebook.open(folder) as notebook:
        for _ in range(trials):
            notebook.finish(notebook.begin(a_trial(), verb="run"), failing())
    return folder / FILE_NAME


def test_a_zero_length_file_is_a_new_notebook(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"")

    with Notebook.open(tmp_path) as notebook:
        assert notebook.begin(a_trial(), verb="run") == 1


@pytest.mark.parametrize("size", [2, 15, 50, 100, 511, 512, 4096, 50_000])
def test_a_file_that_is_no_database_is_named_and_left_as_it_is(tmp_path: Path, size: int) -> None:
    path = tmp_path / FILE_NAME
    path.write_bytes(b"not a database " * (size // 15) + b"x" * (size % 15))
    before = path.read_bytes()

    with pytest.raises(NotebookDamaged, match=f"`{path}`") as caught:
        Notebook.open(tmp_path)

    assert f"mv {path}" in caught.value.hint
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9])
def test_a_file_that_was_cut_off_is_named_and_left_as_it_is(tmp_path: Path, cut: float) -> None:
    path = recorded(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * cut)])
    before = path.read_bytes()

    with pytest.raises(NotebookDamaged, match=f"`{path}`"), Notebook.open(tmp_path) as notebook:
        list(notebook.entries())

    assert path.read_bytes() == before


def test_a_page_that_was_overwritten_is_noticed(tmp_path: Path) -> None:
    path = recorded(tmp_path)
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(data)

    with pytest.raises(NotebookDamaged), Notebook.open(tmp_path) as notebook:
        list(notebook.entries())


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE trial (number INTEGER PRIMARY KEY)")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(NotebookDamaged, match="another program"):
        Notebook.open(tmp_path)

    assert path.read_bytes() == before


def test_a_file_of_a_format_that_sqlite_does_not_know_is_named(tmp_path: Path) -> None:
    path = recorded(tmp_path, trials=1)
    data = bytearray(path.read_bytes())
    data[44:48] = (99).to_bytes(4, "big")  # the schema format of the header
    path.write_bytes(data)

    with pytest.raises(NotebookDamaged, match=f"`{path}`"):
        Notebook.open(tmp_path)


def test_a_newer_notebook_is_left_alone(tmp_path: Path) -> None:
    path = recorded(tmp_path, trials=1)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1000")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(NotebookTooNew, match="version 1000"):
        Notebook.open(tmp_path)

    assert path.read_bytes() == before


@pytest.mark.parametrize(("table", "column"), [("trial", "trial"), ("outcome", "outcome")])
@pytest.mark.parametrize("junk", ["{", "[]", "{}"])
def test_a_record_of_the_wrong_shape_names_its_trial(
    tmp_path: Path, table: str, column: str, junk: str
) -> None:
    path = recorded(tmp_path, trials=2)
    connection = sqlite3.connect(path)
    connection.execute(f"DROP TRIGGER {table}_stays")
    number = "trial" if table == "outcome" else "number"
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE {number} = 2", [junk])
    connection.commit()
    connection.close()

    with Notebook.open(tmp_path) as notebook:
        with pytest.raises(NotebookDamaged, match="trial 2 cannot be read"):
            notebook.trial(2)
        assert same(failing(), notebook.trial(1).outcome)


def test_a_cached_outcome_of_the_wrong_shape_names_its_trial(tmp_path: Path) -> None:
    with Notebook.open(tmp_path) as notebook:
        search = notebook.begin_investigation(verb="shrink", trial=a_trial())
        number = notebook.begin(a_trial(), verb="shrink", investigation=search)
        notebook.finish(number, failing())
    connection = sqlite3.connect(tmp_path / FILE_NAME)
    connection.execute("DROP TRIGGER outcome_stays")
    connection.execute("UPDATE outcome SET outcome = '{}'")
    connection.commit()
    connection.close()

    with (
        Notebook.open(tmp_path) as notebook,
        pytest.raises(NotebookDamaged, match=f"trial {number} cannot be read"),
    ):
        notebook.outcome_for(a_trial())


def held(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN IMMEDIATE")
    return connection


def test_who_holds_the_notebook_too_long_is_spoken_of(tmp_path: Path) -> None:
    path = recorded(tmp_path, trials=1)
    other = held(path)
    database = Database(path, patience_seconds=0.02)

    with (
        pytest.raises(NotebookBusy, match=f"`{path}`") as caught,
        database.transaction() as transaction,
    ):
        transaction.insert("environment", digest="", variables="")

    assert f"fuser -v {path}" in caught.value.hint
    assert database.query("SELECT number FROM trial") == [{"number": 1}], "reading needs no turn"
    other.close()
    with database.transaction() as transaction:
        transaction.insert("environment", digest="", variables="")
    database.close()


def test_a_new_file_that_somebody_holds_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    other = held(path)

    with pytest.raises(NotebookBusy):
        Database(path, patience_seconds=0.02)

    threading.Timer(0.05, other.close).start()
    Database(path).close()


def test_a_folder_in_the_place_of_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()

    with pytest.raises(Exception, match=str(tmp_path)) as caught:
        Notebook.open(tmp_path)

    assert type(caught.value).__name__ == "CannotWrite"


def test_what_the_system_refuses_is_said_with_sqlites_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = recorded(tmp_path, trials=1)
    database = Database(path)
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode, error.sqlite_errorname = 266, "SQLITE_IOERR_READ"

    def fail(_self: Database, _sql: str, _values: object = ()) -> None:
        raise error

    monkeypatch.setattr(Database, "_execute", fail)

    with pytest.raises(HostFailure, match="SQLITE_IOERR_READ"):
        database.query("SELECT 1")
    database.close()


def test_a_mistake_in_a_statement_is_not_taken_for_a_broken_machine(tmp_path: Path) -> None:
    database = Database(recorded(tmp_path, trials=1))

    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        database.query("SELECT mood FROM trial")
    database.close()
