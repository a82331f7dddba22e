"""`whet log`: searches are lines that open, and filters leave what is looked for."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import pytest
from whet_command import Whet

PYTHON = sys.executable


def lines(whet: Whet, *words: str) -> list[str]:
    return whet("log", *words).stdout.splitlines()


@pytest.fixture
def used(whet: Whet) -> Whet:
    """One trial that fails, three of a search, one that passes."""
    whet.write("app.py", "print({}['price'])\n")
    whet.write("fine.py", "print(1)\n")
    whet("run", "--", PYTHON, "app.py")
    whet("repeat", "-n", "3", "--", PYTHON, "app.py")
    whet("run", "--note", "the quiet one", "--", PYTHON, "fine.py")
    return whet


def test_a_search_is_one_line_that_opens(used: Whet) -> None:
    latest, search, first = lines(used)
    assert "fine.py" in latest
    assert "  repeat  " in search
    assert "3 trials (2 to 4), 3 of them BAD · made all runs" in search
    assert first.split()[0] == "1"
    assert "`whet log --search 2`" in used("log").stderr
    for each in ("2", "4"):
        assert [line.split()[0] for line in lines(used, "--search", each)] == ["4", "3", "2"]


@pytest.mark.parametrize(
    ("words", "has_more"),
    [("-n 2", True), ("-n 3", False), ("--all -n 4", True), ("--all -n 5", False),
     ("--search 2 -n 2", True), ("--file app.py -n 1", True)],
)  # fmt: skip
def test_what_is_left_out_is_said(used: Whet, words: str, *, has_more: bool) -> None:
    said = used("log", *words.split())
    told = json.loads(used("log", *words.split(), "--json").stdout)

    assert ("there are more than these" in said.stderr) is has_more
    assert told["has_more"] is has_more


def test_a_trial_that_no_search_ran_opens_none(used: Whet) -> None:
    said = used("log", "--search", "1")
    assert said.code == 64
    assert "trial 1 doesn't belong to a search" in said.stderr
    assert "whet show 1" in said.stderr


FILTERS = {
    "--failure keyerror": "1",
    "--failure keyerror --all": "4 3 2 1",
    "--failure keyerror --all -n 2": "4 3",
    "--failed": "1",
    "--file fine.py": "5",
    "--file app.py": "2 1",
    "--text quiet": "5",
    "--text quiet --failed": "",
    "--since 1h -n 1": "5",
    "--since 2999-01-01": "",
}


def test_a_filter_leaves_what_is_asked_for(used: Whet) -> None:
    found = {
        words: " ".join(line.split()[0] for line in lines(used, *words.split()))
        for words in FILTERS
    }
    assert found == FILTERS


def test_a_time_that_is_none_is_named(whet: Whet) -> None:
    said = whet("log", "--since", "yesterday")
    assert said.code == 64
    assert "`yesterday` is not a time: write 2h, 3d" in said.stderr


def test_an_older_search_that_is_asked_for_is_found_behind_newer_ones(used: Whet) -> None:
    used("repeat", "-n", "1", "--", "true")
    (line,) = lines(used, "--text", "app.py", "-n", "1")
    assert line.split()[0] == "2"


def test_a_search_that_ended_for_a_reason_of_another_whets_is_listed(used: Whet) -> None:
    """An older whet knew reasons that are gone."""
    with sqlite3.connect(used.state / "notebook.db") as notebook:
        name = "investigation_end_stays"
        (trigger,) = notebook.execute(
            "SELECT sql FROM sqlite_master WHERE name = ?", [name]
        ).fetchone()
        notebook.execute(f"DROP TRIGGER {name}")
        notebook.execute("UPDATE investigation_end SET stop_reason = 'OF_ANOTHER_WHET'")
        notebook.execute(trigger)
    notebook.close()
    assert any(line.endswith("· OF_ANOTHER_WHET") for line in lines(used))


def test_json_has_the_searches_beside_the_trials(used: Whet) -> None:
    told = json.loads(used("log", "--json").stdout)
    assert [each["trial"] for each in told["trials"]] == [5, 1]
    (search,) = told["searches"]
    assert (search["verb"], search["first"], search["last"], search["bad"]) == ("repeat", 2, 4, 3)


def test_trials_that_were_interrupted_one_after_the_other_share_a_line(whet: Whet) -> None:
    whet.write("app.py", "open('started', 'w').close()\nimport time\ntime.sleep(60)\n")
    for _ in range(2):
        running = subprocess.Popen(
            [PYTHON, "-m", "whet", "run", "--", PYTHON, "app.py"], cwd=whet.folder,
            env={**os.environ, **whet.environment}, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        until = time.monotonic() + 60
        while not (whet.folder / "started").exists() and time.monotonic() < until:
            time.sleep(0.01)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        (whet.folder / "started").unlink()

    (line,) = lines(whet)

    assert line.endswith("2 trials not finished: 2, 1")
    assert len(lines(whet, "--all")) == 2
