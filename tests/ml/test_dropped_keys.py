"""Keys of a saved model that match none are told where the program drops them, and can be loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import whet.agent
from whet.evidence.clues.closer_look import told_in
from whet.evidence.clues.dropped import Trouble, drops_in
from whet.evidence.experiments.changes import text_with
from whet.evidence.experiments.dropped_results import uses_of_dropped
from whet.host.trial.instrumented_evidence import read_closer

pytestmark = [pytest.mark.ml, pytest.mark.slow]
SITE = Path(whet.agent.__file__).parent / "site"
PROGRAM = """\
import torch
class Wrapped(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.module = torch.nn.Linear(2, 1)
saved = Wrapped().state_dict()
model = torch.nn.Linear(2, 1)
model.load_state_dict(saved, strict=False)
assert torch.equal(model.weight, saved["module.weight"])
"""


def test_a_state_with_a_prefix_is_told_and_loads_under_the_names_of_the_model(
    tmp_path: Path,
) -> None:
    (tmp_path / "agent").mkdir()
    path = tmp_path / "main.py"
    path.write_text(PROGRAM)
    own = {"PYTHONPATH": str(SITE), "WHET_AGENT": str(tmp_path / "agent"), "WHET_CLOSER": ""}
    done = subprocess.run(
        [sys.executable, str(path)],
        env={**os.environ, **own, "WHET_PYCACHE": str(tmp_path / "cache")},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert "AssertionError" in done.stderr
    (drop,) = drops_in(told_in([read_closer(tmp_path / "agent")]))
    assert (drop.trouble, drop.at.number) == (Trouble.FIELDS, 8)
    assert [(each.name, each.size) for each in drop.fields] == [
        ("missing_keys", 2), ("unexpected_keys", 2),
    ]  # fmt: skip

    (repair,) = uses_of_dropped(PROGRAM, [drop])
    path.write_text(text_with(PROGRAM, repair))
    subprocess.run([sys.executable, str(path)], check=True, timeout=120)
