"""When whet has ended, its notebook is one file: nothing that was recorded lies beside it."""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from test_endings import started
from whet_command import Whet

from whet.notebook.notebook import FILE_NAME

PROGRAM = "import sys\nraise KeyError(len(open(sys.argv[1]).read()) > 3)\n"
FAILS = ["--", sys.executable, "program.py", "data.txt"]

KILLED = """
import os, signal, sys
from pathlib import Path
from whet.core.trial import Trial
from whet.notebook.notebook import Notebook
notebook = Notebook.open(Path(sys.argv[1]))
notebook.begin(Trial(command=("true",), cwd="/"), verb="run")
os.kill(os.getpid(), signal.SIGKILL)
"""


def trials_of_the_file_alone(whet: Whet) -> int:
    copy = shutil.copy(whet.state / FILE_NAME, whet.folder.parent / "copy.db")
    connection = sqlite3.connect(copy)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    (count,) = connection.execute("SELECT count(*) FROM trial").fetchone()
    connection.close()
    return int(count)


def what_lies_beside(whet: Whet) -> set[str]:
    return {each.name for each in whet.state.glob(f"*{FILE_NAME}?*")}


@pytest.fixture
def recorded(whet: Whet) -> Whet:
    whet.write("program.py", PROGRAM)
    whet.write("data.txt", "a\nb\nc\nd\n")
    assert whet("run", *FAILS).code == 1
    return whet


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "codes", "more"),
    [
        (["run", *FAILS], {1}, 1),
        (["run", "--", "no-such-program"], {66}, 0),
        (["again"], {0}, 1),
        (["repeat", "-n", "3", *FAILS], {0}, 3),
        (["shrink", "data.txt", *FAILS], {0}, 2),
        pytest.param(
            ["investigate", "--timeout", "9", *FAILS], {0, 1, 75}, 2, marks=pytest.mark.long
        ),
        (["log"], {0}, 0),
        (["show", "1"], {0}, 0),
        (["show", "77"], {66}, 0),
        (["notebook"], {0}, 0),
        (["settings"], {0}, 0),
        (["one-liner", "1"], {0}, 0),
        (["diff", "1", "1"], {0}, 0),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_the_notebook_alone_is_whole_when_a_command_has_ended(
    recorded: Whet, words: list[str], codes: set[int], more: int
) -> None:
    subprocess.run([sys.executable, "-c", KILLED, recorded.state], check=False)
    assert what_lies_beside(recorded) >= {f"{FILE_NAME}-wal"}

    said = recorded(*words)

    assert said.code in codes, said.stderr
    assert what_lies_beside(recorded) == set()
    assert trials_of_the_file_alone(recorded) >= 2 + more


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_notebook_alone_is_whole_when_a_command_was_told_to_end(
    recorded: Whet, number: signal.Signals
) -> None:
    pipe = recorded.folder / "pipe"
    os.mkfifo(pipe)
    with started(
        recorded, "repeat", "-n", "9", "--", "sh", "-c", "echo up > pipe; sleep 60"
    ) as whet:
        assert pipe.read_bytes()
        os.killpg(whet.pid, number)
        whet.communicate()

    assert what_lies_beside(recorded) == set()
    assert trials_of_the_file_alone(recorded) == 2


@pytest.mark.slow
def test_a_whet_that_ends_leaves_the_wal_to_one_that_goes_on(recorded: Whet) -> None:
    pipe, go = recorded.folder / "pipe", recorded.folder / "go"
    os.mkfifo(pipe)
    os.mkfifo(go)
    with started(recorded, "run", "--", "sh", "-c", "echo up > pipe; cat go") as whet:
        assert pipe.read_bytes()
        assert recorded("run", *FAILS).code == 1
        go.write_text("go on")
        whet.communicate()

    assert what_lies_beside(recorded) == set()
    assert trials_of_the_file_alone(recorded) == 3


@pytest.mark.slow
def test_an_empty_notebook_is_said_by_every_verb_and_stays_empty(recorded: Whet) -> None:
    path: Path = recorded.state / FILE_NAME
    path.write_bytes(b"")

    for words in (["run", *FAILS], ["log"], ["show"], ["notebook"], ["settings"], ["again"]):
        said = recorded(*words)
        assert said.code == 65
        assert f"`{path}` is empty, not a notebook" in said.stderr
        assert f"mv {path}*" in said.stderr
        assert path.read_bytes() == b""
        assert what_lies_beside(recorded) == set()
