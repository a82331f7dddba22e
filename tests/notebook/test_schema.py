import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from record_builder import a_trial, failing

from whet.core.budget import StopReason
from whet.core.verdict import Verdict
from whet.notebook import schema
from whet.notebook.notebook import FILE_NAME, Notebook

APPEND_ONLY = (
    "environment",
    "evidence",
    "investigation",
    "investigation_end",
    "judgement",
    "made",
    "outcome",
    "resource_use",
    "trial",
)


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with Notebook.open(tmp_path) as notebook:
        investigation = notebook.begin_investigation(verb="shrink", trial=a_trial())
        number = notebook.begin(a_trial(), verb="shrink", investigation=investigation)
        notebook.finish(number, failing())
        notebook.judge(number, "it fails", Verdict.BAD, None)
        notebook.end_investigation(investigation, StopReason.FOUND, {})
        notebook.save_environment({"PATH": "/bin"})
        notebook.keep_made(tmp_path / "x.npy", "whet make array -o x.npy", {"kind": "array"})
    connection = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    connection.execute(
        "INSERT INTO evidence (trial, observed_at, kind, detail) VALUES (1, '', 'stack', '{}')"
    )
    connection.execute("INSERT INTO resource_use VALUES (1, 5, 0, '{}')")
    yield connection
    connection.close()


def tables(connection: sqlite3.Connection) -> set[str]:
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {name for (name,) in rows}


@pytest.mark.parametrize("table", APPEND_ONLY)
def test_no_row_is_ever_changed_or_removed(connection: sqlite3.Connection, table: str) -> None:
    before = connection.execute(f"SELECT * FROM {table}").fetchall()
    assert before
    column = connection.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchone()[0]

    with pytest.raises(sqlite3.IntegrityError, match="is never changed"):
        connection.execute(f"UPDATE {table} SET {column} = {column}")
    with pytest.raises(sqlite3.IntegrityError, match="is never removed"):
        connection.execute(f"DELETE FROM {table}")

    assert connection.execute(f"SELECT * FROM {table}").fetchall() == before


def test_every_table_is_strict_and_every_one_but_the_history_is_protected(
    connection: sqlite3.Connection,
) -> None:
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")

    assert all(sql.rstrip().endswith("STRICT") for _, sql in rows)
    assert tables(connection) - {"migration"} == set(APPEND_ONLY)


@pytest.mark.parametrize(
    ("column", "value"), [("verdict", "'perhaps'"), ("expectation_met", "2"), ("trial", "99")]
)
def test_a_judgement_holds_only_what_may_be(
    connection: sqlite3.Connection, column: str, value: str
) -> None:
    values = {"trial": "1", "judged_at": "''", "oracle": "''", "verdict": "'bad'"} | {column: value}
    connection.execute("PRAGMA foreign_keys = ON")

    with pytest.raises(sqlite3.IntegrityError):
        connection.execute(
            f"INSERT INTO judgement ({', '.join(values)}) VALUES ({', '.join(values.values())})"
        )


def test_the_version_has_its_line_of_history() -> None:
    source = Path(schema.__file__).read_text()

    assert re.search(rf"^{schema.SCHEMA_VERSION}: ", source, re.MULTILINE)
    assert not re.search(rf"^{schema.SCHEMA_VERSION + 1}: ", source, re.MULTILINE)


def test_the_reference_page_is_that_of_this_schema() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "schema.md"

    assert page.read_text(encoding="utf-8") == schema.page(), "run `make docs-generate`"


@pytest.mark.parametrize(
    ("table", "condition", "index"),
    [
        ("trial", "key = ''", "trial_by_key"),
        ("trial", "command_digest = '' ORDER BY number DESC", "trial_by_command"),
        ("trial", "name = 'base'", "trial_by_name"),
        ("trial", "investigation = 1 ORDER BY number DESC", "trial_by_investigation"),
        ("judgement", "trial = 1", "judgement_by_trial"),
        ("outcome", "signature = ''", "outcome_by_signature"),
        ("evidence", "trial = 1", "evidence_by_trial"),
    ],
)
def test_what_is_asked_often_is_found_without_reading_everything(
    connection: sqlite3.Connection, table: str, condition: str, index: str
) -> None:
    plan = connection.execute(f"EXPLAIN QUERY PLAN SELECT * FROM {table} WHERE {condition}")
    details = " ".join(row[3] for row in plan)

    assert index in details
    assert "TEMP B-TREE" not in details
