"""A change is the cause only if that can hardly be chance: few runs may fail alike and pass once."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from whet.core.observations.evidence import PYTHONS, Evidence
from whet.core.outcome import Outcome
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.investigate.experiments.repaired import Known, repaired_clue
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.investigation import Reproduction
from whet.workbench.trials.reproduce import reproduce
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session

COUNTED = """
import os
with open("runs", "a") as file:
    file.write("x")
if os.path.getsize("runs") != 4:
    raise ValueError({says})
"""


def reproduction(folder: Path, program: str) -> Reproduction:
    (folder / "main.py").write_text(program)
    with open_workbench({**os.environ, "WHET_DIR": str(folder / "w")}) as bench:
        request = TrialRequest(command=(sys.executable, "-S", "main.py"))
        session = Session(bench=bench, verb="investigate", request=request)
        return reproduce(session, bench.build_trial(request)).reproduction


@pytest.mark.parametrize(
    ("says", "runs", "failures"),
    [
        pytest.param("os.path.getsize('runs')", 10, 9, id="another value each time"),
        pytest.param("'always the same'", 3, 3, id="the same each time"),
        pytest.param("f'at {hex(os.getpid() << 30)}'", 3, 3, id="another address each time"),
    ],
)
def test_what_fails_with_other_values_is_run_more_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says: str, runs: int, failures: int
) -> None:
    monkeypatch.chdir(tmp_path)

    seen = reproduction(tmp_path, COUNTED.format(says=says))

    assert (seen.attempts, seen.same_failures) == (runs, failures)


@pytest.mark.parametrize("passes", [1, 2, 3])
def test_a_change_that_lets_it_pass_once_or_twice_is_no_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passes: int
) -> None:
    monkeypatch.chdir(tmp_path)
    source = "print(sorted(open('a.txt'))[0])\nraise ValueError\n"
    path = tmp_path / "main.py"
    path.write_text(source)
    with open_workbench({**os.environ, "WHET_DIR": str(tmp_path / "w")}) as bench:
        request = TrialRequest(command=(sys.executable, "-S", "main.py"))
        session = Session(bench=bench, verb="investigate", request=request)
        trial = bench.build_trial(request)
        baseline = reproduce(session, trial)
    python = {"executable": sys.executable, "version": "CPython", "files": [str(path)]}
    failed = replace(
        baseline.outcome,
        evidence=(Evidence(kind=PYTHONS, detail={"pythons": [python], "ended": []}),),
    )
    asked: list[str] = []

    def run(tasks: AgentTasks) -> tuple[int, Outcome]:
        assert tasks.edit is not None
        asked.append(tasks.edit[1])
        is_changed = tasks.edit[1] != source
        does_pass = is_changed and sum(text != source for text in asked) <= passes
        return len(asked), Outcome() if does_pass else failed

    clue = repaired_clue(trial, replace(baseline, outcome=failed), Known(), run, None)

    assert (clue is not None) == (passes == 3)
