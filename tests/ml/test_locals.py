"""What `--locals` tells of tensors and data frames."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import whet.agent
from whet.core.text.record import JsonObject, as_record, records
from whet.evidence.variables.kept_value import value_line

pytestmark = pytest.mark.ml

SITE = Path(whet.agent.__file__).parent / "site"
PROGRAM = """\
import pandas, torch
class Odd(torch.Tensor):
    def __torch_function__(self, *_, **__): raise RuntimeError
def f():
    weights = torch.ones(64, 32, requires_grad=True)
    small = torch.tensor([1.0, float("nan")])
    half = torch.full((40,), 2.0, dtype=torch.bfloat16)
    meta = torch.zeros(2, 3, device="meta")
    odd = torch.zeros(3).as_subclass(Odd)
    frame = pandas.DataFrame({"a": [1.0, None], "b": ["x", "y"]})
    1 / 0
f()
"""


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("locals")
    (folder / "program.py").write_text(PROGRAM)
    environment = {
        **os.environ,
        "PYTHONPATH": str(SITE),
        "WHET_AGENT": str(folder),
        "WHET_PYCACHE": str(folder / "pycache"),
        "WHET_LOCALS": "1",
    }
    subprocess.run([sys.executable, "program.py"], cwd=folder, env=environment, check=False)
    (kept,) = folder.glob("*.failures")
    error: JsonObject = as_record(json.loads(kept.read_text())["error"], "error")
    variables = records(error, "frames")[-1]["variables"]
    assert isinstance(variables, list)
    return {name: value_line(value) for name, value, *_ in variables}


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("weights", "Tensor 64x32 float32 cpu grad min=1 mean=1 max=1"),
        ("small", "Tensor 2 float32 cpu NaN=1 [1, nan]"),
        ("half", "Tensor 40 bfloat16 cpu min=2 mean=2 max=2"),
        ("meta", "Tensor 2x3 float32 meta"),
        ("odd", "Odd 3 float32 cpu [0, 0, 0]"),
    ],
)
def test_a_tensor_is_one_line(name: str, line: str, lines: dict[str, str]) -> None:
    assert lines[name] == line


def test_a_data_frame_is_told_by_its_columns(lines: dict[str, str]) -> None:
    assert lines["frame"].startswith("DataFrame 2x2 (a float64 1 missing 1.0, nan…, b ")


@pytest.mark.slow
def test_a_worker_of_a_loader_keeps_what_its_item_held(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import torch\n"
        "class Rows(torch.utils.data.Dataset):\n"
        "    def __len__(self):\n        return 4\n"
        "    def __getitem__(self, index):\n        rest = 3 - index\n        return 1 / rest\n"
        "if __name__ == '__main__':\n"
        "    list(torch.utils.data.DataLoader(Rows(), num_workers=1))\n"
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(SITE),
        "WHET_AGENT": str(tmp_path),
        "WHET_PYCACHE": str(tmp_path / "pycache"),
        "WHET_LOCALS": "1",
    }
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=environment, check=False)
    kept = [
        json.loads(line)
        for each in tmp_path.glob("*.failures")
        for line in each.read_text().splitlines()
    ]
    (worker,) = [each for each in kept if each["where"] == "process"]
    innermost = worker["error"]["frames"][-1]

    assert innermost["function"].endswith("__getitem__")
    assert {name: value for name, value, *_ in innermost["variables"]}["index"] == 3
