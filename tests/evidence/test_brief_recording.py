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
        follower = getattr(sys.gettrace(), "__self__", None)
        if part == 2 and follower is not None:
            follower.spend(3600)
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
    assert 4 <= len(lines) < 2 * 5


LATE = """\
import sys

def spend():
    follower = getattr(sys.gettrace(), "__self__", None)
    if follower is not None:
        follower.spend(3600)

def worst(rows):
    most = max(rows)
    return most

def main():
    spend()
    rows = []
    for each in range(50):
        rows.append(each)
    found = worst(rows)
    share = 100 / (found - 49)

main()
"""


def test_lines_that_have_hardly_run_are_followed_also_then(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(LATE)
    recording, _ = recorded(tmp_path, said="ZeroDivisionError")
    lines = [each.line for each in recording.steps if each.result is None]
    assert {9, 14, 17, 18} <= set(lines)
    assert 1 <= lines.count(16) < 5


OFTEN = """
import sys

def mixed(one, other):
    return one * 3 + other

def share(part, whole):
    mixed(part, whole)
    return part / whole

def churn(rows):
    found = 0
    for row in rows:
        found = share(row, 70 - row)
    return found

def main():
    share(1, 2)
    follower = getattr(sys.gettrace(), "__self__", None)
    if follower is not None:
        follower.spend(3600)
    churn(range(99))

main()
"""


def test_an_error_out_of_calls_that_are_not_followed_any_more_is_recorded_in_each(
    tmp_path: Path,
) -> None:
    (tmp_path / "main.py").write_text(OFTEN)
    recording, _ = recorded(tmp_path, said="ZeroDivisionError")
    error, above = recording.errors
    assert (error.call.code.name, error.line) == ("share", 9)
    assert above.call.code.name == "churn"
    assert error.call.parent is above.call
    held = recording.held(error.call, "whole", error.moment)
    assert held is not None
    assert held.words == "0"
    assert {each.code.name for each in recording.calls if each.code.is_passed} == {"share", "mixed"}
    assert sum(each.code.name == "share" for each in recording.calls) < 40
