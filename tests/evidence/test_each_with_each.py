"""n numbers that meet a column of n numbers each with each: told, unless the program asks for all pairs."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

pytest.importorskip("numpy")

ACCURACY = """\
import numpy as np


def model(rows):
    return (rows.sum(axis=1, keepdims=True) > 1.0).astype(int)


def accuracy(found, labels):
    right = found == labels
    return right.sum() / len(labels)


rows = np.array([[1.0, 0.5], [0.1, 0.2], [0.9, 0.9], [2.0, 0.0]])
rate = accuracy(model(rows), np.array([1, 0, 1, 1]))
assert rate <= 1, rate
"""
LOSS = """\
import numpy as np

x = np.arange(5.0).reshape(-1, 1)
y = np.arange(5.0)
weight = np.ones((1, 1))


def loss(x, y):
    return (((x @ weight) - y) ** 2).mean()


assert loss(x, y) == 0, loss(x, y)
"""

PAIRS = """\
import numpy as np

points = np.array([0.0, 1.0, 4.0])
table = np.abs(points[:, None] - points) * 10
assert table.max() == 4.0, table.max()
"""
ROWS = """\
import numpy as np

table = np.ones((4, 3))
shifted = table - np.arange(3.0)
assert shifted.sum() == 12, shifted.sum()
"""
SCALED = """\
import numpy as np

column = np.ones((4, 1))
scaled = column * np.ones((4, 1)) + 2
assert scaled.sum() == 4, scaled.sum()
"""


@pytest.mark.parametrize(
    ("program", "part", "shape"),
    [(ACCURACY, "right = found", "4x4"), (LOSS, "return (((x", "5x5")],
)
def test_the_line_that_makes_a_table_of_two_rows_of_numbers_is_told_first(
    tmp_path: Path, program: str, part: str, shape: str
) -> None:
    first = clues(tmp_path, program)[0]

    assert first.line == line_of(program, part)
    assert f"makes an array of shape {shape}" in first.says


@pytest.mark.parametrize("program", [PAIRS, ROWS, SCALED])
def test_pairs_that_are_asked_for_and_other_shapes_are_not_told(
    tmp_path: Path, program: str
) -> None:
    assert not [each for each in clues(tmp_path, program) if "makes an array" in each.says]
