"""What a bad value was made of is told, each part with where it came from, and nothing else."""

from pathlib import Path

import pytest
from recorded_runs import clues

CUT = """\
import json


def code(text, width):
    return text.strip()[-width:].upper()


with open("settings.json") as file:
    settings = json.load(file)
found = code("de-a711", settings["code_width"])
print({"A711": 2}[found])
"""
WINDOW = """\
def smoothed(values, size):
    return sum(values[:size]) * 2


size = 3
found = smoothed([4, 5, 6, 7], size)
assert found == 18, found
"""
WHOLE = """\
def marked(text, width):
    return text[1:] + "!" if width else text


found = marked("de-4711", 7)
assert found == "4711!", found
"""
SETTINGS = '{\n  "name": "codes",\n  "code_width": 5\n}\n'


@pytest.mark.parametrize(("program", "name"), [(CUT, "`width`"), (WINDOW, "`size`")])
def test_the_bound_of_a_slice_is_a_part_of_what_was_cut(
    tmp_path: Path, program: str, name: str
) -> None:
    found = clues(tmp_path, program, settings_json=SETTINGS)

    assert name in [step.says for each in found for step in each.trail]


def test_a_written_bound_is_not_told(tmp_path: Path) -> None:
    found = clues(tmp_path, WHOLE)

    assert not any(step.says == "`1`" for each in found for step in each.trail)


def test_an_open_file_is_no_part_of_a_value(tmp_path: Path) -> None:
    found = clues(tmp_path, CUT, settings_json=SETTINGS)

    assert found
    assert not any(step.says == "`file`" for each in found for step in each.trail)
