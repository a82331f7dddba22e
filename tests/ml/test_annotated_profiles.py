"""Annotations stand in the profiles of torch and JAX while these record, and captures start them."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.ml, pytest.mark.slow]


def run(folder: Path, program: str, **environment: str) -> None:
    (folder / "program.py").write_text(program)
    subprocess.run(
        [sys.executable, "program.py"], cwd=folder, env={**os.environ, **environment}, check=True
    )


def test_torch_shows_the_annotations_that_it_records(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
import torch, whet
from torch.profiler import profile, ProfilerActivity
with whet.annotate("unheard"):
    pass
with profile(activities=[ProfilerActivity.CPU]) as profiler:
    with whet.annotate("whole step"):
        torch.ones(3).sum()
        whet.annotate("one moment").mark()
names = {each.key for each in profiler.key_averages()}
assert {"whole step", "one moment"} <= names and "unheard" not in names, names
""",
    )


def test_jax_shows_the_annotations_that_it_records(tmp_path: Path) -> None:
    run(
        tmp_path,
        """
import jax, jax.numpy as jnp, whet
with whet.annotate("unheard range"):
    jnp.ones(3).block_until_ready()
jax.profiler.start_trace("trace")
with whet.annotate("whole step"):
    jnp.ones(3).block_until_ready()
jax.profiler.stop_trace()
""",
    )
    (path,) = tmp_path.glob("trace/**/*.trace.json.gz")
    names = {
        each.get("name") for each in json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    }

    assert "whole step" in names
    assert "unheard range" not in names


def test_a_capture_starts_the_profiler_of_jax_where_whet_asks_for_it(tmp_path: Path) -> None:
    reports = tmp_path / "agent"
    reports.mkdir()
    run(
        tmp_path,
        """
import jax, whet
with whet.capture():
    jax.numpy.ones(3).block_until_ready()
""",
        WHET_AGENT=str(reports),
        WHET_CAPTURE="jax",
    )
    assert [*reports.glob("*-1.jax/**/*.xplane.pb")]
