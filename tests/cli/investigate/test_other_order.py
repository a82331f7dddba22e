"""Labels in another order than what they name: the line that makes the order is the cause."""

import json
import sys

import pytest
from whet_command import Whet

DATA = """\
import os

def classes(folder):
    return sorted(os.listdir(folder))

def trained(path):
    with open(path) as file:
        return [line.strip() for line in file]
"""
PREDICT = """\
from data import classes, trained

names = classes("images")
scores = {"heron": [9, 1, 2, 1], "egret": [1, 9, 2, 3], "bittern": [3, 1, 9, 1], "stork": [0, 2, 1, 9]}
order = trained("model.txt")
for wanted, row in scores.items():
    found = names[row.index(max(row))]
    assert found == wanted, f"{found} instead of {wanted}"
"""


@pytest.mark.slow
def test_labels_that_are_sorted_otherwise_than_the_model_are_the_cause(whet: Whet) -> None:
    for name in ("heron", "egret", "bittern", "stork"):
        whet.write(f"images/{name}/0.raw", "")
    whet.write("data.py", DATA)
    whet.write("predict.py", PREDICT)
    whet.write("model.txt", "heron\negret\nbittern\nstork\n")
    whet("investigate", "--budget", "2m", "--", sys.executable, "predict.py")
    report = json.loads((whet.folder / "whet-report" / "report.json").read_text())
    found = report["answer"]["cause"]
    assert (found["line"], found["sureness"]) == (4, "shown")
    assert "the order that `sorted(os.listdir(folder))` makes decides" in found["says"]
