"""Changes of a program share its start; what is known is not run again to know it."""

import os
import sys
from contextlib import closing
from pathlib import Path

import pytest

from whet.core.verdict import Verdict
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.investigate.experiments.warm_changes import TriedChanges, contained
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.reproduce import reproduce
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session

PROGRAM = """
import sys

import limits

numbers = [each % 7 for each in range(1_000_000)]
sys.exit(limits.limit() > 3)
"""
LIMITS = """
def limit():
    return 5
"""


def test_a_change_that_has_passed_runs_again_from_its_start_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_text(PROGRAM)
    limits = tmp_path / "limits.py"
    limits.write_text(LIMITS)
    monkeypatch.chdir(tmp_path)
    with open_workbench({**os.environ, "WHET_DIR": str(tmp_path / "w")}) as bench:
        request = TrialRequest(command=(sys.executable, "main.py"))
        trial = contained(bench, bench.build_trial(request))
        session = Session(bench=bench, verb="investigate", request=request)
        baseline = reproduce(session, trial, attempts=1)
        looked: list[int] = []
        tried = TriedChanges(session=session, trial=trial, oracle=baseline.oracle, looked=looked)

        def runs_of(limit: int) -> tuple[Verdict, int]:
            before = len(looked)
            text = LIMITS.replace("5", str(limit))
            _, outcome = tried.run(AgentTasks(edit=(str(limits), text)))
            return baseline.oracle.judge(outcome), len(looked) - before

        with closing(tried):
            failing = [runs_of(each) for each in (6, 7, 8)]
            first, again = runs_of(2), runs_of(2)

    assert failing == [(Verdict.BAD, 1)] * 3
    assert first == (Verdict.GOOD, 3), "the start, the copy, and the run from the start that counts"
    assert again == (Verdict.GOOD, 1)
