"""`whet expect --estimate`: the least time and the memory of a step, before it runs."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("torch") is None:
    pytest.skip("`make test-ml` brings torch", allow_module_level=True)

pytestmark = [pytest.mark.ml, pytest.mark.slow]

STEPS = Path(__file__).parents[2] / "specimens" / "steps"


def expect(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `whet expect --estimate` with this Python."""
    return subprocess.run(
        [sys.executable, "-m", "whet", "expect", "--python", sys.executable, "--estimate", *words],
        cwd=folder, env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder, so that what the machine reaches is measured once."""
    return tmp_path_factory.mktemp("estimates")


def test_the_bound_is_below_the_time_and_the_memory_is_what_tensors_hold(folder: Path) -> None:
    done = expect(folder, f"{STEPS / 'adam.py'}:step", "--timed", "--json")

    told: dict[str, Any] = json.loads(done.stdout)
    assert 0 < told["least_seconds"] <= told["seconds"]
    assert told["memory"]["peak"] == pytest.approx(told["held_bytes"], rel=0.15)
    parameters = 4 * (1024 * 2048 + 2048 + 2048 * 1024 + 1024)
    assert told["memory"]["parameters"] == told["memory"]["gradients"] == parameters
    assert told["memory"]["optimizer"] == pytest.approx(2 * parameters, rel=0.001)
    # Forward once, backward twice, but for the gradient of the input.
    assert told["flops"] == pytest.approx(2 * 32 * 1024 * 2048 * 5)


def test_nothing_is_allocated_or_run_for_an_estimate(folder: Path) -> None:
    """A table of 400 GB, and a step that would take hours."""
    (folder / "huge.py").write_text(
        "import torch\n"
        "layers = torch.nn.Sequential(*[torch.nn.Linear(100_000, 100_000) for _ in range(10)])\n"
        "batch = torch.randn(10_000, 100_000)\n"
        "def step():\n    layers(batch).sum().backward()\n"
    )

    done = expect(folder, "huge.py:step", "--json")

    told = json.loads(done.stdout)
    assert told["memory"]["parameters"] == pytest.approx(4e11, rel=0.001)
    assert told["least_seconds"] > 60


RECURRENT = """
import torch
layers = torch.nn.LSTM(64, 100, num_layers=3, batch_first=True, bidirectional=True)
cell = torch.nn.LSTM(64, 100)
rows = torch.randn(40, 90, 64)

def step():
    layers.zero_grad()
    layers(rows)[0].sum().backward()

def look():
    with torch.no_grad():
        layers(rows)

def loop():
    cell.zero_grad()
    state, outputs = None, []
    for _ in range(60):
        output, state = cell(rows[:1, :8], state)
        outputs.append(output)
    torch.stack(outputs).sum().backward()
"""


@pytest.mark.parametrize("step", ["step", "look", "loop"])
def test_what_a_recurrent_layer_keeps_inside_is_counted(folder: Path, step: str) -> None:
    (folder / "recurrent.py").write_text(RECURRENT)

    told = json.loads(expect(folder, f"recurrent.py:{step}", "--timed", "--json").stdout)

    assert told["memory"]["peak"] == pytest.approx(told["held_bytes"], rel=0.15)


def test_a_recurrent_layer_that_is_too_large_for_a_call_is_said_to_keep_more(folder: Path) -> None:
    (folder / "wide.py").write_text(
        "import torch\nlayer = torch.nn.LSTM(50_000, 50_000)\nrows = torch.randn(8, 4, 50_000)\n"
        "def step():\n    layer(rows)[0].sum().backward()\n"
    )

    said = expect(folder, "wide.py:step").stdout

    words = "what mkldnn_rnn_layer, mkldnn_rnn_layer_backward keeps inside isn't counted"
    assert words in said


def test_what_the_machine_reaches_is_measured_once_and_shown(folder: Path) -> None:
    first, second = (expect(folder, f"{STEPS / 'mlp.py'}:step") for _ in range(2))

    assert "`step` can't take less than " in first.stdout
    assert "FLOP/s (float32, " in first.stdout
    assert second.stdout == first.stdout


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("if torch.ones(1).sum().item() > 0: pass", "bad.py:3"),
        ("raise KeyError('a')", "KeyError: 'a' (at bad.py:3)"),
        ("torch.ones(2) @ torch.ones(3)", "(at bad.py:3)"),
    ],
)
def test_a_step_that_fails_or_asks_for_values_is_named_with_its_line(
    folder: Path, body: str, words: str
) -> None:
    (folder / "bad.py").write_text(f"import torch\ndef step():\n    {body}\n")

    done = expect(folder, "bad.py:step")

    assert words in done.stderr
    assert done.returncode == 65


@pytest.mark.skipif(find_spec("jax") is None, reason="`make test-ml` brings JAX")
def test_a_step_of_jax_is_compiled_and_not_run(folder: Path) -> None:
    (folder / "pure.py").write_text(
        "import jax, jax.numpy as jnp\n"
        "weights, batch = jnp.ones((512, 256)), jnp.ones((64, 512))\n"
        "def step():\n    return jnp.tanh(batch @ weights).sum()\n"
    )

    told = json.loads(expect(folder, "pure.py:step", "--timed", "--json").stdout)

    assert told["library"] == "jax"
    assert told["flops"] >= 2 * 64 * 512 * 256
    assert told["least_seconds"] <= told["seconds"]
