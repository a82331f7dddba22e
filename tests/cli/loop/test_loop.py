"""`whet loop`: each save is a run, warm where it can be, and nothing is left behind."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from crossed import crossed
from loop_command import SLOW, Loop, looping, on_screen, out_of, save, wait_until_gone
from whet_command import Whet

from whet.host.process.git import Repository

pytestmark = pytest.mark.slow

PYTHON = (sys.executable, "main.py")


def test_each_save_is_a_run_from_as_far_on_as_it_can_be(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print(1)\n")
    with looping(whet, *PYTHON, options=("--verify", "off")) as loop:
        first = loop.next()
        loop.save("main.py", f"{SLOW}print(2)\n")
        second = loop.next()
        loop.save("main.py", f"print(0)\n{SLOW}print(2)\n")
        third = loop.next()

    assert [told["is_warm"] for told in (first, second, third)] == [False, True, False]
    assert second["from"] == "main.py:3"
    assert Path(second["saved"][0]).name == "main.py"
    assert third["why_not_deeper"] == "not from main.py:3: main.py has changed above this line"
    assert [out_of(told, whet) for told in (first, second, third)] == ["1\n", "2\n", "0\n2\n"]


def test_a_command_that_is_no_python_runs_cold_each_time_and_says_why(whet: Whet) -> None:
    whet.write("data", "one\n")
    with looping(whet, "cat", "data") as loop:
        first = loop.next()
        loop.save("data", "two\n")
        second = loop.next()

    assert out_of(second, whet) == "two\n"
    assert not first["is_warm"]
    assert not second["is_warm"]
    assert second["why_no_copies"] == "it doesn't run on a Python that whet can follow"


def test_a_save_replaces_a_run_that_hangs(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print(1)\n")
    with looping(whet, *PYTHON) as loop:
        loop.next()
        os.mkfifo(whet.folder / "up")
        loop.save("main.py", f"{SLOW}open('up').read()\n")
        with (whet.folder / "up").open("w"):  # returns when the program hangs there
            loop.save("main.py", f"{SLOW}print(2)\n")
            told = loop.next()

    assert told["is_warm"]
    assert out_of(told, whet) == "2\n"


def test_a_syntax_error_is_shown_and_the_next_good_save_is_warm(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print(1)\n")
    with looping(whet, *PYTHON) as loop:
        loop.next()
        loop.save("main.py", f"{SLOW}print(1\n")
        broken = loop.next()
        loop.save("main.py", f"{SLOW}print(3)\n")
        mended = loop.next()

    assert broken["verdict"] == "bad"
    assert not broken["is_warm"]
    assert broken["snapshots"] >= 1
    assert (mended["from"], out_of(mended, whet)) == ("main.py:3", "3\n")


def test_a_save_is_waited_for_until_the_file_is_closed(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print(1)\n")
    with looping(whet, *PYTHON) as loop:
        loop.next()
        with (whet.folder / "main.py").open("w") as file:
            file.write(f"{SLOW}print(2")
            file.flush()
            loop.tells_nothing_for(0.3)
            file.write(")\n")
        told = loop.next()

    assert out_of(told, whet) == "2\n"


def test_a_script_that_is_removed_and_comes_back_is_run(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print(1)\n")
    with looping(whet, *PYTHON) as loop:
        loop.next()
        (whet.folder / "main.py").unlink()
        gone = loop.next()
        whet.write("main.py", f"{SLOW}print(2)\n")
        back = loop.next()
        while out_of(back, whet) != "2\n":  # it was read while it was being written
            back = loop.next()

    assert gone["outcome"]["exit_code"] == 2


def test_files_that_are_saved_together_are_one_change(whet: Whet) -> None:
    whet.write("main.py", f"import a, b\n{SLOW}print(a.X, b.X)\n")
    for name in "ab":
        whet.write(f"{name}.py", "X = 1\n")
    with looping(whet, *PYTHON, options=("--verify", "off")) as loop:
        loop.next()
        for name in "ab":
            loop.save(f"{name}.py", "X = 2\n")
        told = loop.next()
        loop.save("main.py", f"import a, b\n{SLOW}print('end')\n")
        last = loop.next()

    assert out_of(told, whet) == "2 2\n"
    assert out_of(last, whet) == "end\n"


def test_the_code_that_is_recorded_is_what_was_run(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print(0)\n")
    subprocess.run(["git", "init", "--quiet"], cwd=whet.folder, check=True)
    with looping(whet, *PYTHON, options=("--verify", "off")) as loop:
        told = loop.next()
        for number in range(0, 20, 2):
            whet.write("main.py", f"{SLOW}print( {number} )\n")
            time.sleep(0.001 * number)  # as a formatter has it, at any moment of what comes of it
            loop.save("main.py", f"{SLOW}print('{number}')\n")
            while out_of(told, whet) != f"{number}\n" or "'" not in _code_of(told, whet):
                told = loop.next()


def _code_of(told: dict[str, Any], whet: Whet) -> str:
    name = f"{told['spec']['code']['snapshot']}:main.py"
    return Repository(whet.folder).get("cat-file", "-p", name)


def test_a_package_that_takes_the_place_of_another_ends_the_run(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}import package\nprint(package.X)\nopen('up').read()\n")
    whet.write("package/__init__.py", "X = 1\n")
    whet.write("new/__init__.py", "X = 2\n")
    os.mkfifo(whet.folder / "up")
    with looping(whet, *PYTHON) as loop, (whet.folder / "up").open("w"):
        (whet.folder / "up").unlink()
        whet.write("up", "")
        (whet.folder / "package").rename(whet.folder / ".git")  # there nobody looks
        (whet.folder / "new").rename(whet.folder / "package")
        told = loop.next()

    assert out_of(told, whet) == "2\n"


@pytest.mark.parametrize("how", ["written", "switched"])
def test_a_file_behind_a_link_is_a_file(whet: Whet, how: str) -> None:
    whet.write("code/one.py", f"{SLOW}print(1)\n")
    whet.write("code/two.py", "print(2)\n")
    (whet.folder / "main.py").symlink_to("code/one.py")
    with looping(whet, *PYTHON) as loop:
        loop.next()
        if how == "written":
            loop.save("code/one.py", "print(2)\n")
        else:
            (whet.folder / "new").symlink_to("code/two.py")
            (whet.folder / "new").replace(whet.folder / "main.py")
        told = loop.next()

    assert out_of(told, whet) == "2\n"


def test_what_the_program_writes_is_no_save(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}import os, sys\nfor name in ('part', 'made.py', sys.argv[1]):\n    open(name, 'w').write('x = 1')\nos.remove('part')\n{SLOW}")  # fmt: skip
    with looping(whet, *PYTHON, "out", options=("--runs", "3")) as loop:
        loop.next()
        for number in (2, 3):
            loop.save("main.py", f"{(whet.folder / 'main.py').read_text()}print({number})\n")
            told = loop.next()
            assert out_of(told, whet).endswith(f"{number}\n")
        assert loop.process.wait(60) == 0

    ended = whet("log").stdout.splitlines()
    assert len([line for line in ended if "GOOD" in line]) == 3


def test_a_program_comes_to_its_end_that_writes_a_python_file_of_another_name_each_time(
    whet: Whet,
) -> None:
    writing = "import time\nopen(f'made{time.time_ns()}.py', 'w').close()\n"
    whet.write("main.py", f"{SLOW}{writing}time.sleep(0.5)\nprint(1)\n")
    with looping(whet, *PYTHON) as loop:
        first = loop.next()
        loop.save("main.py", f"{SLOW}{writing}time.sleep(0.5)\nprint(2)\n")
        second = loop.next()

    assert [out_of(told, whet) for told in (first, second)] == ["1\n", "2\n"]


def test_a_file_counts_while_the_program_runs_if_it_is_asked_for(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print(open('conf.toml').read())\nopen('up').read()\n")
    whet.write("conf.toml", "old")
    os.mkfifo(whet.folder / "up")
    with (
        looping(whet, *PYTHON, options=("--watch", "*.toml")) as loop,
        (whet.folder / "up").open("w"),
    ):
        (whet.folder / "up").unlink()
        whet.write("up", "")
        loop.save("conf.toml", "new")
        told = loop.next()

    assert out_of(told, whet) == "new\n"


def test_reset_steps_come_before_each_run(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}open('log', 'a').write('x')\nprint(open('log').read())\n")
    with looping(whet, *PYTHON, options=("--reset", "rm -f log")) as loop:
        first = loop.next()
        loop.save("main.py", (whet.folder / "main.py").read_text() + "print(2)\n")
        second = loop.next()

    assert [out_of(told, whet) for told in (first, second)] == ["x\n", "x\n2\n"]


@pytest.mark.long
def test_a_run_comes_to_its_end_whose_reset_step_writes_a_python_file(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}import made\nprint(made.X)\n")
    with looping(whet, *PYTHON, options=("--reset", "sleep 0.05; echo X = 1 > made.py")) as loop:
        assert loop.out() == "1\n"


def test_a_folder_that_may_not_be_written_to_does_not_matter(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print(1)\n")
    (whet.folder / "main.py").chmod(0o444)
    whet.folder.chmod(0o555)
    try:
        with looping(whet, *PYTHON, options=("--runs", "1")) as loop:
            told = loop.next()
    finally:
        whet.folder.chmod(0o755)

    assert told["verdict"] == "good"


def _kill(loop: Loop, number: int) -> list[int]:
    pids = loop.processes
    assert len(pids) > 3, pids  # whet, observer, spawner, copies
    loop.process.send_signal(number)
    loop.process.wait(60)
    return pids


def _look_that_nothing_is_left(whet: Whet, pids: list[int]) -> None:
    wait_until_gone(pids)
    whet("run", "--", "true")  # the next whet removes what a killed one has left

    for folder in (Path(whet.environment["TMPDIR"]), whet.state / "made"):
        assert list(folder.iterdir()) == []


@crossed(
    when=["warm", "idle"],
    number={"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGKILL": signal.SIGKILL},
)
def test_nothing_is_left_when_a_loop_ends(whet: Whet, when: str, number: int) -> None:
    os.mkfifo(whet.folder / "up")
    hangs = "open('up').read()\n"
    whet.write("main.py", f"{SLOW}print(1)\n")
    with looping(whet, *PYTHON, options=("--verify", "off")) as loop:
        loop.next()
        if when == "idle":
            pids = _kill(loop, number)
        else:
            loop.save("main.py", f"{SLOW}{hangs}")
            with (whet.folder / "up").open("w"):
                pids = _kill(loop, number)
    _look_that_nothing_is_left(whet, pids)


# Whether a process is there is nothing that a snapshot is looked at for: a warm run does not
# see that it has gone.
SEES_A_PROCESS = """
import os, sys
try:
    os.kill(int(sys.argv[1]), 0)
    word = 'there'
except ProcessLookupError:
    word = 'gone'
    {when_gone}
"""


@contextmanager
def _one_that_sees(
    whet: Whet, *, when_gone: str = "pass", end: str = "print(word)\n", verify: str = "always"
) -> Iterator[tuple[Loop, str]]:
    """Yield a loop whose next run is warm and wrong, and what to save for it."""
    text = SEES_A_PROCESS.format(when_gone=when_gone) + SLOW
    whet.write("main.py", f"{text}print(0)\n")
    with (
        subprocess.Popen(["sleep", "1000"]) as other,
        looping(whet, *PYTHON, str(other.pid), options=("--verify", verify)) as loop,
    ):
        try:
            loop.next()
        finally:
            other.kill()
            other.wait()
        yield loop, text + end


def test_a_wrong_warm_answer_is_told_and_recorded_and_the_next_run_is_cold(whet: Whet) -> None:
    with _one_that_sees(whet, end="print('a line')\nprint(word)\nsys.exit(word == 'there')\n") as (
        loop,
        text,
    ):
        loop.save("main.py", text)
        warm = loop.next()
        told = loop.next("verification")
        loop.save("main.py", f"{text}#\n")
        cold = loop.next()

    assert (warm["is_warm"], cold["is_warm"]) == (True, False)
    assert cold["why_not_deeper"] == "the last warm answer was wrong"
    assert told["trial"] == warm["trial"]
    assert told["differs_in"] == [
        {"what": "exit", "warm": "exit 1", "cold": "exit 0", "line": 0},
        {"what": "failure", "warm": "exit code 1", "cold": "none", "line": 0},
        {"what": "stdout", "warm": "there", "cold": "gone", "line": 2},
    ]
    assert len(told["cold_trials"]) == 3
    shown = json.loads(whet("show", str(warm["trial"]), "--json").stdout)
    assert shown["verdict"] == "skip"
    assert [json.loads(whet("show", str(number), "--json").stdout)["note"] for number in told["cold_trials"]] == [f"verifies trial {warm['trial']}"] * 3  # fmt: skip


def test_a_right_warm_answer_is_verified_and_no_more_is_said(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print(1)\n")
    with looping(whet, *PYTHON) as loop:
        loop.next()
        loop.save("main.py", f"{SLOW}raise KeyError('x')\n")
        warm = loop.next()
        told = loop.next("verification")
        loop.save("main.py", f"{SLOW}raise KeyError('x') #\n")
        again = loop.next()

    assert (told["trial"], told["differs_in"], told["why_not"]) == (warm["trial"], [], "")
    assert len(told["cold_trials"]) == 1
    assert again["is_warm"]
    # Not the one that verified it.
    assert again["same_failure_as"] == warm["trial"]


def test_a_program_that_is_not_steady_is_called_so_once(whet: Whet) -> None:
    text = f"import os\n{SLOW}print(os.urandom(9))\n"
    whet.write("main.py", text)
    with looping(whet, *PYTHON, options=("--verify", "always")) as loop:
        loop.next()
        told: list[object] = []
        for number in (1, 2):
            loop.save("main.py", text + "#" * number)
            assert loop.next()["is_warm"]
            verification = loop.next("verification")
            told.append((verification["differs_in"], verification["unsteady"]))

    assert told == [([], ["stdout"]), ([], [])]


@pytest.mark.parametrize(
    ("end", "why"),
    [
        ("open('out', 'w').close()\n", "it writes {}/out"),
        ("import os\nos.mkdir('made')\nos.mkdir('more')\n", "it writes {}/made and 1 more"),
    ],
)
def test_what_leaves_something_behind_is_not_run_twice(whet: Whet, end: str, why: str) -> None:
    whet.write("main.py", f"{SLOW}print(0)\n")
    with looping(whet, *PYTHON, options=("--verify", "always")) as loop:
        loop.next()
        loop.save("main.py", SLOW + end)
        loop.next()
        told = loop.next("verification")

    assert told["why_not"] == why.format(whet.folder)
    assert told["cold_trials"] == []


def test_a_save_gives_a_verification_up(whet: Whet) -> None:
    os.mkfifo(whet.folder / "up")
    with _one_that_sees(whet, when_gone="open('up').read()") as (loop, text):
        loop.save("main.py", text)
        loop.next()
        with (whet.folder / "up").open("w"):  # returns when the cold run hangs there
            loop.save("main.py", f"{text}print(2)\n")
            told = loop.next()

    assert told["is_warm"]
    assert out_of(told, whet) == "there\n2\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_when_a_loop_ends_while_it_verifies(whet: Whet, number: int) -> None:
    os.mkfifo(whet.folder / "up")
    with _one_that_sees(whet, when_gone="open('up').read()") as (loop, text):
        loop.save("main.py", text)
        loop.next()
        with (whet.folder / "up").open("w"):
            pids = _kill(loop, number)
    (whet.folder / "up").unlink()
    whet.write("up", "")

    _look_that_nothing_is_left(whet, pids)


def test_nobody_verifies_who_was_told_not_to(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print(0)\n")
    with looping(whet, *PYTHON, options=("--verify", "off", "--runs", "2")) as loop:
        loop.next()
        loop.save("main.py", f"{SLOW}print(1)\n")
        assert loop.next()["is_warm"]
        assert loop.process.wait(60) == 0

    assert len(whet("log").stdout.splitlines()) == 2


def test_standard_input_of_a_loop_may_be_anything(whet: Whet) -> None:
    whet.write("main.py", "import sys\nprint(len(sys.stdin.read()))\n")
    done = whet("loop", "--runs", "1", "--", *PYTHON, stdin=b"five\n")

    assert done.stdout == "5\n"
    assert done.code == 0


def test_the_line_says_all_that_somebody_in_a_hurry_asks(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}raise ValueError('no')\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "whet", "loop", "--runs", "2", "--explain", "--", *PYTHON],
        cwd=whet.folder, env={**os.environ, **whet.environment}, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    with process:
        while not (line := process.stderr.readline()).startswith("whet: "):
            pass
        assert line.startswith("whet: cold ")
        whet.write("main.py", f"{SLOW}raise ValueError('no')  # really\n")
        said = process.stderr.read()

    lines = said.splitlines()
    line = next(each for each in lines if each.startswith("whet: "))
    assert line.startswith("whet: warm ")
    assert " from main.py:3 (cold " in line
    found = re.search(
        r" from main.py:3 \(cold [^)·]*\)(, little faster[^·]*)?"
        r" · BAD ValueError: no at main.py:3 · same failure as #1 · trial (\d+)",
        line,
    )
    assert found is not None, line
    # A run that begins while the file is half saved is overtaken, and has a number too.
    assert int(found[2]) in {2, 3}
    assert json.loads(whet("show", "--json", found[2]).stdout)["verdict"] == "bad"
    assert any(each.split()[:2] == [">", "main.py:3"] for each in lines), said


def test_ctrl_c_ends_the_run_and_then_the_loop(whet: Whet) -> None:
    whet.write("main.py", f"import sys\n{SLOW}print('a terminal:', sys.stdin.isatty(), sys.stdout.isatty())\n")  # fmt: skip
    with on_screen(whet, *PYTHON, options=("--verify", "always")) as screen:
        screen.wait_for("a terminal: True True")
        screen.wait_for("waiting for a save")
        save(whet, "main.py", f"import sys\n{SLOW}print('up')\ntime.sleep(1000)\n")
        screen.wait_for("up")
        screen.type(b"\x03")
        line = screen.wait_for("whet: warm ")
        assert "BAD KeyboardInterrupt at main.py:" in line
        assert "not verified: it was typed into" in screen.wait_for("whet: trial 2")
        save(whet, "main.py", f"import sys\n{SLOW}print('on a terminal:', sys.stdin.isatty())\n")
        assert "on a terminal: True" in screen.wait_for("whet: warm ")
        # The cold run finds a terminal, too, and is not shown.
        assert "on a terminal" not in screen.wait_for("a cold run ends the same way (trial 4)")
        screen.type(b"\x03")
        assert screen.process.wait(20) == 0


def test_a_wrong_answer_is_loud(whet: Whet) -> None:
    with subprocess.Popen(["sleep", "1000"]) as other:
        text = SEES_A_PROCESS.format(when_gone="pass") + SLOW
        whet.write("main.py", f"{text}print(0)\n")
        with on_screen(whet, *PYTHON, str(other.pid)) as screen:
            screen.wait_for("waiting for a save")
            other.kill()
            other.wait()
            save(whet, "main.py", f"{text}print(word)\n")
            said = screen.wait_for("please report this")

    assert "WRONG WARM ANSWER · trial 2 differs in output from cold trials 3, 4 and 5" in said
    assert "output, line 1: warm: there" in said
    assert "                cold: gone" in said


def test_each_run_gets_the_whole_file_on_standard_input(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}import sys\nprint(len(sys.stdin.read()))\n")
    with (whet.write("data", "five\n")).open("rb") as data:
        process = subprocess.Popen(
            [sys.executable, "-m", "whet", "loop", "--runs", "2", "--", *PYTHON],
            cwd=whet.folder, env={**os.environ, **whet.environment},
            stdin=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    with process:
        assert process.stdout.readline() == b"5\n"
        while not process.stderr.readline().startswith(b"whet: "):
            pass  # a save before the end of the run would be of another one in its place
        save(whet, "main.py", f"{SLOW}import sys\nprint('again', len(sys.stdin.read()))\n")
        assert process.stdout.readline() == b"again 5\n"


def test_a_program_that_cannot_be_started_for_a_moment_does_not_end_the_loop(whet: Whet) -> None:
    program = whet.write("run.sh", "#!/bin/sh\necho 1\n")
    program.chmod(0o755)
    with looping(whet, "./run.sh") as loop:
        loop.next()
        program.unlink()
        error = loop.next("error")
        program = whet.write("new.sh", "#!/bin/sh\necho 2\n")
        program.chmod(0o755)
        program.replace(whet.folder / "run.sh")
        told = loop.next()

    assert "./run.sh" in error["message"]
    assert error["hint"]
    assert out_of(told, whet) == "2\n"


def test_a_command_that_is_not_there_is_an_error_at_once(whet: Whet) -> None:
    said = whet("loop", "--", "./missing")

    assert "./missing" in said.stderr
    assert "hint: " in said.stderr
    assert said.code != 0


def test_a_syntax_error_needs_no_other_reason(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print(1)\n")
    with on_screen(whet, *PYTHON) as screen:
        screen.wait_for("waiting for a save")
        save(whet, "main.py", f"{SLOW}print(1\n")
        line = screen.wait_for("whet: cold ").splitlines()[-1]

    # A save that is noticed in two steps overtakes its first run, which has a number, too.
    words = "BAD SyntaxError: '(' was never closed at main.py:3 · the copies stay · trial"
    assert line.endswith((f"{words} 2", f"{words} 3"))


@pytest.mark.parametrize("typed", [b"", b"r\nr\n", b"\n\nr\n"])
def test_a_run_that_takes_the_place_of_another_is_shown(whet: Whet, typed: bytes) -> None:
    whet.write("main.py", f"{SLOW}print('one')\n")
    with on_screen(whet, *PYTHON, options=("--verify", "off")) as screen:
        screen.wait_for("waiting for a save")
        if typed:
            screen.type(typed)
            screen.wait_for("trial 2")
        for number in range(2):
            save(whet, "main.py", f"{SLOW}print('up')\ntime.sleep(1000)\n")
            screen.wait_for("up")
            save(whet, "main.py", f"{SLOW}print('over {number}')\n")
            screen.wait_for(f"over {number}")
            screen.wait_for("whet: warm ")
        screen.type(b"q\n")
        assert screen.process.wait(20) == 0
