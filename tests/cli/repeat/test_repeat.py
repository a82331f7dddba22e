"""``whet repeat`` as a user types it."""

import json
import signal
import subprocess
import sys

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow
PYTHON = sys.executable

# Turn n of the program does what stands at place n: what fails is no matter of chance.
TURNS = """
import pathlib, sys
turns = "{turns}"
file = pathlib.Path("turn")
turn = int(file.read_text()) if file.exists() else 0
file.write_text(str(turn + 1))
match turns[turn % len(turns)]:
    case "k":
        raise KeyError("price")
    case "v":
        raise ValueError("no number")
    case "s":
        sys.exit(125)
"""


def program(whet: Whet, turns: str) -> None:
    whet.write("app.py", TURNS.replace("{turns}", turns))


def test_failures_are_counted_by_kind_with_trials_that_show_them(whet: Whet) -> None:
    program(whet, "kpvpkppppk")

    said = whet("repeat", "--json", "--", PYTHON, "app.py")

    found = json.loads(said.stdout)
    assert said.code == 0
    assert (found["runs"], found["failed"], found["passed"], found["rate"]) == (10, 4, 6, 0.4)
    low, high = found["interval"]
    assert low == pytest.approx(0.168, abs=0.001)
    assert high == pytest.approx(0.687, abs=0.001)
    endings = [(each["summary"], each["runs"], each["verdict"]) for each in found["endings"]]
    assert endings == [
        ("KeyError: 'price'", 3, "bad"),
        ("ValueError: no number", 1, "bad"),
        ("passes", 6, "good"),
    ]
    # Six passes of what fails four times in ten come in fewer than 5 of 100 cases; five do not.
    assert found["passes_to_be_sure"] == 6
    assert set(found["failing_seconds"]) == set(found["passing_seconds"])
    for number in found["endings"][1]["trials"]:
        assert "ValueError" in whet("show", str(number)).stdout


def test_it_is_said_in_words_what_follows(whet: Whet) -> None:
    program(whet, "kp")

    words = ["--stack", "4M", "--", PYTHON, "app.py", "{}"]
    said = whet("repeat", "-n", "4", *words)

    assert "failed in 2 of 4 runs: 50 %" in said.stdout
    assert f"whet repeat -n 19 --stack 4M -- {PYTHON} app.py '{{}}'`" in said.stdout
    assert "KeyError: 'price' at app.py:9" in said.stdout
    assert "to be 95 % sure of a fix: 5 runs without a failure" in said.stdout
    assert "run 1 (trial 1): KeyError: 'price'" in said.stderr


def test_until_failure_ends_with_it(whet: Whet) -> None:
    program(whet, "pppkp")

    found = json.loads(whet("repeat", "--until-failure", "--json", "--", PYTHON, "app.py").stdout)

    assert (found["passed"], found["failed"]) == (3, 1)


def test_until_sure_runs_until_the_rate_is_known_so_well(whet: Whet) -> None:
    program(whet, "p")

    sure = ("repeat", "--until-sure", "90%", "--within", "20%", "--json")
    found = json.loads(whet(*sure, "--", PYTHON, "app.py").stdout)

    low, high = found["interval"]
    assert (high - low) / 2 <= 0.2
    assert found["confidence"] == 0.9
    assert found["passes_to_be_sure"] is None


def test_what_bad_means_may_be_said(whet: Whet) -> None:
    program(whet, "sk")
    script = whet.write("judge.sh", f"#!/bin/sh\n{PYTHON} app.py\n")
    script.chmod(0o755)

    said = whet("repeat", "-n", "4", "--json", "--oracle", "./judge.sh")

    found = json.loads(said.stdout)
    assert (found["failed"], found["passed"], found["skipped"]) == (2, 0, 2)


def test_the_budget_ends_it_with_what_is_known(whet: Whet) -> None:
    program(whet, "p")

    said = whet("repeat", "-n", "100000", "--budget", "1s", "--json", "--", PYTHON, "app.py")

    assert said.code == 75
    assert json.loads(said.stdout)["stopped"] == "out_of_time"


def test_ctrl_c_shows_what_is_known_by_then(whet: Whet) -> None:
    # The program itself asks for the end, once it was run three times.
    text = (
        "\nimport os, signal\nif turn == 3:\n    os.kill(int(os.environ['WHET']), signal.SIGINT)\n"
    )
    text += "    signal.pause()\n"
    whet.write("app.py", TURNS.replace("{turns}", "p") + text)
    start = (
        "import os, sys; os.environ['WHET'] = str(os.getpid());"
        "os.execv(sys.executable, [sys.executable, '-m', 'whet', *sys.argv[1:]])"
    )
    done = subprocess.run(
        [PYTHON, "-c", start, "repeat", "-n", "50", "--", PYTHON, "app.py"],
        cwd=whet.folder, capture_output=True, text=True, timeout=60, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip

    assert done.returncode == 75
    assert "failed in 0 of 3 runs" in done.stdout
    assert "stopped by Ctrl-C" in done.stderr


@pytest.mark.parametrize(
    ("words", "said_of"),
    [
        (("--until-failure", "--until-sure", "95%"), "exclude each other"),
        (("--until-sure", "100%"), "--until-sure 1"),
        (("--until-sure", "95%", "--within", "0"), "--within 0"),
        (("--until-sure", "often"), "`often` is not a share"),
    ],
)
def test_what_cannot_be_met_is_refused(whet: Whet, words: tuple[str, ...], said_of: str) -> None:
    said = whet("repeat", *words, "--", "true")

    assert said.code == 64
    assert said_of in said.stderr


def test_a_command_that_does_not_exist_is_an_error_and_no_failure_rate(whet: Whet) -> None:
    said = whet("repeat", "--", "no-such-program")

    assert said.code == 66
    assert "no-such-program" in said.stderr
    assert not said.stdout
