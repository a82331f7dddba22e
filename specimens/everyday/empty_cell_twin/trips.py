"""Read the trips of the vans."""

import csv
from collections import defaultdict
from pathlib import Path

MILE = 1.609344


def number(text):
    text = text.strip()
    return float(text) if text else None


def distance(row):
    km = number(row["km"])
    if row["unit"] == "km":
        return km
    if row["unit"] == "mi":
        return km * MILE


def load(name):
    with (Path(__file__).parent / name).open(newline="") as lines:
        return [
            {"van": row["van"], "day": row["day"], "km": distance(row)}
            for row in csv.DictReader(lines)
        ]


def by_van(trips):
    found = defaultdict(list)
    for trip in trips:
        found[trip["van"]].append(trip)
    return found
