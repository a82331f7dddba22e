"""Check a ledger."""

import csv
import sys


def check(rows: list) -> None:
    assert rows
    paid = sum(float(row["paid"] or 0) for row in rows)
    due = sum(float(row["due"] or 0) for row in rows)
    assert len({row["id"] for row in rows}) == len(rows)
    assert paid <= due
    print("in order")


check(list(csv.DictReader(open(sys.argv[1]))))
