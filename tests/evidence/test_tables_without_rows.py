"""A table that has no rows where it failed: the line that left none is told, with what it compared."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

from whet.core.observations.clue import Sureness

pytest.importorskip("pandas")

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
