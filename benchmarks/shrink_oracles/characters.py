"""Interesting: the sum over a table of characters dies because a number is a fraction."""

import csv
import sys
from pathlib import Path


def total(path: str) -> float:
    """Return the sum of the numeric values of all letters and numbers."""
    result = 0.0
    with Path(path).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["category"][0] in "LN" and row["numeric"]:
                result += float(row["numeric"])
    return result


def main() -> int:
    """Exit with 0 if the file is interesting."""
    try:
        total(sys.argv[1])
    except ValueError as error:
        return 0 if str(error).startswith("could not convert") and "/" in str(error) else 1
    except Exception:  # noqa: BLE001 - any other failure is another bug
        return 1
    return 1


if __name__ == "__main__":
    sys.exit(main())
