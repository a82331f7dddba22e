"""`whet profile --gpu` on a torch program: operators by the functions that call them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ml, pytest.mark.slow]

TRAIN = """\
import torch

def step(net, data):
    return net(data).sum().item()

def main(steps):
    net = torch.nn.Linear(256, 256)
    for _ in range(steps):
        step(net, torch.ones(64, 256))

main(30)
"""


def profiled(folder: Path, program: str) -> dict[str, object]:
    (folder / "train.py").write_text(program)
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    words = ["profile", "--gpu", "--json", "--", sys.executable, "train.py"]
    done = subprocess.run(
        [sys.executable, "-m", "whet", *words], cwd=folder, env=environment, check=True,
        capture_output=True,
    )  # fmt: skip
    profile: dict[str, object] = json.loads(done.stdout)["profiles"][0]
    return profile


def rows(profile: dict[str, object]) -> set[tuple[object, object]]:
    lines = profile["lines"]
    assert isinstance(lines, list)
    return {(each["function"], each["calls"]) for each in lines if each["is_own"]}


def test_the_operator_is_named_with_the_function_that_calls_it(tmp_path: Path) -> None:
    profile = profiled(tmp_path, TRAIN)
    assert ("step", "aten::addmm") in rows(profile)
    assert profile["engine"] == "torch.profiler"


def test_only_what_capture_surrounds_is_recorded_if_the_program_has_one(tmp_path: Path) -> None:
    program = TRAIN.replace(
        "main(30)",
        "import whet\nmain(2)\nwith whet.capture():\n    torch.ones(9).cos()\n"
        "torch.ones(3).tanh()\n",
    )
    operators = {operator for _, operator in rows(profiled(tmp_path, program))}
    assert "aten::cos" in operators
    assert not operators & {"aten::addmm", "aten::tanh"}
