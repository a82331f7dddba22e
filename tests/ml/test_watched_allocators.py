"""What `whet watch` sees of the real torch and JAX on a CPU."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.ml

JAX = """\
import time
import jax
import jax.numpy as jnp

held = []
double = jax.jit(lambda array: array * 2)
for step in range(1, 5):
    held.append(double(jnp.ones((step * 1000, 250), jnp.float32)).block_until_ready())
    time.sleep(0.3)
"""
TORCH = "import time, torch\nheld = torch.ones(1000, 1000)\ntime.sleep(1.5)\n"


def panels_of(tmp_path: Path, panel: str, text: str) -> list[dict[str, Any]]:
    (tmp_path / "program.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "whet", "watch", panel, "--interval", "0.2", "--json", "--",
         sys.executable, "program.py"],
        cwd=tmp_path, env=os.environ | {"XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True, check=True,
    )  # fmt: skip
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return [each for row in rows for each in row.get("panels", ())]


def test_live_arrays_and_compilations_of_jax_are_counted(tmp_path: Path) -> None:
    panels = panels_of(tmp_path, "jax", JAX)
    levels = [each["numbers"] for each in panels if each["numbers"]]
    live = [each["jax.live"] for each in levels]
    assert live == sorted(live)
    assert live[-1] >= 10_000 * 250 * 4  # 1000 + 2000 + 3000 + 4000 rows
    assert levels[-1]["jax.buffers"] >= 4
    assert levels[-1]["jax.compilations"] >= 4  # a shape of its own each time


def test_torch_for_cpus_is_said_to_keep_no_figures(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.version.cuda is not None:
        pytest.skip("this torch is built for CUDA")
    panels = panels_of(tmp_path, "torch", TORCH)
    assert any("built without CUDA" in each.get("reason", "") for each in panels)
