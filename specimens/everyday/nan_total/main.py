"""Turn the scores of a contest into points out of a hundred."""

import csv
from pathlib import Path

import numpy as np

from scaling import scaled, weighted

JUDGES = ["anna", "bert", "carl"]


def load(name):
    with (Path(__file__).parent / name).open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    names = [row["team"] for row in rows]
    return names, np.array([[float(row[judge]) for judge in JUDGES] for row in rows])


def main():
    names, scores = load("scores.csv")
    points = weighted(scaled(scores)) * 100
    for name, value in zip(names, points):
        print(f"{name:<8}{int(value):4d}")


if __name__ == "__main__":
    main()
