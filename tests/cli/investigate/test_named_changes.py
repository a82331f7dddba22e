"""The cause names a commit's subject, and the lines of it that decide where they can be read at once."""

import json
import sys
from pathlib import Path

import pytest
from whet_command import Whet

STATS = """\
def spread(values):
    middle = sum(values) / len(values)
    return (sum((each - middle) ** 2 for each in values) / {count}) ** 0.5


def label():
    return "{label}"
"""
CHECK = """\
from stats import label, spread

assert spread([2, 4, 4, 4, 5, 5, 7, 9]) == 2, label()
"""


@pytest.mark.slow
def test_the_subject_and_the_deciding_line_of_the_first_bad_commit_are_in_the_cause(
    whet: Whet,
) -> None:
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.write(".gitignore", "whet-report\n__pycache__\n")
    whet.write("check.py", CHECK)
    whet.commit("Begin", stats_py=STATS.format(count="len(values)", label="spread"))
    changed = STATS.format(count="(len(values) - 1)", label="unbiased")
    whet.commit("Use the unbiased estimator", stats_py=changed)
    whet.commit("Notes", notes_txt="x")

    said = whet("investigate", "--no-changes", "--", sys.executable, "check.py")

    assert said.code in {0, 75}, said.stderr
    told = json.loads(Path(whet.folder, "whet-report/report.json").read_text())
    cause = told["answer"]["cause"]
    assert 'is the first bad commit, "Use the unbiased estimator" (' in cause["says"]
    assert "What decides is at stats.py:3: `return" in cause["says"]
    assert "/ (len(values) - 1)) ** 0.5`" in cause["says"]
    assert (Path(cause["path"]).name, cause["line"]) == ("stats.py", 3)


BEFORE = """\
def fetch(rows, size=4):
    first = rows[:size]
    yield from first
    for page in range(2, last(len(rows), size) + 1):
        yield from rows[(page - 1) * size : page * size]


def last(total, size):
    return -(-total // size)
"""
AFTER = """\
def pages(total, size):
    return range(1, total // size + 1)


def fetch(rows, size=4):
    first = rows[:size]
    for page in pages(len(rows), size):
        found = first if page == 1 else rows[(page - 1) * size : page * size]
        yield from found
"""
LOOKS = """\
from pager import fetch

names = {row["id"]: row["name"] for row in fetch([{"id": n, "name": str(n)} for n in range(10)])}
for asked in (1, 9):
    print(names[asked])
"""


@pytest.mark.slow
def test_a_part_that_lets_another_record_fail_is_not_what_decides(whet: Whet) -> None:
    """Without the line that gives the first page, which went too, another key isn't there."""
    whet.git("init", "--quiet", "--initial-branch=main")
    whet.write(".gitignore", "whet-report\n__pycache__\n")
    whet.write("look.py", LOOKS)
    whet.commit("Begin", pager_py=BEFORE)
    whet.commit("One loop for all pages", pager_py=AFTER)
    whet.commit("Notes", notes_txt="x")

    said = whet("investigate", "--no-changes", "--", sys.executable, "look.py")

    told = json.loads(Path(whet.folder, "whet-report/report.json").read_text())
    cause = told["answer"]["cause"]
    assert 'is the first bad commit, "One loop for all pages" (' in cause["says"], said.stdout
    assert "`yield from first` was removed" not in said.stdout
