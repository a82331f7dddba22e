"""The line that changed what a backward pass still needed is told, and no line that changed something else."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

from whet.core.observations.clue import Clue, Sureness

pytestmark = [pytest.mark.ml, pytest.mark.slow]

NET = """\
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Sigmoid(), torch.nn.Linear(8, 1))
x = torch.randn(16, 4)


def forward(x):
    other = torch.zeros(3, 3)
    other[0] = 1.0
    hidden = net[1](net[0](x))
    CHANGE
    return net[2](hidden)


loss = forward(x).pow(2).mean()
loss.backward()
"""
"""`CHANGE` is replaced by what changes a tensor."""


def told(found: list[Clue]) -> list[Clue]:
    return [each for each in found if "in place" in each.says]


@pytest.mark.parametrize("change", ["hidden[:, 0] = 0.0", "hidden.mul_(2.0)", "hidden += 1.0"])
def test_the_line_that_changed_it_is_the_cause(tmp_path: Path, change: str) -> None:
    program = NET.replace("CHANGE", change)
    (first,) = told(clues(tmp_path, program))

    assert (first.line, first.sureness) == (line_of(program, change), Sureness.SEEN)
    assert "shape 16x8" in first.says


def test_a_second_backward_pass_is_no_change(tmp_path: Path) -> None:
    program = f"{NET.replace('CHANGE', 'hidden = hidden * 2.0')}loss.backward()\n"

    assert not told(clues(tmp_path, program))
