"""A trail tells in one step the lines that a value only came through."""

from pathlib import Path

import pytest
from recorded_runs import clues

DEEP = """\
import math


def ratio(a, b):
    return a / b if b else float("nan")


def one(row):
    return ratio(*row)


def two(row):
    return one(row)


def three(row):
    return two(row)


def four(row):
    return three(row)


found = {last}([1, 0])
assert not math.isnan(found)
"""


HERE = "it came through here"


@pytest.mark.parametrize(
    ("last", "through"),
    [
        ("one", [HERE]),
        ("two", [HERE, HERE]),
        ("three", [f"{HERE}, and before that through main.py:13 and main.py:9"]),
        ("four", [f"{HERE}, and before that through main.py:17, main.py:13 and main.py:9"]),
    ],
)
def test_three_lines_or_more_are_one_step(last: str, through: list[str], tmp_path: Path) -> None:
    first, *_ = clues(tmp_path, DEEP.replace("{last}", last))

    assert "`found` is NaN at main.py:25. It was made at main.py:5" in first.says
    assert [step.says for step in first.trail if step.says.startswith(HERE)] == through
