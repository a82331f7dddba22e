"""Add up the sales of a table, less what was refunded: python refunds.py FILE"""

import csv
import sys

sales = {}
total = 0.0
with open(sys.argv[1], encoding="utf-8", newline="") as f:
    for row in csv.DictReader(f):
        if row["kind"] == "sale":
            sales[row["id"]] = row
            total += float(row["amount"])
        elif row["kind"] == "refund" and row["of"] in sales:
            sale = sales[row["of"]]
            if row["currency"] != sale["currency"]:
                raise ValueError(f"refund {row['id']}: not in the currency of the sale")
            total -= float(row["amount"])
print(total)
