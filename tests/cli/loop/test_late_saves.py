"""What an editor holds does not run, and what is saved too late has not run: every verb says so."""

import importlib
import sys

import pytest
from whet_command import Whet

from whet.cli.main import VERBS
from whet.cli.options.trial import TrialCommand

PYTHON = sys.executable
SAVES_ITSELF = """\
import os, time
later = time.time() + 100
os.utime(__file__, (later, later))
assert False, "it fails all the same"
"""


@pytest.mark.slow
@pytest.mark.parametrize("words", [("run",), ("repeat", "-n", "1")], ids=["run", "repeat"])
def test_a_verb_tells_of_changes_that_an_editor_holds(whet: Whet, words: tuple[str, ...]) -> None:
    whet.write("prog.py", "assert False")
    whet.write(".prog.py.swp", "")
    said = whet(*words, "--", PYTHON, "prog.py")
    assert "an editor holds changes to `prog.py` that aren't saved" in said.stderr


@pytest.mark.slow
def test_a_file_that_was_saved_after_it_was_read_is_told(whet: Whet) -> None:
    whet.write("prog.py", SAVES_ITSELF)
    said = whet("run", "--", PYTHON, "prog.py")
    assert "during the run, which used the older version" in said.stderr
    assert str(whet.folder / "prog.py") in said.stderr


COMMAND = ("--", PYTHON, "prog.py", "data.txt")
WORDS = {
    "run": COMMAND,
    "repeat": ("-n", "1", *COMMAND),
    "toggle": ("hash-seed", *COMMAND),
    "shrink": ("data.txt", *COMMAND),
    "where": ("prog", *COMMAND),
    "investigate": COMMAND,
    "starve": ("--find", "files", "--", PYTHON, "-c", "0"),
    "delta": ("--arguments", "x", "data.txt", "--", PYTHON, "prog.py", "{}"),
    "bisect": ("--attempts", *COMMAND),
    "syscalls": COMMAND,
    "profile": ("--once", *COMMAND),
    "watch": ("memory", *COMMAND),
    "probe": ("prog.py:2", "count", *COMMAND),
    "trace": ("json:*", *COMMAND),
    "sample": ("data.txt", *COMMAND),
    "grow": ("--dimension", "env:N=1..2", *COMMAND),
    "compare": ("--env", "N=1", "--any-output", *COMMAND),
    "leak": COMMAND,
    "tiny": ("model", *COMMAND, "{}"),
    "expect": ("--lines", "prog.py", *COMMAND),
    "loop": (),
}
"""How each verb that runs trials is called; `loop` waits for saves, so that it is not called here."""


def runs_trials(verb: str) -> bool:
    """Whether a verb takes the options that all trials have."""
    command = vars(importlib.import_module(VERBS[verb].module))["command"]
    return isinstance(command, TrialCommand)


@pytest.mark.slow
def test_no_verb_that_runs_trials_is_left_out_below() -> None:
    assert {verb for verb in VERBS if runs_trials(verb)} <= set(WORDS)


@pytest.mark.long
@pytest.mark.parametrize("verb", sorted(set(WORDS) - {"loop"}))
def test_each_verb_tells_of_changes_that_an_editor_holds(whet: Whet, verb: str) -> None:
    whet.write("prog.py", "import sys\nassert 'B' not in open(sys.argv[1]).read()")
    whet.write("data.txt", "a\nB\nc\n")
    whet.write("x", "")
    whet.write("model/config.json", '{"model_type": "gpt2"}')
    whet.write(".prog.py.swp", "")
    said = whet(verb, *WORDS[verb])
    assert "an editor holds changes to `prog.py` that aren't saved" in said.stderr
