"""`whet investigate`: a setting that the program never looks up, because its name is a slip."""

import json
import sys

import pytest
from whet_command import Whet

PROGRAM = """
import tomllib

DEFAULTS = {"part_size_mb": 0, "parallel": 4}

with open("upload.toml", "rb") as file:
    options = {**DEFAULTS, **tomllib.load(file)}


def parts(size, part_size):
    return [size] if not part_size else [part_size] * (size // part_size)


sizes = parts(64, options["part_size_mb"] * options["parallel"])
if max(sizes) > 16:
    raise ValueError(f"a part of {max(sizes)} is too large")
"""


@pytest.mark.parametrize(
    ("settings", "is_slip"),
    [("part_sise_mb = 2\nparallel = 2\n", True), ("colour = 'red'\nparallel = 2\n", False)],
)
def test_a_setting_that_is_no_key_of_the_program_is_the_cause_if_it_passes_as_one(
    whet: Whet, *, settings: str, is_slip: bool
) -> None:
    whet.write("main.py", PROGRAM)
    whet.write("upload.toml", settings)
    whet("investigate", "--", sys.executable, "main.py")
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    cause = report["answer"]["cause"]
    assert (whet.folder / "upload.toml").read_text() == settings
    assert bool(cause and "isn't a key that the program has" in cause["says"]) is is_slip
    if is_slip:
        assert (cause["line"], cause["sureness"]) == (1, "shown")
        assert report["answer"]["next_step"] == "name it `part_size_mb` at upload.toml:1"


@pytest.mark.long
def test_a_part_more_or_less_in_a_name_may_be_meant(whet: Whet) -> None:
    whet.write("main.py", PROGRAM)
    whet.write("upload.toml", "part_size = 2\nparallel = 2\n")
    whet("investigate", "--", sys.executable, "main.py")
    answer = json.loads((whet.folder / "whet-report" / "report.json").read_text())["answer"]
    assert answer["cause"] is None
    assert any("isn't a key that the program has" in each["says"] for each in answer["possible"])
