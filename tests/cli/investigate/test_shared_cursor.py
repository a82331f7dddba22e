"""An iterator, a file or a cursor that two parts of a program use: the later use is the cause."""

import json
import sys

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

STORE = """\
import sqlite3

class Store:
    def __init__(self):
        self.cursor = sqlite3.connect(":memory:").cursor()
        self.cursor.execute("CREATE TABLE lines (number INTEGER, cents INTEGER)")

    def add(self, number, cents):
        self.cursor.execute("INSERT INTO lines VALUES (?, ?)", (number, cents))

    def numbers(self):
        return self.cursor.execute("SELECT DISTINCT number FROM lines")

    def total(self, number):
        return self.cursor.execute("SELECT SUM(cents) FROM lines WHERE number = ?", (number,)).fetchone()[0]
"""
BILLS = """\
from store import Store

store = Store()
for number, cents in [(1, 300), (2, 900), (1, 250)]:
    store.add(number, cents)
billed = sum(store.total(number) for (number,) in store.numbers())
assert billed == 1450, f"billed {billed} of 1450 cents"
"""


def test_a_query_that_ends_the_one_around_it_is_the_cause(whet: Whet) -> None:
    whet.write("store.py", STORE)
    whet.write("bills.py", BILLS)
    whet("investigate", "--budget", "2m", "--", sys.executable, "bills.py")
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    found = report["answer"]["cause"]
    assert (found["line"], found["sureness"]) == (15, "shown")
    assert "runs a query on the same sqlite3.Cursor as store.py:12" in found["says"]


def test_a_cursor_whose_rows_were_all_read_is_no_cause(whet: Whet) -> None:
    whet.write(
        "store.py",
        STORE.replace('FROM lines")\n', 'FROM lines").fetchall()\n').replace("= ?", "> ?"),
    )
    whet.write("bills.py", BILLS)
    whet("investigate", "--budget", "2m", "--", sys.executable, "bills.py")
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    assert "same sqlite3.Cursor" not in json.dumps(report)
