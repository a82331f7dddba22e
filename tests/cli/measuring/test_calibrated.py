"""`whet expect`: how good the guesses in the notebook are."""

import json
import sys
from dataclasses import replace

import pytest
from whet_command import Whet


@pytest.fixture
def whet(whet: Whet) -> Whet:
    """Return the whet of a user who has made no guess yet."""
    state = whet.folder.parent / "state"
    return replace(whet, environment={**whet.environment, "XDG_STATE_HOME": str(state)})


def test_guesses_are_scored_by_kind_from_the_trials_that_are_there(whet: Whet) -> None:
    for number in range(1, 8):
        whet("run", "--expect", "size ~ 1", "--", "sh", "-c", f"echo size: {number * 10}")
    whet("run", "--expect", "exit 0", "--", "false")

    told = json.loads(whet("expect", "--json").stdout)

    kinds = {each["kind"]: each for each in told["kinds"]}
    assert set(kinds) == {"number", "ending"}
    numbers = kinds["number"]
    assert (numbers["stated"], numbers["met"], numbers["guesses"]) == (7, 0, 7)
    ends = (numbers["ratio"], numbers["ratio_low"], numbers["ratio_high"])
    assert ends == pytest.approx((40.0, 10.0, 70.0))
    assert (kinds["ending"]["stated"], kinds["ending"]["met"]) == (1, 0)
    said = whet("expect").stdout
    assert "numbers: 40 × too low (10 to 70 ×, 95% sure, 7 guesses)" in said
    assert "furthest off: size ~ 1: 70 × more (trial 7)" in said
    assert "endings: 0 of 1 as you expected" in said


def test_a_statement_that_is_made_again_is_no_other_guess(whet: Whet) -> None:
    for _ in range(2):
        whet("run", "--expect", "seconds < 60", "--", "true")
    whet("again")

    assert "times: 1 of 1 as you expected" in whet("expect").stdout


def test_the_numbers_of_a_run_that_failed_or_was_ended_say_nothing(whet: Whet) -> None:
    whet("run", "--expect", "seconds ~ 3s", "--", "false")
    whet("run", "--expect", "seconds < 0.1", "--timeout", "0.2", "--", "sleep", "60")
    whet("run", "--expect", "seconds < 60", "--expect", "exit 1", "--", "sh", "-c", "exit 1")

    said = whet("expect").stdout

    assert "times: 1 of 1 as you expected" in said
    assert "endings: 1 of 1" in said
    assert "the numbers of 2 runs that failed" in said


def test_guesses_in_other_projects_count_unless_you_ask_for_this_one(
    whet: Whet,
) -> None:
    projects = [replace(whet, folder=whet.folder.parent / name) for name in ("one", "two")]
    for project in projects:
        project.folder.mkdir()
        project("run", "--expect", "exit 0", "--", "true")

    everywhere = projects[0]("expect").stdout

    assert "endings: 2 of 2 as you expected" in everywhere
    assert "in 2 projects" in everywhere
    assert "endings: 1 of 1" in projects[0]("expect", "--here").stdout


def test_guesses_in_comments_at_lines_count_once_even_if_the_lines_move(whet: Whet) -> None:
    text = (
        "import time\ntime.sleep(0.02)  # expect: 30 s\nrows = list(range(9))  # expect: 1 calls\n"
    )
    for head in ("", "# a line more\n"):
        whet.write("slow.py", head + text)
        whet("expect", "--lines", "slow.py", "--", sys.executable, "slow.py")
    whet.write("slow.py", text.replace("1 calls", "9 calls") + "raise SystemExit(3)\n")
    whet("expect", "--lines", "slow.py", "--", sys.executable, "slow.py")

    said = whet("expect").stdout

    assert [each.count("0 of 1 as you expected") for each in said.split("numbers: ")] == [1, 0]
    assert "1 of 1 as you expected" in said.partition("numbers: ")[2]
    assert "(`time.sleep(0.02)`, trial 1)" in said


def test_without_a_guess_it_says_how_to_state_one(whet: Whet) -> None:
    said = whet("expect")

    assert said.code == 0
    assert "whet run --expect" in said.stderr
