"""Failures of programs that use torch and transformers, as a user meets them."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("torch") is None:  # not imported here: that would take longer than a trial
    pytest.skip("`make test-ml` brings torch", allow_module_level=True)

pytestmark = pytest.mark.ml

SPECIMENS = Path(__file__).parents[2] / "specimens" / "ml"


def _run(folder: Path, *words: str) -> Mapping[str, object]:
    """Return what `whet run --json` says."""
    done = subprocess.run(
        [sys.executable, "-m", "whet", "run", "--json", *words],
        cwd=folder,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
    )
    answer: Mapping[str, object] = json.loads(done.stdout)
    return answer


def _signature(answer: Mapping[str, object]) -> Mapping[str, object]:
    outcome = answer["outcome"]
    assert isinstance(outcome, dict)
    assert isinstance(outcome["failure"], dict), outcome
    signature: Mapping[str, object] = outcome["failure"]["signature"]
    return signature


def test_one_wrong_shape_is_one_bug_whatever_the_numbers(tmp_path: Path) -> None:
    program = str(SPECIMENS / "wrong_shape.py")

    seven = _signature(_run(tmp_path, "--", sys.executable, program, "7"))
    nine = _signature(_run(tmp_path, "--", sys.executable, program, "9"))

    assert seven == nine
    assert seven["exception"] == "RuntimeError"
    assert str(seven["user_function"]).endswith("wrong_shape.py:forward")
    assert "torch/nn/modules/linear.py" in str(seven["library_function"])


def test_a_loss_that_is_not_a_number_is_bad_where_the_exit_code_is_0(tmp_path: Path) -> None:
    answer = _run(
        tmp_path, "--bad-if", "stdout ~ 'loss: (nan|inf)'",
        "--", sys.executable, str(SPECIMENS / "nan_loss.py"),
    )  # fmt: skip

    assert answer["verdict"] == "bad"


def test_a_training_that_hangs_is_signed_by_the_function_that_it_hangs_in(tmp_path: Path) -> None:
    program = str(SPECIMENS / "endless_training.py")

    signature = _signature(_run(tmp_path, "--timeout", "12", "--", sys.executable, program))

    assert signature["kind"] == "timeout"
    assert str(signature["user_function"]).endswith("endless_training.py:train_for_ever")


def test_a_file_of_tokens_shrinks_to_the_one_beyond_the_vocabulary(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens.txt"
    tokens.write_text("7 12 99 100 3\n")

    done = subprocess.run(
        [sys.executable, "-m", "whet", "shrink", "--json", "--budget", "240", "tokens.txt", "--",
         sys.executable, str(SPECIMENS / "token_out_of_range.py"), "tokens.txt"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == os.EX_OK, done.stderr
    assert (tmp_path / "tokens.shrunk.txt").read_text().split() == ["100"]
