"""Switches that are turned inside torch."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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

MIXED = """
import torch

with torch.autocast("cpu", dtype=torch.bfloat16):
    made = torch.ones(2, 2) @ torch.ones(2, 2)
assert made.dtype is torch.float32, "mixed precision"
"""
HALF = """
import torch

torch.set_default_dtype(torch.bfloat16)
model = torch.nn.Linear(2, 2)
made = [model.weight, torch.ones(2).half(), torch.ones(2, dtype=torch.float16),
        torch.ones(2).to(torch.bfloat16), torch.nn.Linear(2, 2).to(torch.bfloat16).weight]
assert {each.dtype for each in made} == {torch.float32}, "half precision"
"""
SPAWNED = """
import os
import socket
import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def work(rank, size, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=size)
    total = torch.ones(1)
    dist.all_reduce(total)
    assert total.item() == 1, "more than one rank"


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    mp.spawn(work, args=(2, port), nprocs=2)
"""
RANKS = """
import os

assert os.environ["WORLD_SIZE"] == "1", "more than one rank"
"""
SHAPES = """
import torch
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.ones(4) * index


if __name__ == "__main__":
    model = torch.nn.Linear(4, 3).to(torch.bfloat16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for rows in DataLoader(Rows(), 2, num_workers=2):
            made = model(rows.to(torch.bfloat16))
            made @ torch.ones(4, 4, dtype=made.dtype)
"""
NEEDS_HALF = """
import torch

made = torch.full((4,), 1000.0, dtype=torch.float16) ** 2
assert torch.isfinite(made).all(), "too large"
"""
TRAINING_MODE = """
import torch

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Dropout(0.5))
frozen = torch.nn.Dropout(0.5).eval()
rows = torch.ones(2, 4)
made = model(rows)  # as it trains
with torch.no_grad():
    same = torch.equal(model(rows), model(rows))
assert same, "each call gives something else"
assert model.training and model[1].training and not frozen.training
assert made.requires_grad and (made == 0).any()
"""
OLD_GRADIENTS = """
import torch

weight = torch.nn.Parameter(torch.zeros(1))
optimizer = torch.optim.SGD([weight], lr=0.5)
for _ in range(20):
    ((weight - 3) ** 2).sum().backward()
    optimizer.step()
off = abs(weight.item() - 3)
assert off < 0.1, f"off by {off:.1f}"
"""
NOT_SWITCHED = """
import torch
from torch import nn


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = [nn.Dropout(0.5) for _ in range(2)]

    def forward(self, x):
        return sum(part(x) for part in self.parts)


mixed = Mixed()
mixed.eval()
x = torch.ones(64)
with torch.no_grad():
    assert torch.equal(mixed(x), mixed(x)), "two answers"
"""
NOT_REGISTERED = """
import torch
from torch import nn


class Odd:
    def __getattr__(self, name):
        raise RuntimeError("nobody may ask for " + name)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = []
        for _ in range(2):
            self.layers.append(nn.Linear(2, 2))
        self.heads = {"one": nn.Linear(2, 1)}
        self.level = torch.zeros(1, requires_grad=True)
        self.scale, self.odd = torch.ones(1), Odd()

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.heads["one"](x) * self.scale + self.level


net = Net()
found = [tuple(each.shape) for each in net.parameters()]
assert sorted(found) == [(1,), (1,), (1, 2), (2,), (2,), (2, 2), (2, 2)], found
net(torch.ones(3, 2)).sum().backward()
assert all(each.grad is not None for each in net.parameters())
"""


FROZEN = """
import torch
from torch import nn


class Teacher(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)
        for parameter in self.parameters():
            parameter.requires_grad_(False)

    def forward(self, x):
        return self.layer(x)


class Distilled(nn.Module):
    def __init__(self, teacher):
        super().__init__()
        self.teachers = [teacher]
        self.student = nn.Linear(4, 2)

    def forward(self, x):
        return sum((each(x) - self.student(x)).square().mean() for each in self.teachers)


model = Distilled(Teacher()).double()
x = torch.ones(3, 4, dtype=torch.float64)
print(model(x).item())
"""


def row(folder: Path, text: str, name: str) -> dict[str, object]:
    (found,) = toggled(folder, text, name)["toggles"]
    return found


def toggled(folder: Path, text: str, *options: str, before: tuple[str, ...] = ()) -> Any:
    (folder / "main.py").write_text(text)
    words = ["toggle", "--json", *options, "--", *(before or (sys.executable,)), "main.py"]
    said = subprocess.run(
        [sys.executable, "-m", "whet", *words],
        cwd=folder,
        env={**os.environ, "WHET_DIR": str(folder / "state")},
        capture_output=True,
        check=True,
        timeout=300,
    )
    return json.loads(said.stdout)


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


def test_mixed_precision_is_off(tmp_path: Path) -> None:
    found = row(tmp_path, MIXED, "no-autocast")

    assert (found["took"], found["effect"]) == (True, "gone")


def test_half_precision_becomes_single(tmp_path: Path) -> None:
    found = row(tmp_path, HALF, "float32")

    assert (found["took"], found["effect"]) == (True, "gone")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (TRAINING_MODE, "eval-without-grad"),
        (OLD_GRADIENTS, "zero-grads"),
        (NOT_REGISTERED, "registered"),
        (FROZEN, "registered"),
        (NOT_SWITCHED, "registered"),
    ],
)
def test_a_slip_of_a_training_is_mended(tmp_path: Path, text: str, name: str) -> None:
    found = row(tmp_path, text, name)

    assert (found["took"], found["effect"]) == (True, "gone")


def test_a_training_that_keeps_old_gradients_is_named_with_the_line_of_the_step(
    tmp_path: Path,
) -> None:
    (tmp_path / "main.py").write_text(OLD_GRADIENTS)
    subprocess.run(
        [sys.executable, "-m", "whet", "investigate", "--budget", "10m", "--", sys.executable, "main.py"],
        cwd=tmp_path, env={**os.environ, "WHET_DIR": str(tmp_path / "state")}, capture_output=True,
        check=False, timeout=600,
    )  # fmt: skip
    cause = json.loads((tmp_path / "whet-report" / "report.json").read_text())["answer"]["cause"]

    assert (cause["line"], cause["sureness"]) == (8, "shown")
    assert "at main.py:8 the gradients of earlier steps are still there" in cause["says"]
    assert "zero_grad" in cause["next_step"]


def test_a_module_in_a_list_that_is_not_converted_with_the_others_is_the_cause(
    tmp_path: Path,
) -> None:
    (tmp_path / "main.py").write_text(FROZEN)
    subprocess.run(
        [sys.executable, "-m", "whet", "investigate", "--budget", "10m", "--", sys.executable, "main.py"],
        cwd=tmp_path, env={**os.environ, "WHET_DIR": str(tmp_path / "state")}, capture_output=True,
        check=False, timeout=600,
    )  # fmt: skip
    cause = json.loads((tmp_path / "whet-report" / "report.json").read_text())["answer"]["cause"]

    assert (cause["line"], cause["sureness"]) == (20, "shown")
    assert "isn't one of its modules or parameters" in cause["says"]


def test_processes_that_torch_spawns_are_one_rank(tmp_path: Path) -> None:
    found = row(tmp_path, SPAWNED, "one-process")

    assert (found["took"], found["effect"]) == (True, "gone")


def test_torchrun_starts_one_rank_whatever_it_is_told(tmp_path: Path) -> None:
    run = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    (found,) = toggled(tmp_path, RANKS, "one-process", before=run)["toggles"]

    assert found["effect"] == "gone"


def test_the_simplest_setting_of_a_wrong_shape_is_without_all_of_it(tmp_path: Path) -> None:
    found = toggled(tmp_path, SHAPES, "--simplify")["simplest"]
    fates = {each["name"]: each["fate"] for each in found["choices"]}

    kept = {"cpu", "float32", "no-autocast", "no-workers", "one-process", "one-thread"}
    assert {fates[name] for name in kept} == {"kept"}
    assert fates["jax-no-jit"] == "unread"
    assert found["left_out"] == []


def test_a_failure_of_half_precision_refuses_float32_and_says_why(tmp_path: Path) -> None:
    found = toggled(tmp_path, NEEDS_HALF, "--simplify")["simplest"]

    assert found["left_out"] == ["float32"]
    (choice,) = [each for each in found["choices"] if each["name"] == "float32"]
    assert choice["fate"] == "needed"


def test_a_module_in_a_list_that_eval_does_not_reach_is_the_cause(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(NOT_SWITCHED)
    subprocess.run(
        [sys.executable, "-m", "whet", "investigate", "--budget", "10m", "--", sys.executable, "main.py"],
        cwd=tmp_path, env={**os.environ, "WHET_DIR": str(tmp_path / "state")}, capture_output=True,
        check=False, timeout=600,
    )  # fmt: skip
    cause = json.loads((tmp_path / "whet-report" / "report.json").read_text())["answer"]["cause"]

    assert (cause["line"], cause["sureness"]) == (9, "shown")
    assert "isn't one of its modules or parameters" in cause["says"]
