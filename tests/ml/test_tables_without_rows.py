"""A table that has no rows where it failed: the line that left none is told, with what it compared."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

from whet.core.observations.clue import Sureness

pytestmark = pytest.mark.ml

JOINED = """\
import pandas as pd


class Shop:
    def __init__(self, stock, prices):
        self.stock, self.prices = stock, prices

    def priced(self):
        return pd.merge(self.stock, self.prices, on="sku", how="inner")


shop = Shop(pd.read_csv("stock.csv", dtype=str), pd.read_csv("prices.csv", dtype=str))
table = shop.priced()
dearest = table["price"].astype(float)
print(dearest.iloc[0])
"""
FILTERED = """\
import pandas as pd


def open_ones(orders):
    return orders[orders["state"] == "OPEN"]


def latest(orders):
    chosen = open_ones(orders)
    return chosen.index[-1]


print(latest(pd.read_csv("orders.csv")))
"""
STOCK = "sku,count\n" + "".join(f"A{number},3\n" for number in range(5))


def test_a_join_that_matches_no_key_is_told_with_the_keys_of_both_tables(tmp_path: Path) -> None:
    prices = "sku,price\n" + "".join(f" A{number},9\n" for number in range(4))
    clue, *_ = clues(tmp_path, JOINED, stock_csv=STOCK, prices_csv=prices)
    assert (clue.line, clue.sureness) == (line_of(JOINED, "pd.merge("), Sureness.SEEN)
    assert "`self.stock` has 5 rows" in clue.says
    assert "`self.prices` has 4 rows" in clue.says
    assert "'A0', 'A1', 'A2'" in clue.says


def test_a_filter_that_nothing_passes_is_told_with_what_the_column_holds(tmp_path: Path) -> None:
    orders = "number,state\n" + "".join(f"{number},open\n" for number in range(6))
    clue, *_ = clues(tmp_path, FILTERED, orders_csv=orders)
    assert clue.line == line_of(FILTERED, '== "OPEN"')
    assert "`orders` has 6 rows" in clue.says
    assert "`state` begins with 'open', 'open', 'open'" in clue.says


def test_a_table_that_was_read_without_rows_is_laid_to_no_line_after_that(tmp_path: Path) -> None:
    found = clues(tmp_path, FILTERED, orders_csv="number,state\n")
    assert not [each for each in found if "has no rows" in each.says]


LEFT = """\
import pandas as pd


def people():
    table = pd.read_csv("people.csv")
    table["id"] = table["id"].astype(str)
    return table


def joined():
    tests = pd.read_csv("tests.csv", dtype={"id": str})
    return people().merge(tests, on="id", how="HOW")


def means(table):
    return table.groupby("arm")["value"].agg(["count", "mean"])


found = means(joined())
if found["count"].TAKE < 8:
    raise ValueError(f"too few: {found['count'].to_dict()}")
"""
PEOPLE = "id,arm\n" + "".join(f"{90 + n:03},{'ab'[n // 5 % 2]}\n" for n in range(20))
TESTS = "id,value\n" + "".join(f"{90 + n:03},{n}\n" for n in range(20))


@pytest.mark.parametrize(("how", "take"), [("left", "min()"), ("inner", "to_dict().get('b', 0)")])
def test_keys_that_lost_their_zeros_where_they_were_read_are_the_cause(
    tmp_path: Path, how: str, take: str
) -> None:
    program = (
        LEFT.replace("HOW", how).replace("TAKE", take).replace("people().merge", "crowd.merge")
    )
    program = program.replace("    tests = ", "    crowd = people()\n    tests = ")
    people = PEOPLE if how == "left" else "".join(PEOPLE.splitlines(keepends=True)[:10])
    clue, *_ = clues(tmp_path, program, people_csv=people, tests_csv=TESTS)

    assert (clue.line, clue.sureness) == (line_of(program, '"people.csv"'), Sureness.SEEN)
    assert (
        "'090', '091', '092' in `tests` and '90', '91', '92' in `crowd`" in clue.says
        or how != "left"
    )
    assert "made numbers of `id` (int64), which have no leading zeros" in clue.says


def test_a_column_that_was_missing_before_a_join_is_not_laid_to_it(tmp_path: Path) -> None:
    program = (
        LEFT.replace("HOW", "left").replace("TAKE", "min()").replace("dtype={", "dtype={'x': str, ")
    )
    tests = TESTS.replace(",3\n", ",\n")
    found = clues(tmp_path, program, people_csv=PEOPLE, tests_csv=tests)
    assert not [each for each in found if "missing in" in each.says]


def test_a_few_gaps_that_a_join_leaves_are_no_clue(tmp_path: Path) -> None:
    program = LEFT.replace("HOW", "left").replace("TAKE", "min()").replace(
        'pd.read_csv("people.csv")', 'pd.read_csv("people.csv", dtype={"id": str})'
    ).replace("< 8", "< 80")  # fmt: skip
    tests = "".join(TESTS.splitlines(keepends=True)[:15])
    found = clues(tmp_path, program, people_csv=PEOPLE, tests_csv=tests)
    assert not [each for each in found if "missing in" in each.says]


GROUPED = LEFT.replace("HOW", "left").replace(
    'table.groupby("arm")["value"].agg(["count", "mean"])', 'table.groupby("value").agg(n=("arm", "count"))'
).replace('if found["count"].TAKE < 8', 'first = found.iloc[0]\nif first["n"] < 8')  # fmt: skip


def test_rows_that_a_group_drops_for_a_missing_key_are_laid_to_the_join_that_left_it_missing(
    tmp_path: Path,
) -> None:
    tests = "id,value\n" + "".join(f"0{n},{n}\n" for n in (93, 92, 91))
    program = GROUPED.replace("people().merge", "crowd.merge").replace(
        "    tests = ", "    crowd = people()\n    tests = "
    )
    people = "".join(PEOPLE.splitlines(keepends=True)[:10])
    clue, *_ = clues(tmp_path, program, people_csv=people, tests_csv=tests)

    assert (clue.line, clue.sureness) == (line_of(program, '"people.csv"'), Sureness.SEEN)
    assert "`value` of `table` is missing in each. `crowd.merge(" in clue.says
    assert "'093', '092', '091' in `tests` and '90', '91', '92' in `crowd`" in clue.says
