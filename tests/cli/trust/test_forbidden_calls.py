"""A kernel or a container without one of the newer system calls: whet finds a way round or says so."""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from forbidden_call import NUMBERS
from whet_command import Whet

PYTHON = sys.executable
FORBID = Path(__file__).parents[1] / "forbidden_call.py"
PROGRAM = """\
import sys
if any("x" in line for line in open(sys.argv[1])):
    raise ValueError("an x")
"""
VERBS = {
    "run": ("run", "--json", "--", PYTHON, "app.py", "data"),
    "shrink": ("shrink", "--json", "data", "--", PYTHON, "app.py", "data"),
    "repeat": ("repeat", "-n", "2", "--json", "--", PYTHON, "app.py", "data"),
    "bisect": ("bisect", "HEAD~2", "--json", "--", PYTHON, "app.py", "data"),
}
SHORT = {("run", "O_TMPFILE"), ("shrink", "pidfd_open"), ("shrink", "seccomp"), ("run", "flock")}

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the numbers of the calls are those of x86_64"
)


@pytest.mark.parametrize(
    ("verb", "call", "error"),
    [
        pytest.param(
            verb, call, error,
            marks=() if error == "ENOSYS" and (verb, call) in SHORT else pytest.mark.long,
        )
        for verb in VERBS for call in NUMBERS for error in ("ENOSYS", "EPERM")
    ],
)  # fmt: skip
def test_without_a_system_call_the_answer_is_the_same_or_says_what_is_missing(
    whet: Whet, verb: str, call: str, error: str
) -> None:
    for number, text in enumerate((PROGRAM.replace('"x"', '"z"'), "#\n" + PROGRAM, PROGRAM)):
        whet.write("app.py", text)
        whet.write("data", "".join(f"line {each}\n" for each in range(20)) + "the x\n")
        whet.git("init", "--quiet")
        whet.git("add", "--all")
        whet.git("commit", "--quiet", "-m", str(number))
    bad = whet.git("rev-parse", "HEAD~1").strip()

    done = subprocess.run(
        [PYTHON, str(FORBID), call, error, PYTHON, "-m", "whet", *VERBS[verb]],
        cwd=whet.folder, env={**os.environ, **whet.environment}, capture_output=True, check=False,
        timeout=120,
    )  # fmt: skip

    said = done.stderr.decode()
    assert "whet itself failed" not in said
    assert "Traceback" not in said.partition('File "app.py"')[0], said
    if done.returncode in {69, 71}:  # what is missing is named
        assert call in said or "hint:" in said, said
        return
    if verb == "shrink":
        assert (whet.folder / "data.shrunk").read_text() == "x"
    else:
        expected = {"run": "ValueError", "repeat": '"failed": 2', "bisect": bad}
        assert expected[verb] in done.stdout.decode(), said


def test_a_folder_that_cannot_be_made_for_want_of_memory_is_no_question_of_where_it_lies(
    whet: Whet,
) -> None:
    making_a_folder = "83"

    done = subprocess.run(
        [PYTHON, str(FORBID), making_a_folder, "ENOMEM", PYTHON, "-m", "whet", "run", "--", "true"],
        cwd=whet.folder, env={**os.environ, **whet.environment}, capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip

    assert done.returncode
    assert "run out of memory" in done.stderr
    assert "WHET_DIR" not in done.stderr
