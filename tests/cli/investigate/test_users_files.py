"""A file that the command names is told as the user's, though each run reads a copy of it."""

import json
import sys

import pytest
from whet_command import Whet

SPAN = """
import sys


class Gauge:
    def __init__(self, low, high):
        self.span = high - low


gauges = {}
with open(sys.argv[1]) as lines:
    for line in lines:
        kind, name, *numbers = line.strip().split(",")
        if kind == "set":
            gauges[name] = Gauge(*map(float, numbers))
for name, gauge in gauges.items():
    print(name, 1 / gauge.span)
"""
LINES = "set,north,1.5,3.5\nnote,calm\nset,south,98.25,98.25\nset,west,2.5,9.5\n"


@pytest.mark.parametrize("name", ["gauges.log", "a folder/größe \\ 'it'.log"])
def test_the_record_is_at_its_line_of_the_users_file(whet: Whet, name: str) -> None:
    whet.write("main.py", SPAN)
    whet.write(name, LINES)

    whet("investigate", "--", sys.executable, "main.py", name)

    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    (zero,) = [each for each in report["clues"] if "`gauge.span` is zero" in each["says"]]
    assert ("record of `high`", f"{name}:3") in [
        (step["says"], step["place"]) for step in zero["trail"]
    ]
    assert sum(each["says"].startswith("without ") for each in report["clues"]) == 1
    assert "/whet-" not in json.dumps(report["clues"]).replace("/whet-report", "")
