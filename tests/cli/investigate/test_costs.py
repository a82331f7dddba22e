"""Where memory or time is what fails, a profile names the line."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

WINDOWS = """
def windows(values, size):
    return [values[at:at + size] for at in range(len(values) - size)]


print(len(windows(list(range(25_000)), 1000)))
"""
ENDLESS = """
NEXT = {"a": "b", "b": "c", "c": "b"}


def weigh(name):
    return sum(map(ord, name))


def walk(at, goal):
    total = 0
    while at != goal:
        at = NEXT[at]
        total += weigh(at)
    return total


print(walk("a", "z"))
"""


def investigated(whet: Whet, *words: str) -> dict[str, Any]:
    whet("investigate", "--no-changes", *words, "--", sys.executable, "main.py")
    told: dict[str, Any] = json.loads(Path(whet.folder, "whet-report/report.json").read_text())
    return told


def test_out_of_memory_names_the_line_that_allocated_most_of_it(whet: Whet) -> None:
    pytest.importorskip("memray")
    whet.write("main.py", WINDOWS)
    told = investigated(whet, "--address-space", "150M", "--budget", "60s")
    says = [each["says"] for each in told["clues"]]

    assert any("at its peak were allocated at main.py:3 in " in each for each in says), says
    assert told["answer"]["heading"] == "what takes the memory"
    assert told["answer"]["cause"] is None


@pytest.mark.long
def test_a_program_that_computes_for_ever_is_told_with_its_loop(whet: Whet) -> None:
    whet.write("main.py", ENDLESS)
    told = investigated(whet, "--timeout", "2", "--budget", "60s")

    assert told["answer"]["cause"]["says"].startswith("the loop at main.py:11 did not end")


@pytest.mark.long
def test_a_program_that_computes_for_ever_gets_a_limit_without_asking(whet: Whet) -> None:
    whet.write("main.py", ENDLESS)
    told = investigated(whet, "--budget", "45s")

    assert told["failure"]["signature"]["kind"] == "timeout"
    assert told["answer"]["cause"] is None or "time was up" in told["answer"]["cause"]["says"]


SEEN = "def distinct(rows):\n    seen = {kind}\n    for row in rows:\n        if row not in seen:\n            seen.{put}(row)\n    return seen\n\nprint(len(distinct([each % {count} for each in range(3 * {count})])))\n"


@pytest.mark.long
def test_what_takes_longer_since_a_commit_is_told_with_its_function(whet: Whet) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.write(".gitignore", "whet-report\n")
    whet.commit("quick", main_py=SEEN.format(kind="set()", put="add", count=9000))
    slow = SEEN.format(kind="[]", put="append", count=9000)
    bad = whet.commit("slow", main_py=slow)
    whet.commit("another", note_txt="x")

    told = investigated(whet, "--bad-if", "cpu > 0.8", "--budget", "100s")

    assert told["history"]["first_bad"] == bad[:10]
    says = [each["says"] for each in told["answer"]["evidence"]]
    assert any(each.startswith("`distinct` at main.py:4 takes ") for each in says), says
