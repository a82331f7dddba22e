"""Prices in another currency."""

import json
import sys

RATES = {"EUR": 1.0, "USD": 1.1}


def total(order: dict, prices: dict) -> float:
    return sum(prices[item] * RATES[order["currency"]] for item in order["items"])


shop = json.load(open(sys.argv[1]))
for order in shop["orders"]:
    print(round(total(order, shop["prices"]), 2))
