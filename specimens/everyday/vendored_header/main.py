"""List the books that are due."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "vendor"))

import tinytable


def due(table, day):
    return [row["title"] for row in table if row["due"] <= day]


def main():
    table = tinytable.load(HERE / "loans.txt")
    print(len(table), "loans")
    for title in due(table, "2024-03-10"):
        print("due:", title)


if __name__ == "__main__":
    main()
