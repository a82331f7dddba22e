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


STATE = """\
import torch

torch.manual_seed(0)
cell = torch.nn.GRUCell(3, 5)
out = torch.nn.Linear(5, 1)
weight = torch.ones(1, requires_grad=True)
x = torch.randn(6, 8, 3)
state = torch.zeros(8, 5)
for each in x:
    state = cell(each, state)
    loss = (out(state) * weight).mean()
    loss.backward()
"""
ONCE = """\
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 1)


class Penalty:
    def __init__(self):
        self.size = net.weight.pow(2).sum()

    def add(self, loss):
        return loss + 0.1 * self.size


penalty = Penalty()
for each in torch.randn(4, 8, 3):
    loss = penalty.add(net(each).mean())
    loss.backward()
"""


@pytest.mark.parametrize(
    ("program", "name", "made"),
    [(STATE, "state", "state = cell("), (ONCE, "self.size", "self.size = net"),
     (f"{NET.replace('CHANGE', 'pass')}print(1)\nloss.backward()  # again\n", "loss", "loss = forward(x)")],
    ids=["state", "attribute", "twice"],
)  # fmt: skip
def test_what_a_second_backward_pass_has_in_common_with_the_first_is_the_cause(
    tmp_path: Path, program: str, name: str, made: str
) -> None:
    first, *others = clues(tmp_path, program)

    assert (first.line, first.sureness) == (line_of(program, made), Sureness.SEEN)
    assert first.says.startswith(f"`{name}` was made at")
    assert "uses it again" not in " ".join(each.says for each in others)
