"""A look for the cause keeps what it has found when there is no time left for another run."""

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from whet.core.budget import OutOfTimeError
from whet.core.observations.clue import Sureness
from whet.core.observations.evidence import STACKS
from whet.host.trial.agent_tasks import AgentTasks
from whet.workbench.investigate.closer import clues
from whet.workbench.investigate.closer.clues import Closer
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.reproduce import reproduce
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session

SKIPPED = """
class Reader:
    def __init__(self):
        self.rows = 0

class Pairs(Reader):
    def __init__(self, separator):
        self.separator = separator

Pairs(",").rows += 1
"""


def test_what_was_found_is_told_also_where_the_time_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_text(SKIPPED)
    monkeypatch.chdir(tmp_path)
    with open_workbench({**os.environ, "WHET_DIR": str(tmp_path / "w")}) as bench:
        request = TrialRequest(command=(sys.executable, "main.py"))
        trial = bench.build_trial(request)
        tasks = AgentTasks(keeps_locals=True)
        session = Session(bench=bench, verb="investigate", request=request, tasks=tasks)
        baseline = reproduce(session, trial, attempts=1)
        spent = replace(session, deadline=time.monotonic())
        closer = Closer(session=spent, trial=trial, baseline=baseline)

        (clue,) = closer.look().clues

    assert closer.is_short
    assert "`Pairs.__init__` at main.py:7 overrides `Reader.__init__`" in clue.says
    assert clue.sureness is Sureness.SEEN


HANGS = """
left = 3
while left > 0:
    left = max(left - 1, 1)
"""


def test_a_run_that_is_ended_by_its_limit_leaves_its_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_text(HANGS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clues, "_LEAST_SECONDS", 0.5)
    monkeypatch.setattr(clues, "_TIMES_HANG", 0.5)
    with open_workbench({**os.environ, "WHET_DIR": str(tmp_path / "w")}) as bench:
        request = TrialRequest(command=(sys.executable, "main.py"), timeout_seconds=0.5)
        trial = bench.build_trial(request)
        tasks = AgentTasks(keeps_locals=True)
        session = Session(bench=bench, verb="investigate", request=request, tasks=tasks)
        baseline = reproduce(session, trial, attempts=1)
        clue, *_ = Closer(session=session, trial=trial, baseline=baseline).look().clues

    assert "the loop at main.py:3 did not end" in clue.says
    assert "`left` was 1" in clue.says
    assert clue.sureness is Sureness.SEEN


def test_what_the_deadline_ends_is_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_text(HANGS)
    monkeypatch.chdir(tmp_path)
    with open_workbench({**os.environ, "WHET_DIR": str(tmp_path / "w")}) as bench:
        request = TrialRequest(command=(sys.executable, "main.py"))
        trial = bench.build_trial(request)
        tasks = AgentTasks(keeps_locals=True)
        session = Session(bench=bench, verb="investigate", request=request, tasks=tasks)
        limited = replace(session, deadline=time.monotonic() + 1)
        with pytest.raises(OutOfTimeError):
            reproduce(limited, trial, attempts=1)
        (entry,) = bench.notebook.entries()

        assert list(bench.notebook.evidence_of(entry.number, STACKS)) == []


SLOWED = """
import sys
import threading

if sys.gettrace() is not None:
    threading.Event().wait()
sys.exit("it fails at once where nobody looks")
"""


def test_what_comes_to_no_end_when_it_is_looked_at_is_looked_at_once_in_each_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "main.py").write_text(SLOWED)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(clues, "_LEAST_SECONDS", 0.5)
    with open_workbench({**os.environ, "WHET_DIR": str(tmp_path / "w")}) as bench:
        request = TrialRequest(command=(sys.executable, "main.py"))
        trial = bench.build_trial(request)
        tasks = AgentTasks(keeps_locals=True)
        session = Session(bench=bench, verb="investigate", request=request, tasks=tasks)
        baseline = reproduce(session, trial, attempts=1)
        finding = Closer(session=session, trial=trial, baseline=baseline).look()
        outcomes = [bench.notebook.trial(each.number).outcome for each in bench.notebook.entries()]

    assert "the recorded run had not failed when its time was up" in finding.summary
    assert sum(each is not None and each.timed_out for each in outcomes) == 2
