"""`whet investigate` behind what starts the program: a script, make, a shim of a version manager."""

import json
import shutil
import sys
from pathlib import Path

import pytest
from whet_command import Whet

from whet.core.text.record import as_record

pytestmark = pytest.mark.slow

SHARED = """
def add(item, basket=[]):
    basket.append(item)
    return basket


def main():
    add("pear")
    if add("plum") != ["plum"]:
        raise SystemExit("somebody else's pear")
"""
LEAKS = """
import resource

resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
kept = []
for number in range(100):
    kept.append(open(__file__))
"""

SHIM = """#!/usr/bin/env bash
set -e
program="${{0##*/}}"
export PYENV_ROOT="{root}"
exec "{root}/libexec/pyenv" exec "$program" "$@"
"""
MANAGER = """#!/usr/bin/env bash
set -e
shift
program="$1"; shift
version="$(cat "$PYENV_ROOT/version")"
PATH="$PYENV_ROOT/versions/$version/bin:$PATH"
exec "$PYENV_ROOT/versions/$version/bin/$program" "$@"
"""


def shimmed(folder: Path) -> str:
    """Make what pyenv makes: a script that becomes its manager, which becomes a script, and that Python."""
    files = {
        "shims/python": SHIM.format(root=folder),
        "libexec/pyenv": MANAGER,
        "version": "3.x\n",
        "versions/3.x/bin/python": f'#!/bin/sh\nexec "{sys.executable}" "$@"\n',
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    return str(folder / "shims" / "python")


def wrapped(whet: Whet, how: str) -> list[str]:
    """Return a command that starts `main.py` in some way."""
    python = sys.executable
    whet.write("run.sh", f"cd .\n{python} main.py\n")
    whet.write("Makefile", f"all:\n\t{python} main.py\n")
    commands = {
        "script": ["sh", "run.sh"],
        "make": ["make"],
        "bash": ["bash", "-c", f"true && {python} main.py"],
        "env": ["env", "A=1", python, "main.py"],
        "nice": ["nice", "-n", "1", python, "main.py"],
        "shim": [shimmed(whet.folder.parent / "pyenv"), "main.py"],
        "xvfb": ["xvfb-run", python, "main.py"],
    }
    if shutil.which(commands[how][0]) is None:
        pytest.skip(f"there is no {commands[how][0]} here")
    return commands[how]


def investigated(whet: Whet, *command: str) -> dict[str, object]:
    whet("investigate", "--", *command)
    report: dict[str, object] = json.loads(
        (whet.folder / "whet-report" / "report.json").read_text()
    )
    return report


WRAPPERS = [
    "script",
    "shim",
    pytest.param("make", marks=pytest.mark.long),
    pytest.param("bash", marks=pytest.mark.long),
    pytest.param("env", marks=pytest.mark.long),
    pytest.param("nice", marks=pytest.mark.long),
    pytest.param("xvfb", marks=pytest.mark.long),
]


@pytest.mark.parametrize("how", WRAPPERS)
def test_the_files_of_a_program_behind_a_wrapper_are_tried_with_changes(
    whet: Whet, how: str
) -> None:
    whet.write("main.py", "import shop\nshop.main()\n")
    whet.write("shop.py", SHARED)  # no word of any command names it, and no error is kept of it
    report = investigated(whet, *wrapped(whet, how))

    cause = as_record(as_record(report["answer"], "answer")["cause"], "cause")
    assert str(cause["path"]).endswith("/shop.py")
    assert (cause["line"], cause["sureness"]) == (2, "shown")


@pytest.mark.long
@pytest.mark.parametrize("how", WRAPPERS)
def test_a_program_behind_a_wrapper_gets_the_closer_look(whet: Whet, how: str) -> None:
    whet.write("main.py", LEAKS)
    report = investigated(whet, *wrapped(whet, how))

    assert "opened in `<module>` at main.py:7" in json.dumps(report["clues"])


@pytest.mark.long
def test_a_python_that_loses_whets_agent_on_the_way_is_said_to_be_out_of_reach(whet: Whet) -> None:
    whet.write("main.py", "int('seven')\n")
    said = "no Python that runs main.py loaded whet's agent"

    assert said in json.dumps(investigated(whet, "env", "-i", sys.executable, "main.py"))
    assert said not in json.dumps(investigated(whet, "env", sys.executable, "main.py"))
    assert said not in json.dumps(
        investigated(whet, "sh", "-c", f"{sys.executable} main.py; exit 3")
    )


def test_a_python_without_a_file_of_the_users_is_not_said_to_be_out_of_reach(whet: Whet) -> None:
    said = "loaded whet's agent"

    words = ("-c", "int('seven')")
    assert said not in json.dumps(investigated(whet, sys.executable, *words))
    assert said in json.dumps(investigated(whet, sys.executable, "-I", *words))
