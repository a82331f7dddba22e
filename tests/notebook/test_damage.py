import fcntl
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from record_builder import a_trial, failing, same

from whet.core.errors import HostFailure, NotebookBusy, NotebookDamaged, NotebookTooNew
from whet.notebook.database import Database
from whet.notebook.migrations import MIGRATIONS
from whet.notebook.notebook import FILE_NAME, Notebook


def recorded(folder: Path, trials: int = 40) -> Path:
    with Notebook.open(folder) as notebook:
        for _ in range(trials):
            notebook.finish(notebook.begin(a_trial(), verb="run"), failing())
    return folder / FILE_NAME


def everything_in(folder: Path) -> dict[str, bytes | None]:
    return {
        each.name: each.read_bytes() if each.is_file() else None
        for each in folder.iterdir()
        if not each.name.endswith("-shm")
    }


def put_nothing(path: Path) -> None:
    path.touch()


def put_a_link(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))


def put_a_pipe(path: Path) -> None:
    os.mkfifo(path)


def put_a_folder(path: Path) -> None:
    path.mkdir()


def put_a_database(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE trial (number INTEGER PRIMARY KEY)")
    connection.close()


IN_A_PROCESS_THAT_IS_KILLED = """
import os, signal, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA journal_mode = " + sys.argv[2])
connection.execute("PRAGMA cache_size = 1")
connection.execute("CREATE TABLE theirs (data)")
connection.execute("BEGIN")
for _ in range(100):
    connection.execute("INSERT INTO theirs VALUES (zeroblob(4000))")
if sys.argv[2] == "WAL":
    connection.execute("COMMIT")
os.kill(os.getpid(), signal.SIGKILL)
"""


def put_what_a_killed_program_left(path: Path, journal: str) -> None:
    subprocess.run([sys.executable, "-c", IN_A_PROCESS_THAT_IS_KILLED, path, journal], check=False)
    assert path.with_name(f"{path.name}-{'wal' if journal == 'WAL' else 'journal'}").stat().st_size


def put_the_rest_of_a_notebook(path: Path) -> None:
    put_what_a_killed_program_left(path, "WAL")
    path.unlink()


@pytest.mark.parametrize(
    ("put", "said"),
    [
        (put_nothing, "is empty"),
        (put_a_link, "a link to a file that doesn't exist"),
        (put_a_pipe, "is not a file"),
        (put_a_folder, "is a folder"),
        (put_a_database, "of another program"),
        (partial(put_what_a_killed_program_left, journal="WAL"), "of another program"),
        (partial(put_what_a_killed_program_left, journal="DELETE"), "of another program"),
        (put_the_rest_of_a_notebook, "is gone"),
    ],
)
def test_what_is_no_notebook_is_said_to_be_none_and_stays_as_it_is(
    tmp_path: Path, put: Callable[[Path], None], said: str
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    path = state / FILE_NAME
    put(path)
    before = everything_in(state)

    with pytest.raises(NotebookDamaged, match=said) as caught:
        Notebook.open(state)

    assert str(path) in str(caught.value)
    assert everything_in(state) == before
    aside = caught.value.hint.split("`")[1]
    assert aside.startswith("mkdir ")
    subprocess.run(aside, shell=True, check=True)
    with Notebook.open(state) as notebook:
        assert notebook.begin(a_trial(), verb="run") == 1


def test_whoever_is_killed_while_it_makes_a_notebook_leaves_none(tmp_path: Path) -> None:
    (tmp_path / f".{FILE_NAME}.part").write_bytes(b"SQLite format 3\0 and so on")
    (tmp_path / f".{FILE_NAME}.part-journal").write_bytes(b"half")

    with Notebook.open(tmp_path) as notebook:
        assert notebook.begin(a_trial(), verb="run") == 1
        assert {each.name for each in tmp_path.glob("*.part*")} == set()


def test_a_notebook_that_somebody_makes_just_now_is_waited_for(tmp_path: Path) -> None:
    maker = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(maker, fcntl.LOCK_EX)

    with pytest.raises(NotebookBusy, match=str(tmp_path)):
        Database(tmp_path / FILE_NAME, patience_seconds=0.02)

    threading.Timer(0.05, os.close, [maker]).start()
    Database(tmp_path / FILE_NAME).close()


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
        with pytest.raises(NotebookDamaged, match="can't read trial 2"):
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
        pytest.raises(NotebookDamaged, match=f"can't read trial {number}"),
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


def test_a_file_to_bring_up_to_date_that_somebody_holds_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    Database(path, MIGRATIONS[:1]).close()
    other = held(path)

    with pytest.raises(NotebookBusy):
        Database(path, patience_seconds=0.02)

    threading.Timer(0.05, other.close).start()
    Database(path).close()


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
