"""What is unlike its own kind: a time without a zone among those with one, a number beside its text."""

from pathlib import Path

from recorded_runs import clues, line_of

from whet.core.observations.clue import Sureness

ZONES = """\
from datetime import datetime, timezone

class Job:
    def __init__(self, last):
        self.last = datetime.fromisoformat(last)

    @property
    def due(self):
        return self.last

    def late(self, now):
        return now - self.due

now = datetime(2024, 1, 2, tzinfo=timezone.utc)
for each in ["2024-01-01T00:00:00+00:00", "2024-01-01T00:00:00"]:
    Job(each).late(now)
"""
KEYS = """\
import json

class Scores:
    def __init__(self, text):
        self.points = json.loads(text)

    def add(self, player, points):
        self.points[player] = self.points.get(player, 0) + points

scores = Scores('{"7": 10}')
scores.add(7, 5)
assert max(scores.points.values()) == 15
"""


def test_a_time_without_a_zone_is_the_bad_one_where_those_before_had_one(tmp_path: Path) -> None:
    (clue, *_) = clues(tmp_path, ZONES)
    assert "`self.due` is a time without a zone" in clue.says
    assert (clue.line, clue.sureness) == (line_of(ZONES, "fromisoformat"), Sureness.SEEN)


def test_where_no_other_time_was_there_before_no_one_is_called_the_bad_one(tmp_path: Path) -> None:
    alone = ZONES.replace('"2024-01-01T00:00:00+00:00", ', "")
    assert all(each.sureness is Sureness.POSSIBLE for each in clues(tmp_path, alone))


def test_a_number_and_its_text_as_two_keys_of_a_dict_are_named(tmp_path: Path) -> None:
    (clue, *_) = clues(tmp_path, KEYS)
    assert "added the key `7` to a dict that has the key `'7'`" in clue.says
    assert f"main.py:{line_of(KEYS, 'json.loads')}" in clue.says
    assert (clue.line, clue.sureness) == (line_of(KEYS, "+ points"), Sureness.SEEN)


def test_other_keys_are_no_twins(tmp_path: Path) -> None:
    for other in ('"7 "', '"07"', '"8"'):
        found = clues(tmp_path, KEYS.replace('"7"', other))
        assert not any("two keys" in each.says for each in found)
