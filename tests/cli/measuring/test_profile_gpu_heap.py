"""`whet profile --gpu-heap`: which lines hold a GPU's memory at the peak.

There is no GPU here: a stand-in for torch keeps the history of its allocator.
"""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from whet_command import Whet

TORCH = str(Path(__file__).parents[3] / "specimens" / "gpu" / "site-packages")
PROGRAM = """\
import torch

def load():
    torch.empty(1 << 30)

def step(history):
    history.append(torch.empty(1 << 28))

load()
history = []
for _ in range(int(__import__("sys").argv[1])):
    step(history)
"""
pytestmark = pytest.mark.slow


@pytest.fixture
def trains(whet: Whet) -> Whet:
    """Return whet in a folder with a program that holds 1 GiB and adds 256 MiB in each step."""
    (whet.folder / "train.py").write_text(PROGRAM)
    path = os.pathsep.join([TORCH, os.environ.get("PYTHONPATH", "")])
    return replace(whet, environment={**whet.environment, "PYTHONPATH": path})


def test_the_lines_that_hold_the_memory_of_the_gpu_are_named(trains: Whet) -> None:
    said = trains("profile", "--gpu-heap", "--", sys.executable, "train.py", "12")
    assert said.code == 0
    assert "4.3 GB memory of the GPU at the peak (torch's allocator)" in said.stderr + said.stdout
    (profile,) = json.loads(trains("profile", "--show", "1", "--json").stdout)["profiles"]
    assert profile["question"] == "gpu_memory"
    own = {each["line"]: each["own"] for each in profile["lines"]}
    assert own == {7: 12 << 28, 4: 1 << 30}


def test_after_an_error_the_peak_is_still_known(trains: Whet) -> None:
    said = trains("profile", "--gpu-heap", "--json", "--", sys.executable, "train.py", "40")
    assert said.code == 1
    (profile,) = json.loads(said.stdout)["profiles"]
    assert profile["lines"][0]["line"] == 7


def test_a_program_that_takes_no_memory_of_a_gpu_is_said_to_take_none(trains: Whet) -> None:
    said = trains("profile", "--gpu-heap", "--", sys.executable, "-c", "print(1)")
    assert "took no memory of a GPU by way of torch" in said.stderr


def test_where_a_gpu_has_no_memory_left_the_line_that_took_most_is_the_cause(trains: Whet) -> None:
    trains("investigate", "--no-changes", "--budget", "60s", "--", sys.executable, "train.py", "40")
    answer = json.loads((trains.folder / "whet-report/report.json").read_text())["answer"]
    assert (
        "that the program held on the GPU at its peak were allocated at train.py:7"
        in answer["says"]
    )
    assert "blocks" in answer["says"]
    assert "`loss.item()`" in answer["next_step"]


@pytest.mark.long
def test_a_single_large_block_is_not_taken_for_graphs_that_are_kept(trains: Whet) -> None:
    (trains.folder / "large.py").write_text(
        "import torch\ntable = torch.empty(6 << 30)\ntorch.empty(4 << 30)\n"
    )
    trains("investigate", "--no-changes", "--budget", "60s", "--", sys.executable, "large.py")
    answer = json.loads((trains.folder / "whet-report/report.json").read_text())["answer"]
    assert "were allocated at large.py:2" in answer["says"]
    assert "hold less at large.py:2" in answer["next_step"]
