"""Cost of an hour, and what share of the budget is used."""

import json
import sys

data = json.load(open(sys.argv[1]))
rate = data["budget"] / max(len(data["people"]), data["seats"])
spent = sum(day["hours"] * day["rate"] for day in data["days"])
share = spent / data["budget"]
print(f"{rate:.2f} a head, {share:.0%} spent")
