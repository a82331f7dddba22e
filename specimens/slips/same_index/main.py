"""Distances between neighbours in rows of a matrix."""

import json
import sys


def steps(rows: list) -> list:
    found = []
    for above, below in zip(rows, rows[1:]):
        for at in range(len(above)):
            found.append(below[at] - above[at - 1] * above[at])
    return found


def first(rows: list) -> float:
    return rows[0][0] + rows[1][1]


matrix = json.load(open(sys.argv[1]))
print(first(matrix["rows"]), steps(matrix["rows"]))
