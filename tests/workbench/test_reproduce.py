"""What is said of a command that was to fail and does not."""

import os
from pathlib import Path

import pytest

from whet.core.errors import BaselineDoesNotFail
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.reproduce import reproduce
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session


def hint_for(folder: Path, *, attempts: int) -> str:
    with open_workbench({**os.environ, "WHET_DIR": str(folder / "w")}) as bench:
        request = TrialRequest(command=("true",))
        session = Session(bench=bench, verb="investigate", request=request)
        with pytest.raises(BaselineDoesNotFail) as told:
            reproduce(session, bench.build_trial(request), attempts=attempts)
    return told.value.hint


def test_where_some_runs_pass_a_failure_that_comes_now_and_then_is_thought_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    hint = hint_for(tmp_path, attempts=3)

    assert "if it fails sometimes: `whet repeat --amplify -- COMMAND`" in hint
    assert "--bad-if" in hint
    assert "fails sometimes" in hint_for(tmp_path, attempts=1)
