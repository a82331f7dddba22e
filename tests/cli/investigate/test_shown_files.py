"""A report names the user's files as the user does, not the copies that the command read."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from whet_command import Whet

PROGRAM = """
import sys


def load(path):
    words = open(path).read().split()
    return int(words[0]) + int(words[2])


load(sys.argv[1])
"""


@pytest.mark.parametrize("long", ["", "temporary files " * 6], ids=["short", "long"])
def test_the_state_at_the_failure_names_the_users_file(whet: Whet, long: str) -> None:
    if long:  # the copies' names are cut where they are shown
        folder = Path(whet.environment["TMPDIR"], long.strip().replace(" ", "-"))
        folder.mkdir()
        whet = replace(whet, environment={**whet.environment, "TMPDIR": str(folder)})
    whet.write("load.py", PROGRAM)
    whet.write("données.txt", "1\n2\nx\n")

    whet("investigate", "--budget", "20s", "--", sys.executable, "load.py", "données.txt")

    report = (whet.folder / "whet-report" / "report.md").read_text(encoding="utf-8")
    state = report.partition("State at the failure")[2].partition("\n## ")[0]
    assert f"path  = {str(whet.folder / 'données.txt')!r}" in state
