"""The total of an invoice is the sum of its lines."""

import json
import sys


def check(invoice: dict) -> None:
    observed = round(sum(line["count"] * line["price"] for line in invoice["lines"]), 2)
    expected = invoice["total"]
    assert observed == expected, f"total {expected}, lines {observed}"


check(json.load(open(sys.argv[1])))
