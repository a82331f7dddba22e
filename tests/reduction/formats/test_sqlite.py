"""SQLite databases are shrunk by tables, rows and columns; real files all of them."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from odd_oracles import Judge, fails_if, shrunk, shrunk_ahead

from whet.core.verdict import Verdict
from whet.reduction.formats.tables.sqlite_tables import SQLITE, Statement
from whet.reduction.payload_kinds import KINDS, kinds_of, readable
from whet.testing.reduction import check_format, check_pass

SHOP = """
PRAGMA user_version = 7;
CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT DEFAULT 'Oslo', score REAL);
CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, user INTEGER REFERENCES users (id), note TEXT);
CREATE INDEX by_city ON users (city);
CREATE VIEW rich AS SELECT * FROM users WHERE score > 10;
CREATE TRIGGER t AFTER INSERT ON orders BEGIN SELECT 1; END;
"""


def database(script: str, rows: int = 0) -> bytes:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        made.executescript(script)
        for number in range(rows):
            user = -5 if number == 211 else number
            made.execute(
                "INSERT INTO users VALUES (?, ?, 'Rome', ?)", (number, f"u{number}", number / 2)
            )
            made.execute("INSERT INTO orders (user, note) VALUES (?, ?)", (user, f"note {number}"))
        return made.serialize()


def rows_of(payload: bytes, query: str) -> list[Any]:
    """Return what a program sees; nothing if it cannot read the file, or the query fails."""
    if not payload:
        return []
    with closing(sqlite3.connect(":memory:")) as read:
        read.deserialize(payload)
        try:
            return read.execute(query).fetchall()
        except sqlite3.Error:
            return []


def asking(query: str) -> Callable[[bytes], bool]:
    return lambda payload: bool(rows_of(payload, query))


ORPHANS = "SELECT 1 FROM orders WHERE user IS NOT NULL AND user NOT IN (SELECT id FROM users)"


@pytest.mark.parametrize(
    ("query", "left", "most_calls"),
    [
        (ORPHANS, 'users:\n"id"\n\norders:\n"user"\n0', 60),
        ("SELECT 1 FROM rich", None, 60),
        ("SELECT 1 FROM users WHERE score > 0.4 AND name = 'u250'", None, 60),
        ("SELECT 1 FROM pragma_user_version WHERE user_version = 7", "PRAGMA user_version = 7", 40),
        ("SELECT 1 FROM pragma_index_list('users')", None, 40),
    ],
)
def test_tables_rows_and_columns_go_in_few_trials(
    query: str, left: str | None, most_calls: int
) -> None:
    payload = database(SHOP, 400)
    judge = fails_if(asking(query))

    done = shrunk(payload, judge, name="shop.db")

    result = done.reduction.payload
    assert judge(payload) is Verdict.BAD
    assert judge(result) is Verdict.BAD
    assert len(result) <= 3 * 512
    assert done.calls <= most_calls, "ask for the reason before raising this"
    assert left is None or readable(result) == left


def test_a_rule_of_a_table_stays_where_it_matters() -> None:
    query = "SELECT 1 FROM pragma_table_info('users') WHERE \"notnull\" AND name = 'name'"

    done = shrunk(database(SHOP, 20), fails_if(asking(query)))

    assert readable(done.reduction.payload) == 'users:\n"name" NOT NULL'


def test_text_that_is_none_stays_as_it_is() -> None:
    payload = database(
        "CREATE TABLE t (a TEXT, b); INSERT INTO t VALUES (CAST(x'61ff' AS TEXT), 1);"
    )
    view = SQLITE.parse(payload)
    assert view is not None

    again = SQLITE.write(view.sheets)

    assert KINDS["sqlite"].inside is not None
    assert KINDS["sqlite"].inside(payload) == []
    query = "SELECT hex(a), typeof(a), b FROM t"
    assert rows_of(again, query) == rows_of(payload, query) == [("61FF", "text", 1)]


def test_a_database_with_a_log_is_read_too() -> None:
    payload = bytearray(database(SHOP, 3))
    payload[18:20] = b"\2\2"

    assert kinds_of(bytes(payload))[0].name == "sqlite"


def test_a_column_that_is_computed_stays_in_its_statement() -> None:
    payload = database("CREATE TABLE t (a, b AS (a * 2)); INSERT INTO t (a) VALUES (4), (1)")

    done = shrunk(payload, fails_if(asking("SELECT 1 FROM t WHERE b = 8")))

    assert readable(done.reduction.payload) == 't:\n"a"\n4\nCREATE TABLE t (a, b AS (a * 2))'


@pytest.mark.parametrize("cut", [100, 512, 3000])
def test_a_damaged_database_is_none(cut: int) -> None:
    damaged = database(SHOP, 200)[:cut] + b"\xff" * 5000

    assert kinds_of(damaged)[0].name != "sqlite"


EXAMPLES = [database(SHOP, 4), database("CREATE TABLE t (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID")]


def test_the_format_keeps_its_promises() -> None:
    check_format(SQLITE.format(), [b"", b"SQLite format 3\0", *EXAMPLES])


@pytest.mark.parametrize("each", KINDS["sqlite"].passes, ids=lambda each: each.name)
def test_passes_keep_their_promises(each: Any) -> None:
    kind = KINDS["sqlite"]

    check_pass(
        each,
        EXAMPLES,
        is_valid=lambda payload: not payload or kind.claims(payload, ""),
        order=kind.order,
    )


def test_the_number_of_jobs_changes_nothing() -> None:
    payload = database(SHOP, 250)
    judge: Judge = fails_if(asking(ORPHANS))

    assert shrunk_ahead(payload, judge, 3) == shrunk(payload, judge).reduction


@pytest.mark.parametrize(
    ("statement", "why"),
    [("ATTACH DATABASE {!r} AS y", "too many attached"), ("VACUUM INTO {!r}", "cannot VACUUM")],
)
def test_no_statement_of_a_payload_opens_a_file(tmp_path: Path, statement: str, why: str) -> None:
    made = tmp_path / "made.db"

    with pytest.raises(ValueError, match="no database holds this") as refused:
        SQLITE.write([Statement(statement.format(str(made)))])

    assert why in str(refused.value.__cause__)
    assert not made.exists()


def test_a_schema_that_asks_for_a_gigabyte_is_refused() -> None:
    with pytest.raises(ValueError, match="no database holds this"):
        SQLITE.write([Statement("CREATE TABLE t AS SELECT zeroblob(900000000) AS a")])
