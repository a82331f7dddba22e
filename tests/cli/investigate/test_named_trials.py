"""Each trial that a report names has its row, and each step counts the trials that it took."""

import json
import sys

import pytest
from whet_command import Whet

pytestmark = pytest.mark.slow

PROGRAM = """\
def page_count(rows):
    return len(rows) // 10


rows = list(range(45))
copied = [row for page in range(page_count(rows)) for row in rows[page * 10 : page * 10 + 10]]
assert len(copied) == 45, len(copied)
"""


def test_a_report_has_a_row_for_each_trial_that_it_names_and_counts_all(whet: Whet) -> None:
    whet.write("main.py", PROGRAM)
    whet("investigate", "--", sys.executable, "main.py")

    found = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    named = {number for clue in found["clues"] for number in clue["trials"]}
    named |= set(found["reproduction"]["trials"])
    rows = {each["trial"]: each for each in found["trials"]}
    steps = {each["title"]: each for each in found["steps"]}
    logged = len(whet("log", "--all", "--limit", "1000").stdout.splitlines())

    assert named
    assert set(rows) == named
    assert all(number in steps[each["step"]]["numbers"] for number, each in rows.items())
    assert all(each["trials"] == len(each["numbers"]) for each in steps.values())
    assert sum(each["trials"] for each in steps.values()) == logged
    assert steps["Check the one-liner elsewhere"]["trials"] > 0
    assert rows[found["reproduction"]["trials"][0]]["did"] == "AssertionError: 40 at main.py:7"
    assert {each["did"] for each in rows.values() if each["verdict"] == "good"} <= {"exit 0"}
