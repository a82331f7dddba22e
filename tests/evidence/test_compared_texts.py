"""Texts that are numbers and compare otherwise as texts are told, where such a test led to the failure."""

from pathlib import Path

import pytest
from recorded_runs import clues

from whet.core.observations.clue import Sureness

PICKED = """\
import json


class Shelf:
    def __init__(self, least):
        self.least = least

    def heavy(self, boxes):
        return [box for box in boxes if box["kilos"] >= self.least]


found = Shelf({least}).heavy(json.load(open("boxes.json")))
print(found[0]["kilos"])
"""
BOXES = '[{"kilos": "12"}, {"kilos": "30"}]'


def test_a_comparison_of_texts_that_would_come_out_otherwise_for_numbers_is_told(
    tmp_path: Path,
) -> None:
    found = clues(tmp_path, PICKED.replace("{least}", repr("9")), boxes_json=BOXES)
    told = [
        each
        for each in found
        if "are texts here: as numbers that comparison would be true" in each.says
    ]
    assert [each.sureness for each in told] == [Sureness.SEEN]
    assert told[0].next_step.startswith("Convert the texts to numbers")


@pytest.mark.parametrize(
    ("least", "boxes"),
    [
        (repr("40"), BOXES),
        (repr("x"), BOXES),
        ("40", BOXES.replace('"12"', "1").replace('"30"', "3")),
    ],
)
def test_texts_that_come_out_alike_and_numbers_are_not_told(
    tmp_path: Path, least: str, boxes: str
) -> None:
    found = clues(tmp_path, PICKED.replace("{least}", least), boxes_json=boxes)
    assert not [each for each in found if "are texts here" in each.says]
