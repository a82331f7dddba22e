"""`whet investigate` ends in the time that it says, and leaves what it knows, however it ends."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from whet_command import Whet

SLOW = "import time\ntime.sleep(0.6)\nassert sum([1, 2]) == 4\n"


def report(whet: Whet) -> dict[str, object]:
    found: dict[str, object] = json.loads(Path(whet.folder, "whet-report/report.json").read_text())
    return found


def test_what_it_takes_at_most_is_said_at_the_start_and_once_the_failure_is_known(
    whet: Whet,
) -> None:
    whet.write("main.py", "assert 1 == 2\n")
    said = whet(
        "investigate", "--no-changes", "--", sys.executable, "main.py", is_hurried=True
    ).stderr
    start, _, rest = said.partition("Reproduce")
    assert "it takes at most 5 minutes, and no longer than 40 times the failure and 10 s" in start
    assert "`--budget` changes that" in start
    before, _, after = rest.partition("note: the investigation takes at most ")
    assert "each" in before
    assert "Classify" in after


def test_where_the_time_is_spent_the_report_says_what_is_known_and_what_was_not_done(
    whet: Whet,
) -> None:
    whet.write("main.py", SLOW)
    done = whet("investigate", "--budget", "3s", "--", sys.executable, "main.py")
    assert done.code == 75
    assert "the investigation takes at most 3.0 s" in done.stderr
    found = report(whet)
    assert "AssertionError" in str(found["failure"])
    steps = found["steps"]
    assert isinstance(steps, list)
    assert any("the time budget is used up" in str(each["result"]) for each in steps)
    assert (whet.folder / "whet-report" / "report.html").exists()


def begun(whet: Whet, *words: str) -> subprocess.Popen[str]:
    """Start an investigation, and return it once its first report is there."""
    command = [sys.executable, "-m", "whet", "investigate", *words]
    running = subprocess.Popen(
        command, cwd=whet.folder, env={**os.environ, **whet.environment}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    first = whet.folder / "whet-report" / "report.json"
    until = time.monotonic() + 60
    while not first.exists() and running.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    assert first.exists()
    return running


@pytest.mark.long
def test_ctrl_c_leaves_the_report_and_says_where(whet: Whet) -> None:
    whet.write("main.py", SLOW)
    running = begun(whet, "--", sys.executable, "main.py")
    running.send_signal(signal.SIGINT)
    told, _ = running.communicate(timeout=60)
    assert running.returncode == 75
    assert "AssertionError" in told
    assert "whet-report/report.html" in told
    steps = report(whet)["steps"]
    assert isinstance(steps, list)
    assert "Check the one-liner elsewhere" not in {each["title"] for each in steps}


@pytest.mark.long
def test_a_kill_leaves_the_report_of_what_was_known(whet: Whet) -> None:
    whet.write("main.py", SLOW)
    running = begun(whet, "--", sys.executable, "main.py")
    os.killpg(running.pid, signal.SIGKILL)
    running.communicate(timeout=60)
    assert "AssertionError" in str(report(whet)["failure"])


@pytest.mark.long
@pytest.mark.parametrize("good", ["gone", "HEAD"])
def test_a_wrong_good_version_costs_its_search_alone(whet: Whet, good: str) -> None:
    whet.git("init", "--quiet")
    whet.commit("first", main_py="found = {'a': 1}\nfound.pop('a')\nprint(found['a'] + 1)\n")
    whet("investigate", "--good", good, "--", sys.executable, "main.py")
    answer = report(whet)["answer"]
    assert isinstance(answer, dict)
    assert answer["cause"]["line"] == 2
    said = Path(whet.folder, "whet-report/report.md").read_text()
    assert good in said


SELDOM = """
import os
count = len(os.listdir("runs"))
open(f"runs/{count}", "x").close()
assert count % 9 != 6, "the seventh"
"""


@pytest.mark.long
def test_a_failure_that_comes_seldom_is_run_until_it_comes(whet: Whet) -> None:
    (whet.folder / "runs").mkdir()
    whet.write("main.py", SELDOM)
    said = whet("investigate", "--jobs", "1", "--", sys.executable, "main.py")
    assert "the first runs passed; it failed after" in said.stderr
    assert "the seventh" in str(report(whet)["failure"])
    assert "flaky: it failed the same way in" in said.stderr


@pytest.mark.long
def test_what_never_fails_is_said_to_pass_and_leaves_no_answer(whet: Whet) -> None:
    whet.write("main.py", "print(1)\n")
    said = whet("investigate", "--", sys.executable, "main.py")
    assert said.code != 0
    assert "does not fail" in said.stderr
    assert not (whet.folder / "whet-report" / "report.md").exists()


@pytest.mark.long
def test_told_to_end_it_leaves_the_report_of_all_that_is_known(whet: Whet) -> None:
    whet.write("main.py", SLOW)
    running = begun(whet, "--", sys.executable, "main.py")
    running.send_signal(signal.SIGTERM)
    running.communicate(timeout=60)
    assert running.returncode == 143
    assert "AssertionError" in str(report(whet)["failure"])


def test_a_budget_in_which_it_has_not_failed_once_is_said_to_be_too_small(whet: Whet) -> None:
    whet.write("main.py", "import time\ntime.sleep(30)\nassert 1 == 2\n")
    said = whet("investigate", "--budget", "1s", "--", sys.executable, "main.py")
    assert said.code == 75
    assert "didn't fail within 1.0 s" in said.stderr
    assert "`--budget 10m`" in said.stderr


@pytest.mark.long
def test_where_the_time_was_too_short_the_line_to_continue_with_does_the_rest(whet: Whet) -> None:
    whet.write("main.py", SLOW)
    words = ("--no-changes", "--", sys.executable, "main.py")
    cut = whet("investigate", "-o", "short", "--budget", "3s", *words)
    found = json.loads(Path(whet.folder, "short/report.json").read_text())["answer"]

    assert "too little time for " in found["left"]
    line = f"whet investigate -o short --no-changes --budget 2m -- {sys.executable} main.py"
    assert found["resume_line"] == line
    assert f"there was {found['left']}; continue with\n\n  {line}\n" in cut.stdout
    assert line in (whet.folder / "short" / "report.md").read_text()
    assert cut.stdout.rstrip().endswith("exit code 75: not every step came to its end")

    whet("investigate", *line.split()[2:])
    whole = json.loads(Path(whet.folder, "short/report.json").read_text())
    assert whole["answer"]["left"] == whole["answer"]["resume_line"] == ""
    assert not any(each.get("is_cut") for each in whole["steps"])


@pytest.mark.long
def test_the_seconds_told_are_those_of_the_whole_command(whet: Whet) -> None:
    whet.write("main.py", "assert 1 == 2\n")
    began = time.monotonic()
    whet("investigate", "--no-changes", "--", sys.executable, "main.py", is_hurried=True)
    most = time.monotonic() - began
    told = report(whet)["wall_seconds"]
    assert isinstance(told, float)
    assert most / 2 < told <= most
