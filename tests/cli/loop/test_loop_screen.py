"""`whet loop` as it is seen in a terminal."""

import json
import os
import subprocess
import sys

import pytest
from loop_command import SLOW, on_screen, save
from whet_command import Whet

pytestmark = pytest.mark.slow


def test_pytest_runs_on_from_a_test_in_a_terminal_too(whet: Whet) -> None:
    suite = (
        f"{SLOW}def test_first():\n    time.sleep(0.06)\n\ndef test_second():\n    assert {{}}\n"
    )
    whet.write("test_it.py", suite.format(1))
    (whet.folder / "__pycache__").mkdir()  # pytest lists the folder in which it would make it
    words = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py")
    with on_screen(whet, *words, options=("--verify", "off")) as screen:
        screen.wait_for("trial 1")
        save(whet, "test_it.py", suite.format(0))
        told = screen.wait_for("trial 2")

    assert "from test_it.py::test_second" in told


def test_a_line_of_whets_begins_where_the_program_has_left_its_own_unfinished(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print('50 %', end='')\n")
    with on_screen(whet, sys.executable, "main.py") as screen:
        told = screen.wait_for("trial 1")

    assert told.startswith("50 %\nwhet: cold")


def test_a_line_that_has_ended_is_followed_by_no_empty_one(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print('50 %')\nprint(end='\\x1b[0m')\n")
    with on_screen(whet, sys.executable, "main.py") as screen:
        told = screen.wait_for("trial 1")

    assert told.startswith("50 %\n\x1b[0mwhet: cold")


def test_a_run_that_a_save_has_ended_says_so(whet: Whet) -> None:
    whet.write("main.py", f"{SLOW}print('begun')\nprint('half', end=' ', flush=True)\ninput()\n")
    with on_screen(whet, sys.executable, "main.py") as screen:
        screen.wait_for("begun")
        save(whet, "main.py", f"{SLOW}print('done')\n")
        told = screen.wait_for("done")

    assert told.lstrip() == "half \nwhet: stopped the run: you saved main.py\ndone"


def test_what_is_no_python_is_not_offered_to_be_stepped_through(whet: Whet) -> None:
    whet.write("run.sh", "echo run >> said; exit 3\n")
    with on_screen(whet, "sh", "run.sh") as screen:
        told = screen.wait_for("waiting for a save")
        screen.type(b"b\n")
        told += screen.wait_for("no failure to step through")
        screen.type(b"z\n")
        told += screen.wait_for("type r to run again")
        screen.type(b"q\n")
        assert screen.process.wait(20) == 0

    assert "type b" not in told
    assert (whet.folder / "said").read_text() == "run\n"


@pytest.mark.long
def test_a_run_from_a_copy_that_gains_little_is_called_that(whet: Whet) -> None:
    text = f"{SLOW}print(1)\ntime.sleep(0.6)\nprint('end')\n"
    whet.write("main.py", text)
    with on_screen(whet, sys.executable, "main.py", options=("--verify", "off")) as screen:
        screen.wait_for("trial 1")
        save(whet, "main.py", text.replace("1", "2"))
        early = screen.wait_for("trial 2")
        save(whet, "main.py", text.replace("1", "2").replace("end", "over"))
        late = screen.wait_for("trial 3")

    assert "ms), little faster: the slow part comes after the edit · GOOD exit 0" in early
    assert "little faster" not in late


def test_both_streams_are_shown_in_the_order_in_which_they_were_written(whet: Whet) -> None:
    text = f"""{SLOW}import sys
for number in range(30):
    print('out', number)
    print('err', number, file=sys.stderr)
time.sleep(0.06)
print('end')
"""
    whet.write("main.py", text)
    written = "".join(f"out {number}\nerr {number}\n" for number in range(30))
    with on_screen(whet, sys.executable, "main.py", options=("--verify", "always")) as screen:
        cold = screen.wait_for("trial 1")
        save(whet, "main.py", text.replace("end", "over"))
        warm = screen.wait_for("trial 2")
        verified = screen.wait_for("verified")

    assert f"{written}end\nwhet: cold" in cold
    assert f"{written}over\nwhet: warm" in warm
    assert "a cold run ends the same way" in verified


def test_a_progress_bar_stays_whole_beside_lines_of_output(whet: Whet) -> None:
    text = f"""{SLOW}import sys
for number in range(200):
    print('\\r', 3000 * '#', end=' ', file=sys.stderr, flush=True)
    print('step', number)
print('end')
"""
    whet.write("main.py", text)
    with on_screen(whet, sys.executable, "main.py", options=("--verify", "off")) as screen:
        told = screen.wait_for("trial 1")

    steps = "".join(f" {3000 * '#'} step {number}\n" for number in range(200))
    assert told.startswith(f"{steps}end\nwhet: cold")


@pytest.mark.long
@pytest.mark.parametrize("option", ["--bad-if", "--expect"])
def test_a_condition_on_one_stream_keeps_them_apart_and_a_warm_run_repeats_their_order(
    whet: Whet, option: str
) -> None:
    text = f"""{SLOW}import sys
for number in range(4):
    print('out', number)
    time.sleep(0.06)
    print('err', number, file=sys.stderr)
    time.sleep(0.06)
print('end')
"""
    whet.write("main.py", text)
    options = ("--verify", "off", option, "stderr ~ err and stdout ~ end")
    with on_screen(whet, sys.executable, "main.py", options=options) as screen:
        cold = screen.wait_for("trial 1")
        save(whet, "main.py", text.replace("end", "the end"))
        warm = screen.wait_for("trial 2")

    written = "".join(f"out {number}\nerr {number}\n" for number in range(4))
    assert f"{written}end\nwhet: cold" in cold
    assert f"{written}the end\nwhet: warm" in warm
    outcome = json.loads(whet("show", "2", "--json").stdout)["outcome"]
    assert outcome["stderr"]["size_bytes"] == 4 * len("err 0\n")


def test_one_pipe_for_both_streams_gets_them_in_their_order(whet: Whet) -> None:
    whet.write(
        "main.py",
        f"{SLOW}import sys\nfor n in range(30):\n"
        "    print('out', n, flush=True)\n    print('err', n, file=sys.stderr)\n",
    )
    words = ("-m", "whet", "loop", "--runs", "1", "--", sys.executable, "main.py")
    told = subprocess.run(
        [sys.executable, *words],
        cwd=whet.folder,
        env={**os.environ, **whet.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        timeout=60,
    )

    written = "".join(f"out {number}\nerr {number}\n" for number in range(30))
    assert told.stdout.startswith(f"{written}whet: cold")
