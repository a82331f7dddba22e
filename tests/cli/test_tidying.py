"""A project's notebook keeps to its bounds: what the oldest trials left goes, and that is said."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from whet_command import Whet

from whet.host.files.at_work import at_work
from whet.notebook.notebook import Notebook
from whet.notebook.stored_output import PRUNED, removed_so_far
from whet.workbench.trials.bench import open_workbench

PRINTS = "import os; print(os.urandom(30_000).hex())"
WORD = "import sys; print(sys.argv[1] * 20_000)"
SMALL = {"WHET_NOTEBOOK_BYTES": "400000"}


def runs(whet: Whet, count: int) -> None:
    said = whet("repeat", "--runs", str(count), "--", sys.executable, "-c", PRINTS)
    assert said.code == 0, said.stderr


def make_due(whet: Whet) -> None:
    os.utime(whet.state / PRUNED, (0, 0))


def blobs(whet: Whet) -> int:
    return sum(1 for each in (whet.state / "blobs").rglob("*") if each.is_file())


def test_outputs_of_the_oldest_trials_go_once_a_day_but_not_those_with_a_name_or_a_note(
    whet: Whet,
) -> None:
    whet("run", "--name", "base", "--", sys.executable, "-c", WORD, "def")
    whet("run", "--note", "why", "--", sys.executable, "-c", WORD, "abc")
    runs(whet, 60)
    assert "removed" not in whet("log", environment=SMALL).stderr  # somebody looked today
    make_due(whet)

    said = whet("log", environment=SMALL)

    assert said.code == 0
    assert "of outputs and payloads of the oldest trials" in said.stderr
    assert "took more than 400 kB (`notebook_bytes`" in said.stderr
    assert "defdef" in whet("show", "base").stdout
    assert "abcabc" in whet("show", "2").stdout
    assert "stdout (60.0 kB): no longer kept" in whet("show", "4").stdout
    assert "no longer kept" not in whet("show", "62").stdout
    assert len(whet("log", "--all", "-n", "99").stdout.splitlines()) == 62
    whole = whet("show", "4", "--output")
    assert whole.code == 65
    assert "no longer kept" in whole.stderr
    assert "removed" not in whet("log", environment=SMALL).stderr


def test_outputs_of_trials_that_are_too_old_go(whet: Whet) -> None:
    runs(whet, 52)
    make_due(whet)
    before = blobs(whet)

    said = whet("log", environment={"WHET_NOTEBOOK_DAYS": "0"})

    assert "were older than 0 days (`notebook_days`" in said.stderr
    assert blobs(whet) == before - 2  # the newest 50 stay anyway
    assert "removed" not in whet("notebook", "prune", environment={}).stderr


def test_scripts_of_long_lines_that_are_too_old_go_and_can_be_had_again(whet: Whet) -> None:
    whet("run", "--", sys.executable, "-c", "pass", "x" * 400)
    line = whet("one-liner").stdout
    (script,) = (whet.state / "lines").iterdir()
    whet("notebook", "prune")
    assert script.exists()
    os.utime(script, (0, 0))

    whet("notebook", "prune")

    assert not script.exists()
    assert whet("one-liner").stdout == line
    assert script.exists()


def test_byte_code_that_is_too_old_goes_and_is_made_again(whet: Whet) -> None:
    whet.write("one.py", "print('ran')\n")
    whet.write("main.py", "import one\n")
    whet("run", "--", sys.executable, "main.py")
    code = set((whet.state / "pycache").iterdir())
    assert code
    whet("notebook", "prune")
    assert all(each.exists() for each in code)
    for each in code:
        os.utime(each, (0, 0))

    whet("notebook", "prune")

    assert not any(each.exists() for each in code)
    assert whet("run", "--", sys.executable, "main.py").stdout == "ran\n"
    assert code == set((whet.state / "pycache").iterdir())


def test_nothing_goes_while_another_whet_is_at_work(whet: Whet) -> None:
    runs(whet, 60)
    make_due(whet)
    before = blobs(whet)

    with at_work(whet.state):
        assert "removed" not in whet("log", environment=SMALL).stderr
    assert blobs(whet) == before
    assert "removed" in whet("notebook", "prune", environment=SMALL).stderr
    assert blobs(whet) < before


@pytest.mark.parametrize("name", ["notebook_bytes", "notebook_days"])
def test_a_project_cannot_say_how_much_is_kept(whet: Whet, name: str) -> None:
    whet.write("whet.toml", f"{name} = 0\n")

    said = whet("run", "--", "true")

    assert said.code == 78
    assert "only your own settings can say so" in said.stderr


KILLED = """
import os, signal, sys
from pathlib import Path
from whet.notebook.notebook import Notebook
from whet.notebook.pruning import Bounds, prune
removed = []
def ends(event, _):
    if event == "os.remove":
        removed.append(event)
        if len(removed) > 100:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(ends)
with Notebook.open(Path(sys.argv[1])) as notebook:
    prune(notebook, Bounds(most_bytes=0, most_days=1), most_seconds=60)
"""


def test_a_whet_that_is_killed_while_it_removes_them_leaves_a_whole_notebook(whet: Whet) -> None:
    runs(whet, 3)
    blob = next((whet.state / "blobs").glob("??/*"))
    for number in range(1_000):  # of trials that a killed whet never began
        path = whet.state / "blobs" / f"{number % 256:02x}" / f"{number:062x}"
        path.parent.mkdir(exist_ok=True)
        path.hardlink_to(blob) if number % 250 else path.touch()
        os.utime(path, (0, 0))
    before = blobs(whet)

    killed = subprocess.run([sys.executable, "-c", KILLED, str(whet.state)], check=False)

    assert killed.returncode == -signal.SIGKILL
    assert 0 < blobs(whet) < before
    assert "no longer kept" not in whet("show", "3").stdout
    assert len(whet("log", "--all").stdout.splitlines()) == 3
    with Notebook.open(whet.state) as notebook:
        assert notebook.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]
    assert json.loads(Path(whet.state, PRUNED).read_bytes())["files"] > 0


def test_a_new_project_is_looked_through_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_workbench() as bench:
        mark = bench.project.state / PRUNED

        assert mark.stat().st_mtime == pytest.approx(time.time(), abs=100)
        assert mark.stat().st_mode & 0o777 == 0o600
        assert removed_so_far(mark) == 0
