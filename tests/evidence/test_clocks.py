"""Times of one zone that are calculated with over a change of its clocks: counted in UTC, the program passes."""

from pathlib import Path

import pytest
from recorded_runs import line_of, recorded

from whet.evidence.experiments.changes import text_with
from whet.workbench.investigate.experiments.clocks import clock_changes

ZONE = """
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

there = ZoneInfo('Europe/Berlin')
evening = datetime(2024, 3, 30, 22, tzinfo=there)
morning = datetime(2024, 3, 31, 6, tzinfo=there)
shift = timedelta(hours=8)
"""
WRONG = {
    "a difference": """
def hours(begin, end):
    return (
        end - begin  # here
    ).total_seconds() / 3600
assert hours(evening, morning) == 7
""",
    "a sum": """
def until(begin, length):
    return begin + length  # here
assert until(evening, shift).hour == 7
""",
    "times of an object": """
class Shift:
    def __init__(self, begin, end):
        self.begin, self.end = begin, end
    def length(self):
        return self.end - self.begin  # here
assert Shift(evening, morning).length() == timedelta(hours=7)
""",
}
RIGHT = {
    "the same time of the next day": """
def tomorrow(when):
    return when + timedelta(days=1)
assert tomorrow(evening).hour == 21
""",
    "times in UTC": """
def hours(begin, end):
    return (end.astimezone(timezone.utc) - begin.astimezone(timezone.utc)).total_seconds() / 3600
assert hours(evening, morning) == 8
""",
    "a difference over no change": """
def hours(begin, end):
    return (end - begin).total_seconds() / 3600
assert hours(morning, morning + timedelta(hours=2)) == 1
""",
    "times of two zones": """
def hours(begin, end):
    return (end - begin).total_seconds() / 3600
assert hours(evening, morning.astimezone(ZoneInfo('Asia/Tokyo'))) == 8
""",
}


def passing(program: str, folder: Path) -> set[tuple[int, str]]:
    """Return the lines and words of the changes with which a program passes."""
    (folder / "main.py").write_text(program)
    recording, _ = recorded(folder, said="AssertionError")
    found = set[tuple[int, str]]()
    for path, change in clock_changes(recording):
        text = text_with(program, change)
        assert text.count("\n") == program.count("\n")
        try:
            exec(compile(text, path, "exec"), {"__name__": "__main__"})
        except AssertionError:
            continue
        found.add((change.line, change.what))
    return found


@pytest.mark.parametrize("kind", WRONG)
def test_what_goes_by_the_clock_over_a_change_of_it_is_named(kind: str, tmp_path: Path) -> None:
    program = ZONE + WRONG[kind]
    ((line, what),) = passing(program, tmp_path)
    assert line == line_of(program, "# here")
    assert "` goes by the clock, which was changed between those times" in what


@pytest.mark.parametrize("kind", RIGHT)
def test_what_is_meant_to_go_by_the_clock_or_does_not_is_no_cause(
    kind: str, tmp_path: Path
) -> None:
    assert passing(ZONE + RIGHT[kind], tmp_path) == set()
