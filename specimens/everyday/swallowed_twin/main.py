"""Print what a ride costs, from the tariff of its zone."""

import csv
from pathlib import Path

from quiet import skipping, tidy

HERE = Path(__file__).parent
RETIRED = ["west", "airport"]


def tariffs(path):
    found = {}
    with path.open(newline="") as lines:
        for row in csv.DictReader(lines):
            with skipping(ValueError):
                base = float(row["base"])
                found[tidy(row["zone"])] = (base, float(row["per_km"]))
    for old in RETIRED:
        found.pop(old, None)
    return found


def price(ride, table):
    base, per_km = table[ride["zone"]]
    return base + per_km * ride["km"]


RIDES = [
    {"zone": "centre", "km": 3.2},
    {"zone": "harbour", "km": 7.5},
    {"zone": "airport", "km": 18.0},
]


def main():
    table = tariffs(HERE / "tariffs.csv")
    for ride in RIDES:
        print(f"{ride['zone']:<10}{price(ride, table):8.2f}")


if __name__ == "__main__":
    main()
