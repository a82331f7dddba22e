"""Sizes that don't fit: the line that computed the one of the message is told, with the array that has the other."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

from whet.core.observations.clue import Clue

pytest.importorskip("numpy")

DENSE = """\
import numpy as np


class Windows:
    def __init__(self, width, step):
        self.width, self.step = width, step

    def cut(self, signal):
        starts = range(0, len(signal) - self.width + 1, self.step)
        return np.stack([signal[start : start + self.width] for start in starts])


class Dense:
    def __init__(self, length, width, step):
        places = length // step
        self.weights = np.ones((places * width, 3))

    def __call__(self, windows):
        return windows.reshape(-1) @ self.weights


windows = Windows({width}, 10).cut(np.arange(100.0))
print(Dense({length}, 25, 10)(windows))
"""


def told(folder: Path, length: int, width: int) -> list[Clue]:
    program = DENSE.replace("{length}", str(length)).replace("{width}", str(width))
    found = clues(folder, program)
    return [each for each in found if "of the message is" in each.says]


def test_the_calculation_of_a_size_that_does_not_fit_is_told_with_what_it_has_to_give(
    tmp_path: Path,
) -> None:
    (clue,) = told(tmp_path, 100, 25)
    assert clue.line == line_of(DENSE, "places * width")
    assert "the 250 of the message is `places * width`" in clue.says
    assert "`places` is 10 and `width` is 25" in clue.says
    assert clue.next_step.endswith("it has to give 200.")


def test_where_no_array_has_the_other_size_no_calculation_is_told(tmp_path: Path) -> None:
    program = DENSE.replace("{length}", "80").replace("{width}", "25")
    program = program.replace("windows.reshape(-1)", "windows.sum(axis=1)")
    assert not [each for each in clues(tmp_path, program) if "of the message is" in each.says]


SLICED = """\
import numpy as np


def batches(rows, size):
    for number in range(len(rows) // size):
        start = number * size
        yield rows[start : start + size]


rows = np.arange(30.0)
print(np.concatenate([2 * each for each in batches(rows, 8)]) - rows)
"""


def test_a_place_in_a_list_that_equals_a_size_is_not_told(tmp_path: Path) -> None:
    assert not [each for each in clues(tmp_path, SLICED) if "of the message is" in each.says]
