"""SQL scripts: what is seen in them, and what is left when real SQLite fails."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import given
from odd_oracles import Judge, fails_if, odd_judges, shrunk

from whet.core.verdict import Verdict
from whet.reduction.formats.source.sql_tree import SQL, parse_sql
from whet.reduction.payload_kinds import KINDS, kinds_of
from whet.testing.reduction import check_format, check_pass

SCRIPT = (Path(__file__).parents[1] / "sources" / "orders.sql").read_bytes()


def rows_of(script: bytes) -> list[tuple[object, ...]]:
    """Run a script in SQLite; return all that it selects."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    found: list[tuple[object, ...]] = []
    statement = ""
    try:
        for part in script.decode().split(";"):
            statement += f"{part};"
            if sqlite3.complete_statement(statement):
                found += connection.execute(statement).fetchall()
                statement = ""
    except sqlite3.Error as error:
        raise ValueError(error) from error
    finally:
        connection.close()
    return found


def test_statements_are_told_apart_whatever_stands_in_them() -> None:
    tree = parse_sql(SCRIPT)

    assert tree is not None
    assert [node.kind for node in tree.nodes[0].children] == [
        "BEGIN statement", "CREATE statement", "INSERT statement", "CREATE statement",
        "INSERT statement", "CREATE statement", "SELECT statement", "COMMIT statement",
    ]  # fmt: skip
    assert [tree.payload[start:end] for start, end in tree.comments] == [
        b"-- a shop", b"/* the query; */",
    ]  # fmt: skip
    select = tree.nodes[0].children[6]
    assert [node.kind for node in select.children] == [
        "SELECT", "FROM", "LEFT", "ON", "WHERE", "GROUP", "ORDER", "LIMIT",
    ]  # fmt: skip
    check_format(SQL, [SCRIPT])


def test_passes_keep_brackets_and_quotes_whole() -> None:
    def is_whole(payload: bytes) -> bool:
        return payload.count(b"(") == payload.count(b")") and payload.count(b"'") % 2 == 0

    script = SCRIPT.replace(b"'Cid (x'", b"'Cid'")
    for each in KINDS["sql"].passes:
        check_pass(each, [script], is_valid=is_whole)


def test_a_sum_needs_two_rows_of_one_column() -> None:
    judge = fails_if(lambda script: any(12.75 in row for row in rows_of(script)))

    done = shrunk(SCRIPT, judge, format_name="sql")

    assert done.reduction.payload.splitlines()[:2] == [
        b"CREATE TABLE orders (total REAL);",
        b"INSERT INTO orders VALUES (9.5), (3.25);",
    ]
    assert rows_of(done.reduction.payload) == [(12.75,)]
    assert len(done.reduction.payload) <= 120
    assert done.calls <= 620


def test_a_column_goes_from_the_table_and_from_each_row() -> None:
    judge = fails_if(
        lambda it: b"INTO a (" in it and b"SELECT name FROM a" in it and ("Bob",) in rows_of(it)
    )
    script = (
        b"CREATE TABLE a (id INTEGER, name TEXT, age INTEGER);\n"
        b"INSERT INTO a (id, name, age) VALUES (1, 'Ann', 3), (2, 'Bob', 4);\n"
        b"SELECT name FROM a;\n"
    )

    done = shrunk(script, judge, format_name="sql")

    assert done.reduction.payload == (
        b"CREATE TABLE a (name);\nINSERT INTO a (name) VALUES ('Bob');\nSELECT name FROM a;\n"
    )
    assert done.calls <= 200


@given(odd_judges())
def test_a_second_shrink_finds_nothing(judge: Judge) -> None:
    script = b"SELECT a, b FROM c JOIN d ON e = f WHERE g AND h; DROP TABLE i;"
    smallest = shrunk(script, judge, format_name="sql").reduction.payload

    again = shrunk(smallest, judge, format_name="sql")
    assert all(verdict is not Verdict.BAD for _, verdict in again.told)


@pytest.mark.parametrize(
    ("payload", "name", "is_sql"),
    [
        (SCRIPT, "", True),
        (b"vacuum", "a.sql", True),
        (b"insert into t values (1);", "", True),
        (b"Select one from the list, then go on; or stop.", "", False),
        (b"Insert into the slot (a) a coin; wait.\n", "", False),
        (b"CREATE TABLE t (a);\n", "notes.md", False),
    ],
)
def test_prose_is_no_script(payload: bytes, name: str, *, is_sql: bool) -> None:
    assert (kinds_of(payload, name=name)[0].name == "sql") is is_sql


def test_a_deep_nesting_is_read() -> None:
    tree = parse_sql(b"SELECT " + b"(" * 100_000 + b"1" + b")" * 100_000)

    assert tree is not None
    assert len(tree.nodes) > 200_000


def test_a_dump_of_sqlite_loses_columns_though_it_quotes_names_here_and_there() -> None:
    source = sqlite3.connect(":memory:")
    source.executescript("create table t(id integer primary key, name text not null, v real)")
    source.executemany("insert into t values(?,?,?)", [(n, f"it's {n}", n / 2) for n in range(60)])
    dump = "\n".join(source.iterdump()).replace("VALUES(40,", "VALUES(39,")
    source.close()
    assert 'INSERT INTO "t"' in dump

    def holds(script: bytes) -> bool:
        connection = sqlite3.connect(":memory:")
        try:
            connection.executescript(script.decode())
        except sqlite3.IntegrityError as error:
            return "UNIQUE" in str(error)
        except sqlite3.Error:
            return False
        finally:
            connection.close()
        return False

    done = shrunk(dump.encode(), fails_if(holds), name="dump.sql")

    assert done.reduction.payload == b'create table a(a primary key);insert into"a"values(0),(0)'
    assert done.calls <= 700
