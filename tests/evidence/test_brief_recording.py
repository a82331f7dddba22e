"""A recording that has taken its time passes over lines, and still ends with the failure."""

from pathlib import Path

from recorded_runs import recorded

BRIEF = """\
import sys

def share(part, whole):
    return part / whole

def shares(rows):
    found = []
    for part, whole in rows:
        if part == 2 and "whet_closer.steps" in sys.modules:
            sys.modules["whet_closer.steps"]._MOST_SECONDS = 0
        found.append(share(part, whole))
    return found

shares([(each, 5 - each) for each in range(9)])
"""


def test_the_failure_is_recorded_also_once_the_time_is_spent(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(BRIEF)
    recording, _ = recorded(tmp_path, said="ZeroDivisionError")
    (error,) = recording.errors
    assert (error.type, error.call.code.name) == ("ZeroDivisionError", "share")
    held = recording.held(error.call, "whole", error.moment)
    assert held is not None
    assert held.words == "0"
    lines = [each for each in recording.steps if each.frame.code.name == "share"]
    assert 2 <= len(lines) < 2 * 6
