"""`whet investigate --slower-than` and `--more-memory-than`: what costs too much is what fails."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from whet_command import Whet

from whet.core.errors import USAGE

pytestmark = pytest.mark.slow

FETCH = """
import time


def fetch(names):
    time.sleep({seconds})
    return names


print(fetch(["a", "b"]))
"""


def investigated(whet: Whet, *words: str) -> dict[str, Any]:
    whet("investigate", *words, "--", sys.executable, "main.py")
    told: dict[str, Any] = json.loads(Path(whet.folder, "whet-report/report.json").read_text())
    return told


def commits(whet: Whet, *seconds: float) -> list[str]:
    """Make a line of commits that each wait so long, and a last one that changes nothing."""
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.write(".gitignore", "whet-report\n")
    made = [whet.commit(f"{each}", main_py=FETCH.format(seconds=each)) for each in seconds]
    return [*made, whet.commit("another", note_txt="x")]


@pytest.mark.long
def test_a_slow_command_is_told_with_its_commit_and_the_line_that_waits(whet: Whet) -> None:
    made = commits(whet, 0, 0.3)
    told = investigated(whet, "--slower-than", "250ms")
    clues = [each["says"] for each in told["clues"]]

    assert told["history"]["first_bad"] == made[1][:10]
    assert any("the main thread waits at main.py:6 in `fetch`" in each for each in clues), clues
    says = [each["says"] for each in told["answer"]["evidence"]]
    assert any(each.startswith("`fetch` at main.py:6 takes ") for each in says), says


@pytest.mark.long
def test_what_became_slower_than_the_good_end_is_told_with_its_commit(whet: Whet) -> None:
    made = commits(whet, 0.1, 0.1, 0.3)
    told = investigated(whet, "--slower-than", "40%", "--good", made[0])

    assert told["history"]["first_bad"] == made[2][:10]


def test_without_a_history_the_line_that_takes_the_time_is_no_cause(whet: Whet) -> None:
    whet.write("main.py", FETCH.format(seconds=0.3))
    told = investigated(whet, "--slower-than", "250ms")

    assert told["answer"]["heading"] == "what takes the time"
    assert told["answer"]["cause"] is None
    _, line, _ = told["answer"]["next_step"].split("`")
    assert "main.py:6 fetch, in clock_nanosleep" in whet(*shlex.split(line)[1:]).stdout


@pytest.mark.long
def test_what_takes_more_memory_than_a_bound_is_told_with_its_line(whet: Whet) -> None:
    pytest.importorskip("memray")
    whet.write("main.py", "rows = [bytes(1000) for _ in range(60_000)]\nprint(len(rows))\n")
    told = investigated(whet, "--more-memory-than", "40MB")

    assert told["answer"]["heading"] == "what takes the memory"
    assert "were allocated at main.py:1 in " in told["answer"]["says"]


@pytest.mark.long
def test_a_file_stays_as_it_is_and_the_search_that_makes_it_smaller_is_named(whet: Whet) -> None:
    whet.write("main.py", "import sys\nrows = [b'x' * (1 << 20) for each in open(sys.argv[1])]\n")
    whet.write("rows.txt", "row\n" * 50)
    command = (sys.executable, "main.py", "rows.txt")
    whet("investigate", "--more-memory-than", "40MB", "--budget", "60s", "--", *command)
    told = json.loads(Path(whet.folder, "whet-report/report.json").read_text())

    assert told["payloads"] == []
    line = f"whet shrink --more-memory-than 40MB rows.txt -- {shlex.join(command)}"
    assert told["conclusions"] == [f"The smallest input that costs as much: `{line}` looks for it."]


@pytest.mark.long
def test_the_commit_and_the_function_that_take_more_memory_are_told(whet: Whet) -> None:
    pytest.importorskip("memray")
    text = (
        "def load():\n    return [bytes(1000) for _ in range({})]\n\nprint(len(load()) // 10**6)\n"
    )
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.write(".gitignore", "whet-report\n")
    made = [whet.commit(f"{each}", main_py=text.format(each)) for each in (9, 60_000)]
    told = investigated(whet, "--more-memory-than", "1.5x", "--good", made[0])

    assert told["history"]["first_bad"] == made[1][:10]
    says = [each["says"] for each in told["clues"]]
    assert any(
        "of the peak come from `" in each and " at main.py:2, and " in each for each in says
    ), says


def test_what_costs_less_than_the_bound_is_said_to_with_its_cost(whet: Whet) -> None:
    whet.write("main.py", "print(1)\n")
    said = whet("investigate", "--slower-than", "20s", "--", sys.executable, "main.py")

    assert "isn't bad (it takes longer than 20s): it costs 9" in said.stderr
    assert "choose a lower bound" in said.stderr


def test_a_share_without_a_good_version_is_refused_before_a_run(whet: Whet) -> None:
    whet.write("main.py", "print(1)\n")
    said = whet("investigate", "--slower-than", "20%", "--", sys.executable, "main.py")

    assert said.code == USAGE
    assert "`20%` more than what? There is no good end to compare with" in said.stderr
    assert not Path(whet.folder, "whet-report").exists()
    assert not whet("log").stdout
