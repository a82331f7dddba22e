"""`whet leak` names the tensor whose graph becomes longer, and nothing in a training that keeps a number."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

if find_spec("torch") is None:  # not imported here: that would take longer than a trial
    pytest.skip("`make test-ml` brings torch", allow_module_level=True)

pytestmark = [pytest.mark.ml, pytest.mark.slow]

SPECIMENS = Path(__file__).parents[2] / "specimens" / "leaks"


def leak(folder: Path, specimen: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "whet", "leak", "--json", "--", sys.executable, str(SPECIMENS / specimen)],
        cwd=folder, env={**os.environ, "XDG_STATE_HOME": str(folder / "state")},
        capture_output=True, text=True, check=True, timeout=280,
    )  # fmt: skip
    return json.loads(done.stdout)


def test_a_running_loss_that_keeps_its_graph_is_named(tmp_path: Path) -> None:
    told = leak(tmp_path, "growing/torch_graph.py")

    assert (told["verdict"], told["growing"]) == ("leak", ["memory"])
    (holder,) = told["holders"]
    assert (holder["name"], holder["type"]) == ("running", "graph")
    assert holder["added"] >= 28


def test_a_running_loss_that_is_a_number_is_no_leak(tmp_path: Path) -> None:
    assert leak(tmp_path, "steady/torch_graph.py")["verdict"] in {"none", "small"}
