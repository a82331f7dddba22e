"""A switch that the program doesn't read is turned no more often than it takes to know that."""

import os
import sys
from pathlib import Path

import pytest
from flaky_baselines import flaky_baseline

from whet.workbench.toggle.toggle import turn_each
from whet.workbench.toggle.toggles import chosen, known_toggles
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session

TOGGLES = ("one-thread", "hash-seed")


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        pytest.param("assert not 1\n", {"one-thread": 2, "hash-seed": 4}, id="read by nothing"),
        pytest.param(
            "from concurrent.futures import ThreadPoolExecutor as Pool\n"
            "with Pool(2) as pool:\n    pool.submit(print)\nassert not 1\n",
            {"one-thread": 4, "hash-seed": 4},
            id="read by a pool",
        ),
    ],
)
def test_a_switch_that_the_program_reads_is_turned_as_often_as_asked_and_another_one_twice(
    text: str, runs: dict[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    with open_workbench({**os.environ, "WHET_DIR": str(tmp_path / "w")}) as bench:
        request = TrialRequest(command=(sys.executable, "main.py"))
        session = Session(bench=bench, verb="investigate", request=request)
        trial = bench.build_trial(request)
        baseline = flaky_baseline(session, trial, failures=5)
        toggles = chosen(list(TOGGLES), known_toggles(bench.settings.toggles))

        turned = turn_each(session, trial, baseline, toggles, repeats=4)

    assert {each.toggle.name: each.runs for each in turned} == runs
