"""A Python behind a launcher is taken for what it is, in every verb that runs it."""

import json
import shutil
import sys

import pytest
from crossed import one_in
from loop_command import SLOW, looping, save
from whet_command import Whet

pytestmark = pytest.mark.slow

_MAIN = f"{SLOW}import sys\ntext = open(sys.argv[1]).read()\nassert 'BOOM' not in text\n"


def _launched(whet: Whet, how: str) -> tuple[str, ...]:
    """Return a command that gives `data.txt` to `main.py` in some way."""
    shim = whet.write("shims/python", f'#!/usr/bin/env bash\nexec "{sys.executable}" "$@"\n')
    shim.chmod(0o755)
    whet.write("run.sh", f'exec {sys.executable} main.py "$@"\n')
    whet.write("Makefile", f"all:\n\t@exec {sys.executable} main.py $(file)\n")
    commands = {
        "a shim": (str(shim), "main.py", "data.txt"),
        "a script": ("sh", "run.sh", "data.txt"),
        "env": ("env", "A=1", sys.executable, "main.py", "data.txt"),
        "uv": ("uv", "run", "--no-project", "--python", sys.executable, "main.py", "data.txt"),
        "a module": (sys.executable, "-m", "main", "data.txt"),
        "make": ("make", "-s", "file=data.txt"),
    }
    if shutil.which(commands[how][0]) is None:
        pytest.skip(f"there is no {commands[how][0]} here")
    return commands[how]


_ALL = ["a shim", "a script", "env", "uv", "a module", "make"]
_REPLACED = ["a shim", "a script", "env", "a module"]
"""Those that become the Python that they start."""


@pytest.mark.parametrize("how", _REPLACED)
def test_a_loop_is_warm_behind_a_launcher(whet: Whet, how: str) -> None:
    whet.write("data.txt", "fine\n")
    whet.write("main.py", _MAIN)
    with looping(whet, *_launched(whet, how), options=("--verify", "off")) as loop:
        loop.next()
        save(whet, "main.py", f"{_MAIN}print('end')\n")
        told = loop.next()

    assert told["is_warm"], told


@pytest.mark.parametrize("how", ["make", "uv"])
def test_a_loop_says_why_it_is_cold_behind_what_starts_python_as_a_process_of_its_own(
    whet: Whet, how: str
) -> None:
    whet.write("data.txt", "fine\n")
    whet.write("main.py", _MAIN)
    command = _launched(whet, how)
    with looping(whet, *command, options=("--runs", "1")) as loop:
        told = loop.next()

    assert f"`{command[0]}` starts Python as a separate process" in told["why_no_copies"], told


@pytest.mark.parametrize("how", one_in(2, _REPLACED))
def test_a_shrink_is_warm_behind_a_launcher(whet: Whet, how: str) -> None:
    lines = "".join(f"line {number}\n" for number in range(60))
    whet.write("data.txt", f"{lines}BOOM\n")
    whet.write("main.py", _MAIN)
    said = whet("shrink", "data.txt", "--json", "--", *_launched(whet, how))

    [result] = json.loads(said.stdout.splitlines()[-1])["payloads"]
    assert (result["warm"] > 0, result["cold_because"]) == (True, ""), result
    assert (whet.folder / "data.shrunk.txt").read_text().strip() == "BOOM"


@pytest.mark.parametrize("how", _ALL)
def test_a_repeat_names_the_failing_line_behind_a_launcher(whet: Whet, how: str) -> None:
    whet.write("data.txt", "BOOM\n")
    whet.write("main.py", _MAIN)
    said = whet("repeat", "-n", "2", "--json", "--", *_launched(whet, how))

    [ending] = json.loads(said.stdout)["endings"]
    assert (ending["runs"], ending["place"]) == (2, "main.py:5")


@pytest.mark.long
@pytest.mark.parametrize("how", one_in(2, _ALL))
def test_a_bisection_finds_the_commit_behind_a_launcher(whet: Whet, how: str) -> None:
    command = _launched(whet, how)
    whet.write("data.txt", "x\n")
    whet.write(".gitignore", "shims\n")
    whet.git("init", "-q")
    for number, text in enumerate(("pass", "x = 1", "raise KeyError(1)", "raise KeyError(1) # 4")):
        whet.write("main.py", f"{text}\n")
        whet.git("add", ".")
        whet.git("commit", "-qm", f"commit {number}")
    said = whet("bisect", "HEAD~3", "HEAD", "--json", "--", *command)

    assert said.code == 0, said.stderr
    assert "commit 2" in said.stdout
