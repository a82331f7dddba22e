"""`whet compare --warm`: both arms resume from one frozen copy."""

import json
import sys
from typing import Any

import pytest
from whet_command import Whet

from whet.core.errors import BadUsage

pytestmark = pytest.mark.slow

PYTHON = sys.executable
LATE = """import sys
x = sum(i * i for i in range(int(sys.argv[1])))
print('done')
"""


def compared(whet: Whet, *words: str) -> Any:
    """Return what whet has found, as JSON."""
    said = whet("compare", "--json", "--warm", *words)
    assert said.code == 0, said.stderr
    return json.loads(said.stdout)


def test_what_comes_before_the_arguments_is_in_no_measured_run(whet: Whet) -> None:
    whet.write("late.py", LATE)
    answer = compared(whet, f"{PYTHON} late.py 100000", f"{PYTHON} late.py 3000000")

    assert answer["ruling"] == "different"
    assert any(
        note.startswith("warm: each run resumes from a frozen copy, before the program looks at")
        for note in answer["notes"]
    )
    trials = [number for numbers in answer["trials"].values() for number in numbers]
    for number in trials:
        shown = json.loads(whet("show", "--json", str(number)).stdout)
        assert shown["outcome"]["resumed_from"] == "its arguments"


@pytest.mark.long
def test_runs_from_the_start_that_check_the_copy_are_not_mixed_in(whet: Whet) -> None:
    whet.write("late.py", "import sys\nint(sys.argv[1])\n")
    answer = compared(
        whet, "--runs", "20", "--smallest", "0.01%", f"{PYTHON} late.py 1", f"{PYTHON} late.py 2"
    )

    resumed = {
        json.loads(whet("show", "--json", str(number)).stdout)["outcome"]["resumed_from"]
        for numbers in answer["trials"].values()
        for number in numbers
    }
    assert answer["pairs"] >= 7
    assert resumed == {"its arguments"}


@pytest.mark.parametrize(
    ("arms", "why"),
    [
        ((f"{PYTHON} late.py 1", f"{PYTHON} other.py 1"), "are two programs"),
        (("--env", "X=1", "--", PYTHON, "late.py", "1"), "differ in more than their arguments"),
        ((f"{PYTHON} late.py 1 | cat", f"{PYTHON} late.py 2 | cat"), "are two programs"),
        (("sh echoes.sh 1", "sh echoes.sh 2"), "is not Python itself"),
    ],
)
def test_what_no_copy_serves_is_refused_with_the_reason(
    whet: Whet, arms: tuple[str, ...], why: str
) -> None:
    whet.write("late.py", "import sys\nint(sys.argv[1])\n")
    whet.write("other.py", "import sys\nint(sys.argv[1])\n")
    whet.write("echoes.sh", "sleep 0.01; echo $#\n")
    said = whet("compare", "--warm", *arms)

    assert said.code == BadUsage.exit_code, said.stdout
    assert why in said.stderr
    assert "leave out `--warm`" in said.stderr


@pytest.mark.long
def test_a_program_that_cannot_be_frozen_is_refused_with_what_keeps_it(whet: Whet) -> None:
    whet.write(
        "threads.py",
        "import sys, threading, time\n"
        "threading.Thread(target=time.sleep, args=(0.5,)).start()\n"
        "int(sys.argv[1])\n",
    )
    said = whet("compare", "--warm", f"{PYTHON} threads.py 1", f"{PYTHON} threads.py 2")

    assert said.code == BadUsage.exit_code
    assert "no run resumes from a frozen copy: the thread `Thread-1 (sleep)` runs" in said.stderr
    assert "leave out `--warm`" in said.stderr


def test_arms_that_print_different_things_are_refused_warm_as_cold(whet: Whet) -> None:
    whet.write("late.py", "import sys\nprint(sys.argv[1])\n")
    said = whet("compare", "--warm", f"{PYTHON} late.py 1", f"{PYTHON} late.py 2")

    assert said.code != 0
    assert "A and B print different things" in said.stderr
