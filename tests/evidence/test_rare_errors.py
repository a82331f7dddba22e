"""Of the errors that one function caught before the program ended itself, the one unlike the others is told first."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

PROGRAM = """\
import sys


def amount(text):
    return int(text)


def name(text):
    if not text:
        raise ValueError("no name")
    return text


def rows(lines):
    found = []
    for line in lines:
        first, last = line.split(";")
        try:
            found.append((name(first), amount(last)))
        except ValueError:
            continue
    return found


lines = open("rows.csv").read().splitlines()
total = sum(each for _, each in rows(lines))
expected = int(open("total.txt").read())
if total != expected:
    sys.exit(f"{total} and not {expected}")
"""
ROWS = ["a;1", ";page 1", "b;2", ";page 2", "c;1,204", ";page 3", "d;4", ";page 4"]


@pytest.mark.parametrize(
    ("rows", "part"),
    [
        (ROWS, "return int(text)"),
        ([each for each in ROWS if each[0] != "c"], 'raise ValueError("no name")'),
    ],
)
def test_the_error_unlike_the_others_that_were_caught_there_is_told_first(
    rows: list[str], part: str, tmp_path: Path
) -> None:
    found = clues(tmp_path, PROGRAM, rows_csv="\n".join(rows), total_txt="1211")
    assert (found[0].line, "ended the program" in found[0].says) == (line_of(PROGRAM, part), True)


def test_an_error_is_no_step_of_a_value_that_was_made_without_it(tmp_path: Path) -> None:
    found = clues(tmp_path, PROGRAM, rows_csv="\n".join(ROWS), total_txt="1211")
    (of_file,) = [each for each in found if each.says.startswith("`expected`")]
    assert not any("caught" in each.says for each in of_file.trail)
