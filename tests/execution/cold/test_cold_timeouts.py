"""At a timeout the Python stack is taken before the kill: it says what hung."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from laboratory import Laboratory

from whet.core.outcome import Outcome

pytestmark = pytest.mark.slow

_PROGRAM = """
import sys, threading, time, os

def busy():
    while True:
        pass

def asleep():
    time.sleep(1000)

def locked():
    lock = threading.Lock()
    with lock:
        lock.acquire()

def in_c():
    sum(range(10**15))

def reading():
    os.pipe()
    os.read(os.pipe()[0], 1)

def threaded():
    threading.Thread(target=busy, daemon=True).start()
    asleep()

def main():
    globals()[sys.argv[1]]()

main()
"""


def _stack_of(laboratory: Laboratory, way: str, *before: str, wall: float = 0.5) -> Outcome:
    (laboratory.work / "hang.py").write_text(_PROGRAM)
    return laboratory.run(laboratory.trial(*before, "hang.py", way, wall_seconds=wall))


@pytest.mark.parametrize(
    "way",
    [
        "busy",
        pytest.param("asleep", marks=pytest.mark.long),
        "locked",
        "in_c",
        pytest.param("reading", marks=pytest.mark.long),
        pytest.param("threaded", marks=pytest.mark.long),
    ],
)
def test_the_main_threads_stack_is_taken_five_times(laboratory: Laboratory, way: str) -> None:
    outcome = _stack_of(laboratory, way, sys.executable)

    assert outcome.timed_out
    assert len(outcome.stacks) == 5
    for stack in outcome.stacks:
        functions = [frame.function for frame in stack]
        assert functions[:3] == ["<module>", "main", way]
        assert way != "threaded" or functions[3] == "asleep", "the main thread, not the busy one"
        assert stack[1].path == str(laboratory.work / "hang.py") or stack[1].path == "hang.py"
        assert all(frame.in_user_code for frame in stack)
        assert _PROGRAM.splitlines()[stack[1].line - 1] == "    globals()[sys.argv[1]]()"


def test_python_below_a_shell_is_found(laboratory: Laboratory) -> None:
    script = f"'{sys.executable}' \"$@\"; true"

    outcome = _stack_of(laboratory, "asleep", "sh", "-c", script, "sh")

    assert [frame.function for frame in outcome.stacks[-1]] == ["<module>", "main", "asleep"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: the system may forbid a look inside")
@pytest.mark.parametrize("option", ["-I", "-S"])
def test_without_the_agent_py_spy_looks(laboratory: Laboratory, option: str) -> None:
    outcome = _stack_of(laboratory, "asleep", sys.executable, option)

    assert outcome.timed_out
    assert [frame.function for frame in outcome.stacks[-1]] == ["<module>", "main", "asleep"]


def test_frames_of_the_standard_library_are_not_the_users(laboratory: Laboratory) -> None:
    text = "import subprocess, sys; subprocess.run(['sleep', '1000'])"

    outcome = laboratory.run(laboratory.trial(sys.executable, "-c", text, wall_seconds=0.5))

    stack = outcome.stacks[-1]
    assert [frame.in_user_code for frame in stack] == [True] + [False] * (len(stack) - 1)
    assert stack[-1].path.endswith("subprocess.py")


def test_a_program_that_closes_everything_finds_its_files_untouched(
    laboratory: Laboratory,
) -> None:
    text = (
        "import os\n"
        "os.closerange(3, 1100)\n"
        "for number in range(3, 1010):\n"
        "    os.dup2(os.open('mine', os.O_CREAT | os.O_WRONLY), number)\n"
        "while True: pass\n"
    )

    outcome = laboratory.run(laboratory.trial(sys.executable, "-c", text, wall_seconds=0.6))

    assert outcome.timed_out
    assert (laboratory.work / "mine").read_bytes() == b""


def test_a_child_that_was_forked_and_closed_its_files_harms_nobody(laboratory: Laboratory) -> None:
    text = "import os, time\nif os.fork() == 0: os.closerange(3, 1100)\ntime.sleep(1000)"

    outcome = laboratory.run(laboratory.trial(sys.executable, "-c", text, wall_seconds=0.5))

    assert outcome.stacks[-1][-1].line == 3


def test_a_program_without_python_says_why_there_is_no_stack(laboratory: Laboratory) -> None:
    outcome = laboratory.run(laboratory.trial("sleep", "1000", wall_seconds=1.0))

    assert outcome.stacks == ()
    assert any("no Python process" in note for note in outcome.notes)


def test_a_limit_that_is_over_before_the_command_has_started_says_so(
    laboratory: Laboratory,
) -> None:
    outcome = laboratory.run(laboratory.trial("sleep", "1000", wall_seconds=1e-6))

    assert outcome.timed_out
    assert outcome.notes == ("the time was up before the command had started",)


def test_a_stopped_python_is_killed_without_ado(laboratory: Laboratory) -> None:
    text = "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"

    outcome = laboratory.run(laboratory.trial(sys.executable, "-c", text, wall_seconds=0.5))

    assert outcome.timed_out
    assert outcome.wall_seconds < 10


def test_no_report_outlives_its_trial(laboratory: Laboratory) -> None:
    outcome = laboratory.run(
        replace(
            laboratory.trial(sys.executable, "-c", "import os; print(os.environ['WHET_AGENT'])")
        )
    )

    assert not Path(outcome.stdout.head(1000).decode().strip()).exists()
