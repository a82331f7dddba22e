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
