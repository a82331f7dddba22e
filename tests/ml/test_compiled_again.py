"""`whet profile` says what JAX and torch compile again and again, and JAX's profiler names operations."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.ml, pytest.mark.slow]

JAX = """\
import logging
logging.basicConfig(level=logging.INFO)
import jax, jax.numpy as jnp

@jax.jit
def step(w, x):
    return jnp.tanh(x @ w).sum()

def loss(w, n):
    return float(step(w, jnp.ones((n, 200))))

weights = jnp.ones((200, 200))
print(sum(loss(weights, n) for n in range(100, 112)))
"""
TORCH = """\
import torch

@torch.compile(backend="eager")
def step(x, way):
    return x * len(way)

for count in range(1, 8):
    step(torch.ones(3), "a" * count)
"""


def profiled(folder: Path, program: str, *options: str) -> tuple[dict[str, Any], str]:
    (folder / "train.py").write_text(program)
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    words = ["profile", "--once", "--json", *options, "--", sys.executable, "train.py"]
    done = subprocess.run(
        [sys.executable, "-m", "whet", *words], cwd=folder, env=environment, check=True,
        capture_output=True, text=True,
    )  # fmt: skip
    told = json.loads(done.stdout)
    return told["profiles"][0], str(told)


def compiled(profile: dict[str, Any], function: str) -> dict[str, Any]:
    (found,) = [each for each in profile["compiled"] if each["function"] == function]
    assert isinstance(found, dict)
    return found


def test_jax_is_told_with_the_line_that_brings_new_shapes_and_its_log_stays_quiet(
    tmp_path: Path,
) -> None:
    profile, told = profiled(tmp_path, JAX)
    step = compiled(profile, "step")

    assert (step["count"], step["line"], step["caller"]) == (12, 10, "loss")
    assert step["types"][1] == ["float32[200,200]", "float32[101,200]"]
    assert "Compiling jit(step)" not in told


def test_torchs_guards_are_told_with_the_function(tmp_path: Path) -> None:
    profile, _ = profiled(tmp_path, TORCH)
    step = compiled(profile, "step")

    assert step["line"] == 3
    assert step["count"] == len(step["reasons"]) + 1 >= 2
    assert "way" in step["reasons"][0]


def test_jaxs_profiler_names_the_operations_with_the_function_that_starts_them(
    tmp_path: Path,
) -> None:
    program = JAX.replace("(100, 112)", "(3000, 3002)")
    profile, _ = profiled(tmp_path, program, "--gpu")
    own = [each for each in profile["lines"] if each["is_own"]]

    assert profile["engine"] == "jax.profiler"
    assert any(
        each["function"] == "loss" and each["calls"].startswith("jit_step: ") for each in own
    ), own


def test_only_what_capture_surrounds_is_in_jaxs_profile(tmp_path: Path) -> None:
    program = (
        f"{JAX}import whet\ndef part():\n    return float(jnp.ones((900, 900)).sum())\n"
        "with whet.capture():\n    part()\n"
    )
    profile, _ = profiled(tmp_path, program, "--gpu")
    calls = {each["calls"] for each in profile["lines"]}

    assert not any(each.startswith("jit_step") for each in calls)
    assert any(each.startswith("jit__reduce_sum") for each in calls), calls


def test_a_slow_program_is_told_with_what_is_compiled_again(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(JAX.replace("(100, 112)", "(100, 130)"))
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    words = ["investigate", "--no-changes", "--bad-if", "seconds > 0.1", "--budget", "60s"]
    subprocess.run(
        [sys.executable, "-m", "whet", *words, "--", sys.executable, "train.py"], cwd=tmp_path,
        env=environment, check=False, capture_output=True,
    )  # fmt: skip
    answer = json.loads((tmp_path / "whet-report/report.json").read_text())["answer"]

    assert answer["heading"] == "what takes the time"
    assert answer["says"].startswith("JAX compiles `"), answer
    assert "train.py:10 in loss" in answer["says"]
