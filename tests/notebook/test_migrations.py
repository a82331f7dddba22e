import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from record_builder import a_trial, failing, same

from whet import __version__
from whet.core.errors import NotebookTooNew
from whet.core.observations.resources import ResourceUse
from whet.notebook.blobs import BlobStore
from whet.notebook.database import Database
from whet.notebook.migrations import MIGRATIONS, Migration, statements
from whet.notebook.notebook import FILE_NAME, Notebook
from whet.notebook.schema import SCHEMA, SCHEMA_VERSION

LATER = (
    Migration("give trials a mood", "ALTER TABLE trial ADD COLUMN mood TEXT;\n"),
    Migration(
        "count the moods",
        """
        -- Two statements, of which one has a semicolon inside.
        CREATE TABLE mood (name TEXT PRIMARY KEY, trials INTEGER NOT NULL) STRICT;
        CREATE TRIGGER mood_counted AFTER INSERT ON trial WHEN new.mood IS NOT NULL BEGIN
            INSERT OR IGNORE INTO mood VALUES (new.mood, 0);
            UPDATE mood SET trials = trials + 1 WHERE name = new.mood;
        END;
        """,
    ),
)
ALL = (*MIGRATIONS, *LATER)


def open_with(path: Path, migrations: Sequence[Migration]) -> None:
    Database(path, migrations).close()


def shape(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    connection.close()
    return {" ".join(sql.split()) for (sql,) in rows}


def history(path: Path) -> list[tuple[int, str, str]]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT version, description, whet_version FROM migration").fetchall()
    connection.close()
    return rows


def test_there_is_a_migration_to_every_version() -> None:
    assert len(MIGRATIONS) == SCHEMA_VERSION


def test_a_new_notebook_has_the_newest_schema(tmp_path: Path) -> None:
    Notebook.open(tmp_path).close()
    by_text = sqlite3.connect(tmp_path / "text.db")
    by_text.executescript(SCHEMA)
    by_text.close()

    assert shape(tmp_path / FILE_NAME) == shape(tmp_path / "text.db")


@pytest.mark.parametrize("start", range(len(ALL) + 1))
def test_every_older_version_becomes_the_newest_one(tmp_path: Path, start: int) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    open_with(old, ALL[:start])
    open_with(old, ALL)
    open_with(new, ALL)

    assert shape(old) == shape(new)
    assert history(old) == [
        (at + 1, migration.description, __version__) for at, migration in enumerate(ALL)
    ]


def test_trials_outlive_a_migration(tmp_path: Path) -> None:
    with Notebook.open(tmp_path) as notebook:
        number = notebook.begin(a_trial(), verb="run")
        notebook.finish(number, failing())

    with Notebook(Database(tmp_path / FILE_NAME, ALL), BlobStore(tmp_path / "blobs")) as notebook:
        assert same(failing(), notebook.trial(number).outcome)
        assert notebook.begin(a_trial(), verb="run") == number + 1


def test_a_migration_that_fails_leaves_the_version_before(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    broken = Migration("half", "CREATE TABLE half (x);\nCREATE TABLE trial (x);\n")
    open_with(path, MIGRATIONS)
    open_with(tmp_path / "later.db", ALL)

    with pytest.raises(sqlite3.OperationalError, match="already exists"):
        open_with(path, (*ALL, broken))

    assert shape(path) == shape(tmp_path / "later.db")
    assert [version for version, _, _ in history(path)] == list(range(1, len(ALL) + 1))
    with pytest.raises(NotebookTooNew):
        open_with(path, MIGRATIONS)
    open_with(path, ALL)


def test_a_notebook_of_a_newer_whet_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    open_with(path, ALL)
    before = path.read_bytes()

    with pytest.raises(NotebookTooNew, match=f"`{path}` has version {len(ALL)}") as caught:
        Notebook.open(tmp_path)

    assert "WHET_DIR" in caught.value.hint
    assert path.read_bytes() == before


def test_an_unfinished_statement_is_a_bug() -> None:
    with pytest.raises(AssertionError, match="unfinished"):
        list(statements("SELECT 1;\nSELECT 2"))


def test_a_notebook_of_the_first_version_learns_to_keep_what_trials_used(tmp_path: Path) -> None:
    open_with(tmp_path / FILE_NAME, MIGRATIONS[:1])
    use = ResourceUse(
        seconds=(0.1,), memory_bytes=(7,), cpu_seconds=(0.0,), files=(3,),
        read_bytes=(0,), written_bytes=(9,), processes=(1,),
    )  # fmt: skip
    with Notebook.open(tmp_path) as notebook:
        number = notebook.begin(a_trial(), verb="run")
        notebook.finish(number, replace(failing(), resources=use))
        assert notebook.resources_of(number) == use
        other = notebook.begin(a_trial(), verb="run")
        notebook.finish(other, failing())
        assert notebook.resources_of(other) is None
