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


print(len(windows(list(range(50_000)), 2000)))
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
    told = investigated(whet, "--address-space", "300M", "--budget", "60s")
    says = [each["says"] for each in told["clues"]]

    assert any("at its peak were allocated at main.py:3 in " in each for each in says), says


def test_a_program_that_computes_for_ever_is_told_with_its_loop(whet: Whet) -> None:
    whet.write("main.py", ENDLESS)
    told = investigated(whet, "--timeout", "2", "--budget", "60s")

    assert told["answer"]["cause"]["says"].startswith("the loop at main.py:11 did not end")


def test_a_program_that_computes_for_ever_gets_a_limit_without_asking(whet: Whet) -> None:
    whet.write("main.py", ENDLESS)
    told = investigated(whet, "--budget", "8s")

    assert told["failure"]["signature"]["kind"] == "timeout"
    assert told["answer"]["cause"] is None or "time was up" in told["answer"]["cause"]["says"]
