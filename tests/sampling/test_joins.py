"""Related files are sampled together: whatever a row refers to is there."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from whet.core.errors import BadUsage, ColumnMissing, KeysDoNotJoin
from whet.sampling.joins import join, leaders, link_of
from whet.sampling.kinds import open_source
from whet.sampling.selection import Wish
from whet.sampling.table import Link, Table


def table_of(path: Path, name: str, text: str) -> Table:
    (path / name).write_text(text)
    (table,) = open_source(path / name, name).tables
    return table


def rows_at(table: Table, places: set[int], column: str) -> list[object]:
    return [
        value
        for batch in table.batches((column,))
        for place, value in zip(batch.places, batch.column(column), strict=True)
        if place in places
    ]


@given(
    customers=st.lists(st.integers(0, 20), max_size=30),
    people=st.sets(st.integers(0, 20), min_size=1),
    wanted=st.integers(1, 10),
    seed=st.none() | st.integers(0, 5),
)
def test_every_key_that_joined_still_joins(
    tmp_path_factory: pytest.TempPathFactory,
    customers: list[int],
    people: set[int],
    wanted: int,
    seed: int | None,
) -> None:
    folder = tmp_path_factory.mktemp("joins")
    orders = table_of(folder, "orders.csv", "id,customer\n" + "".join(f"{number},{each}\n" for number, each in enumerate(customers)))  # fmt: skip
    owners = table_of(folder, "customers.csv", "id,name\n" + "".join(f"{each},x\n" for each in sorted(people)))  # fmt: skip
    tables = {"orders": orders, "customers": owners}

    joined = join(tables, [link_of("orders.customer=customers.id", tables)], lambda _: Wish(rows=wanted, seed=seed))  # fmt: skip

    taken = {int(str(each)) for each in rows_at(orders, joined.places["orders"], "customer")}
    there = {int(str(each)) for each in rows_at(owners, joined.places["customers"], "id")}
    assert len(joined.places["orders"]) == min(wanted, len(customers))
    assert there == taken & people


def test_rows_of_other_kinds_of_files_join_by_what_they_say(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"customer": [3, 1, None]}), tmp_path / "orders.parquet")
    (orders,) = open_source(tmp_path / "orders.parquet", "orders.parquet").tables
    owners = table_of(tmp_path, "customers.csv", "id,name\n1,a\n01,b\n2,c\n3,d\n")
    tables = {"orders": orders, "customers": owners}

    joined = join(tables, [link_of("orders.customer=customers.id", tables)], lambda _: Wish())

    assert rows_at(owners, joined.places["customers"], "name") == ["a", "d"]


def test_what_rows_refer_to_is_followed_over_tables_and_within_one(tmp_path: Path) -> None:
    orders = table_of(tmp_path, "orders.csv", "id,clerk\n1,5\n2,5\n")
    clerks = table_of(tmp_path, "clerks.csv", "id,boss,town\n1,,A\n2,1,B\n5,2,C\n6,1,A\n")
    towns = table_of(tmp_path, "towns.csv", "id\nA\nB\nC\nD\n")
    tables = {"towns": towns, "orders": orders, "clerks": clerks}
    links = [
        link_of(text, tables)
        for text in ("clerks.town=towns.id", "orders.clerk = clerks.id", "clerks.boss=clerks.id")
    ]

    joined = join(tables, links, lambda _: Wish(rows=1))

    assert rows_at(orders, joined.places["orders"], "id") == ["1"]
    assert rows_at(clerks, joined.places["clerks"], "id") == ["1", "2", "5"]
    assert rows_at(towns, joined.places["towns"], "id") == ["A", "B", "C"]


def test_of_a_circle_the_first_table_leads(tmp_path: Path) -> None:
    one = table_of(tmp_path, "a.csv", "id,b\n1,1\n2,2\n")
    two = table_of(tmp_path, "b.csv", "id,a\n1,2\n2,1\n")
    tables = {"a": one, "b": two}
    links = [Link("a", ("b",), "b", ("id",)), Link("b", ("a",), "a", ("id",))]

    assert leaders(tables, links) == ["a"]
    joined = join(tables, links, lambda _: Wish(rows=1))
    assert [len(joined.places[name]) for name in tables] == [2, 2]


def test_keys_of_which_none_joins_are_refused_with_examples(tmp_path: Path) -> None:
    orders = table_of(tmp_path, "orders.csv", "id,customer\n1,C17\n")
    owners = table_of(tmp_path, "customers.csv", "id,name\n17,a\n18,b\n")
    tables = {"orders": orders, "customers": owners}
    link = link_of("orders.customer=customers.id", tables)

    with pytest.raises(KeysDoNotJoin) as error:
        join(tables, [link], lambda _: Wish(), [link])

    assert "`C17` on one side, `17`, `18` on the other" in str(error.value)


def test_some_keys_that_do_not_join_are_told(tmp_path: Path) -> None:
    orders = table_of(tmp_path, "orders.csv", "id,customer\n1,17\n2,99\n3,\n")
    owners = table_of(tmp_path, "customers.csv", "id,name\n17,a\n18,b\n")
    tables = {"orders": orders, "customers": owners}
    link = link_of("orders.customer=customers.id", tables)

    joined = join(tables, [link], lambda _: Wish(), [link])

    assert joined.orphans == [
        "1 value of 2 in `orders.customer` refer to no row of `customers`, as in the original"
    ]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("orders.customer", BadUsage, "doesn't say which columns join"),
        ("orders.customer=customers", BadUsage, "doesn't say which columns join"),
        ("order.customer=customers.id", BadUsage, "did you mean `orders`?"),
        ("orders.custmer=customers.id", ColumnMissing, "did you mean `customer`?"),
        ("orders.customer=customers.nr", ColumnMissing, "it has `id`, `name`"),
    ],
)
def test_keys_that_name_nothing_are_refused_with_the_closest_names(
    tmp_path: Path, text: str, error: type[BadUsage], words: str
) -> None:
    tables = {
        "orders": table_of(tmp_path, "orders.csv", "id,customer\n1,2\n"),
        "customers": table_of(tmp_path, "customers.csv", "id,name\n2,x\n"),
    }

    with pytest.raises(error) as raised:
        link_of(text, tables)

    assert words in f"{raised.value} {raised.value.hint}"


def test_the_foreign_keys_of_a_database_are_followed_without_being_named(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "s.db")) as database, database:
        database.executescript("""
            CREATE TABLE shops (town TEXT, street TEXT, PRIMARY KEY (town, street)) WITHOUT ROWID;
            CREATE TABLE Sales (id INTEGER PRIMARY KEY AUTOINCREMENT, town, street, cents AS (100),
                FOREIGN KEY (Town, street) REFERENCES SHOPS, CHECK (street <> town));
            CREATE INDEX by_town ON sales(town);
            CREATE VIEW v AS SELECT * FROM sales;
            CREATE TABLE log (what);
            CREATE TRIGGER t AFTER INSERT ON sales BEGIN INSERT INTO log VALUES ('sold'); END;
            PRAGMA user_version = 7;
        """)
        database.executemany("INSERT INTO shops VALUES (?, ?)", [(f"t{n % 5}", f"s{n}") for n in range(50)])  # fmt: skip
        database.executemany("INSERT INTO sales (town, street) VALUES (?, ?)", [(f"t{n % 5}", f"s{n}") for n in range(49, 0, -1)])  # fmt: skip
    source = open_source(tmp_path / "s.db", "s.db")
    tables = {table.name: table for table in source.tables}

    joined = join(tables, source.links(), lambda _: Wish(rows=3))
    source.write({name: sorted(joined.places[name]) for name in tables}, tmp_path / "out.db")

    with closing(sqlite3.connect(tmp_path / "out.db")) as out:
        assert out.execute("SELECT id, street, cents FROM sales").fetchall() == [
            (1, "s49", 100), (2, "s48", 100), (3, "s47", 100),
        ]  # fmt: skip
        assert out.execute("SELECT street FROM shops ORDER BY 1").fetchall() == [("s47",), ("s48",), ("s49",)]  # fmt: skip
        assert out.execute("SELECT count(*) FROM log").fetchone() == (3,)
        assert out.execute("PRAGMA foreign_key_check").fetchall() == []
        assert out.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert out.execute("PRAGMA user_version").fetchone() == (7,)
        assert out.execute("SELECT seq FROM sqlite_sequence").fetchone() == (49,)
        with closing(sqlite3.connect(tmp_path / "s.db")) as original:
            schema = "SELECT sql FROM sqlite_master WHERE sql NOT NULL ORDER BY name"
            assert out.execute(schema).fetchall() == original.execute(schema).fetchall()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_keys_that_were_written_as_floats_join(tmp_path: Path, ending: str) -> None:
    orders = table_of(tmp_path, "orders.csv", "id,customer\n1,3.0\n2,\n3,-2.0\n")
    if ending == "csv":
        owners = table_of(tmp_path, "customers.csv", "id\n1\n-2\n3.0\n")
    else:
        parquet.write_table(pa.table({"id": ["1", "-2", "3.0"]}), tmp_path / "customers.parquet")
        (owners,) = open_source(tmp_path / "customers.parquet", "customers.parquet").tables
    tables = {"orders": orders, "customers": owners}

    joined = join(tables, [link_of("orders.customer=customers.id", tables)], lambda _: Wish(rows=9))

    assert rows_at(owners, joined.places["customers"], "id") == ["-2", "3.0"]
    assert joined.orphans == []


def test_references_that_are_not_followed_to_their_end_are_named(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "chain.db")) as database:
        database.execute("CREATE TABLE chain (id INTEGER PRIMARY KEY, next REFERENCES chain(id))")
        database.executemany("INSERT INTO chain VALUES (?, ?)", [(n, n + 1) for n in range(20)])
        database.commit()
    source = open_source(tmp_path / "chain.db", "chain.db")
    tables = {table.name: table for table in source.tables}

    joined = join(tables, source.links(), lambda _: Wish(rows=1), most_rounds=5)

    assert len(joined.places["chain"]) == 6
    assert "rows of `chain` refer to rows that aren't in the sample" in joined.orphans[0]
