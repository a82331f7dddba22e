"""Switches that are turned inside torch."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ml, pytest.mark.slow]

NAN = """
import torch

weight = torch.tensor([0.0], requires_grad=True)
bad = torch.sqrt(weight) * 0
bad.sum().backward()
assert not torch.isnan(weight.grad).any(), "a gradient is no number"
"""
WORKERS = """
import torch
from torch.utils.data import DataLoader, get_worker_info


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return 0 if get_worker_info() is None else 1


if __name__ == "__main__":
    rows = list(DataLoader(Rows(), 2, num_workers=1, prefetch_factor=2))
    assert int(rows[0].sum()) == 0, "loaded elsewhere"
"""
UNORDERED = """
import torch

assert torch.are_deterministic_algorithms_enabled()
"""


def row(folder: Path, text: str, name: str) -> dict[str, object]:
    (folder / "main.py").write_text(text)
    words = ["toggle", "--json", name, "--", sys.executable, "main.py"]
    said = subprocess.run(
        [sys.executable, "-m", "whet", *words],
        cwd=folder,
        env={**os.environ, "WHET_DIR": str(folder / "state")},
        capture_output=True,
        check=True,
        timeout=300,
    )
    (found,) = json.loads(said.stdout)["toggles"]
    return found


def test_anomaly_mode_names_the_forward_call_of_a_gradient_that_is_no_number(
    tmp_path: Path,
) -> None:
    found = row(tmp_path, NAN, "torch-anomaly")

    assert (found["took"], found["effect"]) == (True, "different")
    assert "SqrtBackward0" in str(found["summary"])


def test_a_loader_loads_in_the_process_itself(tmp_path: Path) -> None:
    found = row(tmp_path, WORKERS, "no-workers")

    assert (found["took"], found["effect"]) == (True, "gone")


def test_algorithms_are_deterministic(tmp_path: Path) -> None:
    found = row(tmp_path, UNORDERED, "torch-deterministic")

    assert (found["took"], found["effect"]) == (True, "gone")
