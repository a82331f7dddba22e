"""A column that a table has no more, or that was read as text, is told with what made it so."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

from whet.core.observations.clue import Sureness

pytestmark = pytest.mark.ml

RENAMED = """\
import pandas as pd


def load(path):
    frame = pd.read_csv(path)
    frame.columns = [name.strip().lower() for name in frame.columns]
    return frame


print(load("flats.csv")["Rent"].sum())
"""
NEVER_THERE = RENAMED.replace(
    "    frame.columns = [name.strip().lower() for name in frame.columns]\n", ""
).replace('"Rent"', '"Price"')
READ_AS_TEXT = """\
import pandas as pd


def per_room(frame):
    frame["per_room"] = frame["Rent"] / frame["Rooms"]
    return frame


print(per_room(pd.read_csv("flats.csv")))
"""
FLATS = "City,Rent,Rooms\nBonn,900,3\nUlm,{},4\n" + "".join(
    f"Town {number},{number * 100},{number}\n" for number in range(2, 9)
)


def test_the_line_that_took_a_column_away_is_told(tmp_path: Path) -> None:
    clue, *_ = clues(tmp_path, RENAMED, flats_csv=FLATS.format(700))
    assert (clue.line, clue.sureness) == (line_of(RENAMED, "frame.columns ="), Sureness.SEEN)
    assert "has no column `Rent`" in clue.says
    assert "it has `city`, `rent` and `rooms`" in clue.says


def test_of_a_column_that_was_never_there_no_line_is_the_cause(tmp_path: Path) -> None:
    found = clues(tmp_path, NEVER_THERE, flats_csv=FLATS.format(700))
    assert "has no column `Price`" in found[0].says
    assert not [each for each in found if each.sureness is not Sureness.POSSIBLE]


def test_the_record_with_which_a_column_of_numbers_is_text_is_told(tmp_path: Path) -> None:
    clue, *_ = clues(tmp_path, READ_AS_TEXT, flats_csv=FLATS.format('"1,150"'))
    assert (Path(clue.path).name, clue.line) == ("flats.csv", 3)
    assert '`frame["Rent"]` is text' in clue.says
    twin = (
        FLATS.format(700).replace("Rooms", "Spare").replace("Rent", "Rooms").replace("City", "Rent")
    )
    assert not [
        each for each in clues(tmp_path, READ_AS_TEXT, flats_csv=twin) if "is text" in each.says
    ]
