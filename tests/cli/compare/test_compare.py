"""`whet compare`: is B really different from A?"""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from whet_command import Whet

from whet.core.errors import INCOMPLETE, ArmFails, OutputsDiffer

pytestmark = pytest.mark.slow

PYTHON = sys.executable
WORKS = "import sys, time\nx = sum(i * i for i in range(int(sys.argv[1])))\nprint('done')\n"
ASLEEP = "import sys, time\ntime.sleep(float(sys.argv[1]))\nprint('done')\n"


def compared(whet: Whet, *words: str) -> Any:
    """Return what whet has found, as JSON."""
    said = whet("compare", "--json", *words)
    assert said.stdout, said.stderr
    return json.loads(said.stdout)


def quantity(answer: Any, name: str) -> Any:
    return next(each for each in answer["quantities"] if each["name"] == name)


def test_a_program_that_takes_three_times_as_long_is_slower(whet: Whet) -> None:
    whet.write("works.py", WORKS)
    said = whet("compare", f"{PYTHON} works.py 100000", f"{PYTHON} works.py 3000000")

    assert said.code == 0
    first, *rest = said.stdout.splitlines()
    assert first.startswith("B takes ")
    assert " times as long as A" in first
    # Where the program is seldom kept waiting, two times decide, and share the chance of an error.
    runs = 8 if "* wall and CPU time share" in said.stdout else 7
    assert f"sure after {runs} runs of each" in first
    assert "both print the same output" in said.stdout
    assert any(line.strip().startswith("peak memory") for line in rest)


def test_the_table_fits_into_a_narrow_terminal(whet: Whet) -> None:
    whet.write("works.py", WORKS)
    arm = f"{PYTHON} works.py 100000"
    wide, narrow = (
        whet("compare", "--runs", "9", arm, arm, environment={"COLUMNS": columns}).stdout
        for columns in ("200", "60")
    )

    assert "an arm against itself" in wide
    table = narrow.split("\n\n")[1].splitlines()
    assert max(map(len, table)) <= 60
    assert sum(" to " in line for line in table) >= 2
    assert any("against itself" in line for line in table)


@pytest.mark.long
def test_the_order_of_the_runs_is_kept_and_comes_again_with_its_seed(whet: Whet) -> None:
    whet.write("asleep.py", ASLEEP)
    arms = (f"{PYTHON} asleep.py 0.01", f"{PYTHON} asleep.py 0.1")
    first = compared(whet, "--seed", "5", *arms)

    assert first["seed"] == 5
    assert set(first["order"]) == {"A", "B"}
    second = compared(whet, "--seed", "5", *arms)["order"]
    # Either may be sure after fewer runs than the other.
    shared = min(len(first["order"]), len(second))
    assert shared >= 6
    assert first["order"][:shared] == second[:shared]
    assert len(first["trials"]["A"]) == first["pairs"] == len(first["order"])


def test_a_number_that_the_program_prints_decides(whet: Whet) -> None:
    whet.write("loss.py", "import sys\nprint('loss', sys.argv[1])\n")
    answer = compared(
        whet, "--any-output", "--measure", "loss=loss (.*)",
        f"{PYTHON} loss.py 0.5", f"{PYTHON} loss.py 0.25",
    )  # fmt: skip

    assert (answer["ruling"], answer["decided_by"], answer["pairs"]) == ("different", "loss", 7)
    assert quantity(answer, "loss")["effect"]["best"] == pytest.approx(-0.5)
    assert answer["answer"].startswith("B's loss is 50 % lower than A's")


def test_a_number_that_never_differs_ends_the_comparison(whet: Whet) -> None:
    whet.write("loss.py", "print('loss 0.5')\n")
    answer = compared(
        whet, "--measure", "loss=loss (.*)", f"{PYTHON} loss.py", f"{PYTHON} loss.py x"
    )

    assert (answer["ruling"], answer["pairs"]) == ("alike", 7)


def test_two_arms_that_fail_are_both_named(whet: Whet) -> None:
    whet.write("fails.py", "import sys\nsys.exit(int(sys.argv[1]))\n")
    said = whet("compare", f"{PYTHON} fails.py 3", f"{PYTHON} fails.py 4")

    assert said.code == ArmFails.exit_code
    assert "both fail. A (" in said.stderr
    assert "fails.py 3`): exit code 3; B (" in said.stderr
    assert "fails.py 4`): exit code 4" in said.stderr
    assert "`whet show 1` and `whet show 2`" in said.stderr


@pytest.mark.long
def test_peak_memory_can_decide(whet: Whet) -> None:
    whet.write("holds.py", "import sys\nx = b'x' * (int(sys.argv[1]) << 20)\n")
    answer = compared(whet, "--by", "memory", f"{PYTHON} holds.py 1", f"{PYTHON} holds.py 60")

    assert (answer["ruling"], answer["decided_by"]) == ("different", "peak_memory")
    assert "memory than A" in answer["answer"]


def test_programs_that_print_different_things_are_not_compared(whet: Whet) -> None:
    said = whet("compare", f"{PYTHON} -c 'print(1)'", f"{PYTHON} -c 'print(2)'")

    assert said.code == OutputsDiffer.exit_code
    assert "A and B print different things: line 1 is `1` in A and `2` in B" in said.stderr
    assert "--any-output" in said.stderr


def test_what_only_a_shell_understands_goes_to_a_shell(whet: Whet) -> None:
    whet.write("twice.py", "import sys\nfor each in sys.stdin: print(int(each) * 2)\n")
    piped = f"printf '%s\\n' 3 4 | {PYTHON} twice.py && echo end"
    said = whet("compare", piped, "printf '%s\\n' 6 9 end")
    assert said.code == OutputsDiffer.exit_code
    assert "8" in said.stderr

    same = whet("compare", "--runs", "7", piped, "printf '%s\\n' 6 8 end")
    assert "both print the same output" in same.stdout, same.stderr


def test_an_arm_that_fails_is_named_before_anything_is_measured(whet: Whet) -> None:
    said = whet("compare", f"{PYTHON} -c pass", f"{PYTHON} -c 'raise KeyError(3)'")

    assert said.code == ArmFails.exit_code
    assert "KeyError: 3 (A exits 0 and B exits 1)" in said.stderr
    assert "B (" in said.stderr


def test_a_timeout_in_one_arm_is_a_failure_of_it(whet: Whet) -> None:
    whet.write("asleep.py", ASLEEP)
    said = whet(
        "compare", "--timeout", "0.5", f"{PYTHON} asleep.py 0", f"{PYTHON} asleep.py 60"
    )  # fmt: skip

    assert said.code == ArmFails.exit_code
    assert "B exits 124" in said.stderr


@pytest.mark.long
def test_a_variable_is_compared_with_its_absence(whet: Whet) -> None:
    whet.write("env.py", "import os, time\ntime.sleep(0.3 if 'SLOW' in os.environ else 0)\n")
    answer = compared(whet, "--by", "wall", "--env", "SLOW=1", "--", PYTHON, "env.py")

    assert (answer["a"], answer["b"]) == ("without SLOW=1", "with SLOW=1")
    assert answer["ruling"] == "different"
    assert quantity(answer, "seconds")["effect"]["best"] > 1


def test_two_recorded_trials_say_that_one_run_is_no_test_and_run_again(whet: Whet) -> None:
    whet.write("asleep.py", ASLEEP)
    whet("run", "--", PYTHON, "asleep.py", "0")
    whet("run", "--", PYTHON, "asleep.py", "0.3")
    said = whet("compare", "--by", "wall", "1", "2")

    assert "trial 1: trial 1 took" in said.stderr
    assert "a single run proves nothing about time" in said.stderr
    assert said.stdout.startswith("B takes ")


@pytest.mark.long
def test_a_budget_ends_it_with_what_is_known(whet: Whet) -> None:
    whet.write("asleep.py", ASLEEP)
    command = f"{PYTHON} asleep.py 0.2"
    said = whet(
        "compare", "--by", "wall", "--smallest", "0.001%", "--budget", "3", command, f"{command} x"
    )

    assert said.code == INCOMPLETE
    assert "the time budget is used up" in said.stdout


@pytest.mark.long
def test_ctrl_c_ends_it_with_what_is_known(whet: Whet) -> None:
    """The signal comes when the fifth pair is under way, which the notebook's rows show."""
    whet.write("asleep.py", ASLEEP + "open('runs.txt', 'a').write('x')\n")
    words = [
        PYTHON, "-m", "whet", "compare", "--json", "--smallest", "0.001%", "--by", "wall",
        f"{PYTHON} asleep.py 0.05", f"{PYTHON} asleep.py 0.05 x",
    ]  # fmt: skip
    with subprocess.Popen(
        words, cwd=whet.folder, env={**os.environ, **whet.environment},
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        runs = whet.folder / "runs.txt"
        while not runs.exists() or runs.stat().st_size < 14:
            assert process.poll() is None
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)

    assert process.returncode == INCOMPLETE
    assert json.loads(output)["stopped"] == "interrupted"


def test_one_arm_or_none_or_no_confidence_is_refused_with_the_way_to_write_it(whet: Whet) -> None:
    one = whet("compare", "ls")
    none = whet("compare", "--", "ls")
    sure = whet("compare", "--confidence", "100%", "ls", "ls")

    assert "`ls` is only one of two arms" in one.stderr
    assert "a command alone has nothing to be compared with" in none.stderr
    assert "whet compare --baseline REVISION -- COMMAND" in none.stderr
    assert "no comparison can reach that" in sure.stderr


def test_a_number_that_no_run_prints_cannot_decide(whet: Whet) -> None:
    said = whet("compare", "--by", "loss", "true", "true x")

    assert "`loss` should decide, but a run has no such number" in said.stderr


@pytest.mark.long
def test_the_function_that_differs_is_named(whet: Whet) -> None:
    program = """
import sys, time
import time
def load():
    for i in range(300_000): i * i
def train():
    for i in range(int(sys.argv[1])): i * i
load(); train()
"""
    whet.write("steps.py", program)
    arms = (f"{PYTHON} steps.py 300000", f"{PYTHON} steps.py 9000000")
    answer = compared(whet, "--where", *arms)

    largest = answer["where"][0]
    assert (largest["function"], largest["is_sure"]) == ("train", True)
    assert largest["path"].endswith("steps.py")
    assert largest["b"] > largest["a"]


@pytest.mark.long
def test_the_function_that_holds_more_memory_is_named(whet: Whet) -> None:
    pytest.importorskip("memray")
    program = "import sys\ndef load():\n    return [bytes(1000) for _ in range(int(sys.argv[1]))]\nprint(len(load()) > 9)\n"
    whet.write("rows.py", program)
    arms = (f"{PYTHON} rows.py 10", f"{PYTHON} rows.py 60000")
    said = whet("compare", "--by", "memory", "--where", *arms).stdout

    assert "where, in one profiled run of each (held at the peak):" in said
    (line,) = [each for each in said.splitlines() if "rows.py:3" in each]
    assert line.split()[0].startswith("+6")


@pytest.mark.long
def test_a_program_that_sleeps_is_not_judged_by_its_cpu_time(whet: Whet) -> None:
    """Whatever else runs on the machine: a wait for a processor isn't a wait of the program's own."""
    whet.write("asleep.py", ASLEEP)
    answer = compared(whet, f"{PYTHON} asleep.py 0.1", f"{PYTHON} asleep.py 0.6")

    assert (answer["ruling"], answer["decided_by"]) == ("different", "seconds")
