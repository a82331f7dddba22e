"""What customers pay with their first order: `python report.py orders.jsonl`."""

import json
import sys

import whet


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def first_orders(orders):
    known = []
    firsts = []
    for order in orders:
        if order["customer"] not in known:
            known.append(order["customer"])
            firsts.append(order)
    return firsts


with whet.section("read"):
    orders = read(sys.argv[1])
with whet.section("first"):
    firsts = first_orders(orders)
with whet.section("total"):
    print(len(firsts), sum(each["price"] * each["count"] for each in firsts))
