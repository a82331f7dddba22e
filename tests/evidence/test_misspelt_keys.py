"""A key that differs from another one by a slip of the fingers is named with it; other keys are not."""

from pathlib import Path

import pytest
from recorded_runs import clues, line_of

from whet.core.observations.clue import Sureness

ASKED = """\
def area(box):
    return box["width"] * box["lenght"]


print([area(box) for box in [{"width": 2, "length": 3}, {"width": 4, "length": 5}]])
"""
WRITTEN = """\
class Settings:
    def __init__(self, values):
        self.width = values.get("width")
        self.height = values.get("height")


def area(settings):
    return settings.width * settings.height


print(area(Settings({"width": 3, "hight": 4})))
"""
ASKED_WITH_GET = """\
DEFAULTS = {"retries": 3, "timeout": 5}


def wait(chosen):
    return chosen.get("time_out") * 2


print(wait({**DEFAULTS, "retries": 1}))
"""
ASKED_FOR_A_LIST = """\
FIELDS = ["width", "lenght"]


def read(box):
    return [box[each] for each in FIELDS]


print(read({"width": 2, "length": 3, "depth": 5}))
"""
ATTRIBUTE_ASKED = """\
class Box:
    def __init__(self, width, length):
        self.width = width
        self.length = length


print(Box(2, 3).width, [each.lenght for each in [Box(2, 3)]])
"""
ATTRIBUTE_SET = """\
class Box:
    def __init__(self, width, length):
        self.width = width
        self.lenght = length


def area(box):
    return box.width * box.length


print(area(Box(2, length=3)))
"""
COLUMN = """\
import csv


def total(path):
    with open(path) as file:
        return sum(int(row["ammount"]) for row in csv.DictReader(file))


print(total("tea.csv"))
"""
MISSPELT = {
    "asked": (ASKED, 'box["lenght"]'),
    "written": (WRITTEN, '"hight"'),
    "asked with get": (ASKED_WITH_GET, "time_out"),
    "asked for a list": (ASKED_FOR_A_LIST, "FIELDS ="),
    "attribute asked": (ATTRIBUTE_ASKED, "each.lenght"),
    "attribute set": (ATTRIBUTE_SET, "self.lenght"),
    "column": (COLUMN, "ammount"),
}
BOXES = """\
import json

with open("boxes.json") as file:
    for box in json.load(file):
        print(box["width"] * box["length"])
"""
ANOTHER_WORD = 'print([each["{}"] for each in [{{"{}": 3, "name": 4}}]])\n'
OTHERS = [("weight", "height"), ("column1", "column12"), ("trace", "brace"), ("from", "form")]
PLURAL = 'print([each["orders"] for each in [{"order": 3, "name": 4}]])\n'
FROM_DATA = """\
prices = {"banana": 3, "cherry": 4}
for name in open("order.txt").read().split():
    print(prices[name])
"""


@pytest.mark.parametrize("way", MISSPELT)
def test_the_spelling_that_is_written_less_often_is_named_with_the_other(
    tmp_path: Path, way: str
) -> None:
    program, cause = MISSPELT[way]
    first = clues(tmp_path, program, tea_csv="name,amount\ntea,3\njam,4\n")[0]
    assert (first.line, first.sureness) == (line_of(program, cause), Sureness.SEEN)
    assert ", but it has " in first.says


@pytest.mark.parametrize("key", ["lenght", "depth"])
def test_a_record_without_a_key_that_others_have_is_named(tmp_path: Path, key: str) -> None:
    text = f'[\n{{"width": 2, "length": 3}},\n{{"width": 4, "{key}": 5}}\n]\n'
    first = clues(tmp_path, BOXES, boxes_json=text)[0]
    assert first.sureness is Sureness.SEEN
    assert f'for the record at boxes.json:3 (`{{"width": 4, "{key}": 5}}`)' in first.says
    assert ("but it has" in first.says) == (key == "lenght")


@pytest.mark.parametrize(("asked", "there"), OTHERS)
def test_another_word_is_no_other_spelling(tmp_path: Path, asked: str, there: str) -> None:
    program = ANOTHER_WORD.format(asked, there)
    assert not [each for each in clues(tmp_path, program) if "but it has" in each.says]


@pytest.mark.parametrize("program", [PLURAL, FROM_DATA])
def test_what_may_be_meant_is_only_possible(tmp_path: Path, program: str) -> None:
    found = clues(tmp_path, program, order_txt="bananna\n")
    alike = [each for each in found if "but it has" in each.says]
    assert [each.sureness for each in alike] == [Sureness.POSSIBLE]


def test_two_keys_that_are_as_near_are_not_named(tmp_path: Path) -> None:
    program = 'print([each["lenth"] for each in [{"length": 3, "lenthy": 4}]])\n'
    assert not [each for each in clues(tmp_path, program) if "but it has" in each.says]
