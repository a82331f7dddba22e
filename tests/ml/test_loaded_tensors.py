"""A tensor of a wrong type or shape is followed through a data loader into the program's own line."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("torch") is None:  # not imported here: that would take longer than a trial
    pytest.skip("`make test-ml` brings torch", allow_module_level=True)

pytestmark = [pytest.mark.ml, pytest.mark.slow]

TRANSFORM = """\
import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Standardize:
    def __init__(self, mean, std):
        self.mean, self.std = np.asarray(mean), np.asarray(std)

    def __call__(self, window):
        return torch.from_numpy((window.numpy() - self.mean) / self.std)


class Windows(Dataset):
    def __init__(self, transform):
        self.readings = torch.rand(16, 8)
        self.transform = transform

    def __len__(self):
        return len(self.readings)

    def __getitem__(self, index):
        return self.transform(self.readings[index]), self.readings[index].sum()


model = torch.nn.Linear(8, 1)
for window, target in DataLoader(Windows(Standardize([0.4] * 8, [1.3] * 8)), batch_size=4):
    (model(window).squeeze(1) - target).abs().mean().backward()
"""
COLLATED = """\
import torch
from torch.utils.data import DataLoader, Dataset


class Houses(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return {"area": torch.tensor([float(i)]), "price": i / 64.0}


model = torch.nn.Linear(1, 1)
for batch in DataLoader(Houses(), batch_size=4):
    (model(batch["area"]) + model(batch["price"].unsqueeze(1))).sum().backward()
"""
OWN_COLLATE = """\
import torch
from torch.utils.data import DataLoader

REVIEWS = [([3, 4, 9], 0), ([7], 1), ([1, 2], 0), ([5, 5, 5, 5], 1)]


def padded(items):
    ids = torch.zeros(len(items), max(len(tokens) for tokens, _ in items))
    for row, (tokens, _) in enumerate(items):
        ids[row, : len(tokens)] = torch.as_tensor(tokens)
    return ids, torch.tensor([label for _, label in items])


embed = torch.nn.Embedding(10, 4)
for ids, labels in DataLoader(REVIEWS, batch_size=2, collate_fn=padded):
    print(embed(ids).mean(dim=1).shape, labels)
"""
MODEL_IS_DOUBLE = """\
import torch
from torch.utils.data import DataLoader

points = torch.rand(16, 3)
model = torch.nn.Linear(3, 1).double()
for batch in DataLoader(points, batch_size=4):
    model(batch).sum().backward()
"""


def _clues(folder: Path, program: str) -> list[dict[str, object]]:
    (folder / "main.py").write_text(program)
    said = subprocess.run(
        [sys.executable, "-m", "whet", "investigate", "--json", "--budget", "90s", "--",
         sys.executable, "main.py"],
        cwd=folder, env={**os.environ, "WHET_DIR": str(folder / "state")},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert said.stdout, said.stderr
    found: list[dict[str, object]] = json.loads(said.stdout)["clues"]
    return found


@pytest.mark.parametrize(
    ("program", "made"),
    [(TRANSFORM, "torch.from_numpy"), (COLLATED, "i / 64.0"), (OWN_COLLATE, "ids = torch.zeros")],
)
def test_a_wrong_type_is_followed_through_a_loader_to_the_line_that_made_it(
    tmp_path: Path, program: str, made: str
) -> None:
    first = _clues(tmp_path, program)[0]
    (line,) = [n for n, text in enumerate(program.splitlines(), 1) if made in text]
    assert (first["line"], str(first["sureness"]).partition(":")[0]) == (line, "seen"), first[
        "says"
    ]
    assert "is a tensor of float" in str(first["says"])


def test_where_the_model_is_the_odd_one_no_line_of_the_data_is_called_the_cause(
    tmp_path: Path,
) -> None:
    found = _clues(tmp_path, MODEL_IS_DOUBLE)
    assert not [each for each in found if "possible" not in str(each["sureness"])], found
