"""A value that was read from a line of text is told with that line, however the program took it apart."""

from pathlib import Path

import pytest
from recorded_runs import clues

STOCK = "north 12 4\nsouth 9 3\nwest 7 0\neast 8 2\n"
BY_INDEX = """\
def rate(line):
    name, total, count = line.split()
    return int(total) / int(count)


lines = open("stock.txt").readlines()
for at in range(len(lines)):
    print(rate(lines[at]))
"""
BY_PATTERN = r"""
import re

LINE = re.compile(r"(\w+) (?P<total>\d+) (?P<count>\d+)")
for match in LINE.finditer(open("stock.txt").read()):
    total, count = int(match["total"]), int(match.group("count"))
    print(total / count)
"""
BY_PARTITION = """\
def load(text):
    table = {}
    for line in text.split("\\n"):
        name, _, rest = line.partition(" ")
        table[name] = [int(number) for number in rest.split()]
    return table


table = load(open("stock.txt").read().strip())
for name in table:
    total, count = table[name]
    print(total / count)
"""
OF_A_HEADER = """\
def rows(file):
    return [line.split() for line in file]


def main():
    with open("stock.txt") as file:
        header = file.readline()
        table = rows(file)
    for row in table:
        print(header, sum(int(number) for number in row[1:]) / (int(row[1]) - 7))


main()
"""


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(BY_INDEX, id="by index"),
        pytest.param(BY_PATTERN, id="by a pattern"),
        pytest.param(BY_PARTITION, id="in a comprehension"),
    ],
)
def test_the_line_of_text_that_a_value_was_read_from_is_named(tmp_path: Path, program: str) -> None:
    found = clues(tmp_path, program, stock_txt=STOCK)

    assert any("stock.txt:3" in each.whole and "west 7 0" in each.whole for each in found)


def test_a_line_that_is_only_still_held_is_not_named(tmp_path: Path) -> None:
    found = clues(tmp_path, OF_A_HEADER, stock_txt=STOCK)

    assert found
    assert not any("stock.txt:1" in each.whole for each in found)
