"""One check that says other values in each run is one failure; another check is another one."""

import os
import sys
from pathlib import Path

import pytest

from whet.core.errors import BaselineDoesNotFail
from whet.workbench.files.copies import reproduce_on_copies
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.reproduce import Baseline, reproduce
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session

COUNT = """
import os
with open("runs", "a") as file:
    file.write("x")
runs = os.path.getsize("runs")
"""
ONE_CHECK = f"""{COUNT}
name = ["oven", "belt", "press"][runs % 3]
assert False, f"{{name}}: too many alarms"
"""
TWO_CHECKS = f"""{COUNT}
if runs % 2:
    assert False, "oven: too many alarms"
assert False, "belt: too many alarms"
"""
FOURTH = f"""{COUNT}
assert runs != 4, "the fourth"
"""


def of(folder: Path, program: str, *, attempts: int = 3) -> Baseline:
    (folder / "main.py").write_text(program)
    with open_workbench({**os.environ, "WHET_DIR": str(folder / "w")}) as bench:
        request = TrialRequest(command=(sys.executable, "main.py"))
        session = Session(bench=bench, verb="investigate", request=request)
        return reproduce(session, bench.build_trial(request), attempts=attempts)


def test_one_check_with_other_values_is_one_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    baseline = of(tmp_path, ONE_CHECK)

    assert baseline.reproduction.is_deterministic


def test_two_checks_are_two_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    baseline = of(tmp_path, TWO_CHECKS)

    assert baseline.reproduction.same_failures == baseline.reproduction.attempts // 2


def test_what_has_no_copy_is_not_run_as_typed_to_compare_it_with_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.py").write_text(FOURTH)
    with open_workbench({**os.environ, "WHET_DIR": str(tmp_path / "w")}) as bench:
        request = TrialRequest(command=(sys.executable, "main.py"))
        session = Session(bench=bench, verb="investigate", request=request)
        with pytest.raises(BaselineDoesNotFail):
            reproduce_on_copies(session, bench.build_trial(request), [])

    assert len((tmp_path / "runs").read_text()) == 3
