"""Give out seats, keep them in a file, and print the tickets."""

import tempfile
from pathlib import Path

from seats import assign, read, write

GUESTS = [("ada", 14), ("ben", 7), ("cleo", 9), ("dora", 7)]


def tickets(taken, numbers):
    return [f"seat {number}: {taken[number]}" for number in numbers]


def main():
    path = Path(tempfile.mkdtemp()) / "seats.json"
    write(path, assign(GUESTS))
    taken = read(path)
    print(len(taken), "seats taken")
    for line in tickets(taken, [7, 9, 14]):
        print(line)


if __name__ == "__main__":
    main()
