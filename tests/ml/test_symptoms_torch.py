"""What `whet investigate` says of a training whose loss is no number."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("torch") is None:  # not imported here: that would take longer than a trial
    pytest.skip("`make test-ml` brings torch", allow_module_level=True)

pytestmark = [pytest.mark.ml, pytest.mark.slow]

PROGRAM = Path(__file__).parents[2] / "specimens" / "symptoms" / "no_gradient.py"


def line_of(text: str) -> int:
    lines = PROGRAM.read_text().splitlines()
    (found,) = [number for number, line in enumerate(lines, 1) if text in line]
    return found


def test_the_first_tensor_with_a_nan_and_the_forward_call_of_its_gradient_are_named(
    tmp_path: Path,
) -> None:
    shutil.copy(PROGRAM, tmp_path / "main.py")
    said = subprocess.run(
        [sys.executable, "-m", "whet", "investigate", "--json", "--", sys.executable, "main.py"],
        cwd=tmp_path,
        env={**os.environ, "WHET_DIR": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert said.stdout, said.stderr
    clues = json.loads(said.stdout)["clues"]
    by_line = {each["line"]: each["says"] for each in clues}

    assert "`optimizer`" in by_line[line_of("optimizer.step()")]
    assert "the first NaN" in by_line[line_of("optimizer.step()")]
    told = by_line[line_of("return torch.sqrt")]
    assert "the gradient went wrong in the forward call" in told
    assert "Backward0' returned nan values" in told
