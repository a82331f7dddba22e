"""Numbers of a table, read by one helper."""

import csv
import sys


def number(text: str) -> int:
    return int(text)


def area(row: dict) -> int:
    return number(row["wide"].strip()) * number(row["high"].strip())


print(sum(area(row) for row in csv.DictReader(open(sys.argv[1]))))
