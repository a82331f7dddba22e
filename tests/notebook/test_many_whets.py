import subprocess
import sys
from pathlib import Path

import pytest
import together
from record_builder import failing, same

from whet.notebook.notebook import Notebook


def run_together(what: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, together.__file__, what, str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_many_whets_record_at_once_and_each_trial_is_whole(tmp_path: Path) -> None:
    run_together("record", tmp_path)

    with Notebook.open(tmp_path) as notebook:
        entries = list(notebook.entries())
    trials = together.PROCESSES * together.TRIALS
    assert sorted(entry.number for entry in entries) == list(range(1, trials + 1))
    assert len({entry.trial.command for entry in entries}) == trials
    for entry in entries:
        process, turn = entry.trial.command[-2:]
        assert same(failing(together.what_came(process, turn)), entry.outcome)


@pytest.mark.slow
def test_many_whets_make_one_notebook_together(tmp_path: Path) -> None:
    run_together("make", tmp_path)

    for turn in range(together.NOTEBOOKS):
        with Notebook.open(tmp_path / str(turn)) as notebook:
            found = [entry.trial.command[-1] for entry in notebook.entries()]
        assert sorted(found) == [str(process) for process in range(together.PROCESSES)]
