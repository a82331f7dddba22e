"""Sections measure the GPU's memory where there is one; captures start its profiler."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from whet.core.observations.timeline import SectionTotal, Timeline
from whet.core.outcome import Outcome
from whet.host.trial.sections import with_sections

pytestmark = [pytest.mark.ml, pytest.mark.slow]
MEGABYTE = 1 << 20


def totals(folder: Path, program: str) -> dict[str, SectionTotal]:
    reports = folder / "agent"
    reports.mkdir()
    (folder / "program.py").write_text(program)
    subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        env={**os.environ, "WHET_AGENT": str(reports)},
        check=True,
    )
    (evidence,) = with_sections(Outcome(), reports, 0).evidence
    return {each.name: each for each in Timeline.from_bytes(evidence.data).totals}


def test_gpu_memory_of_torch_is_that_of_the_section(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs an NVIDIA GPU and a torch built for CUDA")
    found = totals(
        tmp_path,
        """
import torch, whet
torch.cuda.init()
big = torch.zeros(200 << 20, dtype=torch.uint8, device="cuda")
del big
with whet.section("outer"):
    held = torch.zeros(10 << 20, dtype=torch.uint8, device="cuda")
    with whet.section("inner"), whet.capture():
        brief = torch.zeros(30 << 20, dtype=torch.uint8, device="cuda")
        del brief
""",
    )
    outer, inner = found["outer"].others, found["inner"].others

    assert outer["gpu_peak_memory"] == pytest.approx(40 * MEGABYTE, abs=2 * MEGABYTE)
    assert inner["gpu_kept_memory"] == pytest.approx(0, abs=MEGABYTE)
    assert outer["gpu_kept_memory"] == pytest.approx(10 * MEGABYTE, abs=MEGABYTE)
    assert outer["gpu_outside_peak_memory"] > 0


def test_a_program_of_torch_and_jax_without_a_gpu_has_no_gpu_numbers(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    found = totals(
        tmp_path,
        """
import jax.numpy as jnp, torch, whet
with whet.section("cpu"):
    kept = torch.ones(5 << 20), jnp.ones(5 << 20).block_until_ready()
""",
    )

    assert found["cpu"].others == {}
    assert (found["cpu"].kept_memory_bytes or 0) > 35 * MEGABYTE
