"""Failures of torch and transformers, really run."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from whet.core.failure import Failure, FailureKind
from whet.core.outcome import Outcome
from whet.core.output import BytesOutput
from whet.core.trial import Trial
from whet.evidence.signature.classify import classify

pytestmark = [pytest.mark.ml, pytest.mark.slow]

PROGRAMS = Path(__file__).parents[2] / "specimens" / "failures" / "ml"
ENVIRONMENT = {
    **os.environ,
    "HF_HUB_OFFLINE": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
}


@cache
def failure_of(*arguments: str) -> Failure:
    command = (sys.executable, *arguments)
    done = subprocess.run(
        command, cwd=PROGRAMS, env=ENVIRONMENT, capture_output=True, check=False, timeout=300
    )
    outcome = Outcome(
        exit_code=done.returncode,
        stdout=BytesOutput(done.stdout),
        stderr=BytesOutput(done.stderr),
    )
    failure = classify(Trial(command=command, cwd=str(PROGRAMS)), outcome)
    assert failure is not None
    return failure


def test_layers_that_do_not_fit_are_one_bug_for_any_number_of_rows() -> None:
    signature = failure_of("shapes.py", "3").signature

    assert signature == failure_of("shapes.py", "1").signature
    assert signature.exception == "RuntimeError"
    assert signature.message.endswith("cannot be multiplied (<n>)")
    assert signature.user_function == "shapes.py:forward"
    assert signature.library_function == "torch/nn/modules/linear.py:forward"


def test_a_dataset_fails_the_same_way_with_and_without_workers() -> None:
    alone = failure_of("loader.py", "0", "3").signature

    assert alone == failure_of("loader.py", "2", "5").signature
    assert alone.exception == "KeyError"
    assert alone.user_function == "loader.py:__getitem__"


def test_memory_that_cannot_be_had_is_out_of_memory_whatever_was_asked_for() -> None:
    signature = failure_of("too_large.py", str(1 << 60)).signature

    assert signature.kind is FailureKind.OUT_OF_MEMORY
    assert signature == failure_of("too_large.py", str(1 << 59)).signature
    assert signature.user_function == "too_large.py:allocate"


def test_a_checkpoint_of_another_model_is_one_bug_for_any_number_of_layers() -> None:
    signature = failure_of("checkpoint.py", "2").signature

    assert signature == failure_of("checkpoint.py", "1").signature
    assert signature.message == (
        "Error(s) in loading state_dict for Sequential: Missing key(s) in state_dict: <str>."
    )
    assert signature.library_function == "torch/nn/modules/module.py:load_state_dict"


def test_a_graph_that_was_freed_is_signed_where_it_was_used_again() -> None:
    signature = failure_of("twice.py").signature

    assert signature.user_function == "twice.py:step"
    assert signature.message.startswith("Trying to backward through the graph a second time")


def test_a_spawned_worker_is_signed_by_its_own_exception() -> None:
    signature = failure_of("spawned.py", "1").signature

    assert signature == failure_of("spawned.py", "2").signature
    assert signature.exception == "ValueError"
    assert signature.user_function == "spawned.py:work"


def test_a_rank_of_torchrun_is_signed_by_its_own_exception() -> None:
    signature = failure_of(
        "-m", "torch.distributed.run", "--nproc-per-node", "2", "ranks.py"
    ).signature

    assert signature.exception == "ValueError"
    assert signature.message == "rank <n> read a bad row"
    assert signature.user_function == "ranks.py:train"


def test_an_unknown_token_is_one_bug_for_a_text_of_any_length() -> None:
    signature = failure_of("vocabulary.py", "3").signature

    assert signature == failure_of("vocabulary.py", "1").signature
    assert signature.exception == "IndexError"
    assert signature.user_function == "vocabulary.py:embed"
    assert signature.library_function == "torch/nn/functional.py:embedding"


def test_a_folder_without_a_model_is_one_bug_wherever_it_is(tmp_path: Path) -> None:
    for name in ("one", "other"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "config.json").write_text("{}")
    one, other = (failure_of("no_model.py", str(tmp_path / name)) for name in ("one", "other"))

    assert one.signature == other.signature
    assert one.signature.exception == "ValueError"
    assert one.signature.user_function == "no_model.py:load"
