"""A large file is sampled before it is made smaller: the search then begins with little."""

import os
import sys

import pytest
from whet_command import Whet

PROGRAM = """
import csv, sys
with open(sys.argv[1]) as file:
    for row in csv.DictReader(file):
        10 / int(row["count"])
"""


@pytest.mark.slow
def test_a_file_of_more_than_fifty_megabytes_is_sampled_first(whet: Whet) -> None:
    cell = "x" * 100_000
    rows = (f"{number},{cell},{0 if number == 400 else 1}\n" for number in range(530))
    whet.write("big.csv", "id,text,count\n" + "".join(rows))
    whet.write("p.py", PROGRAM)

    said = whet("investigate", "--", sys.executable, "p.py", "big.csv")

    words = said.stdout + said.stderr
    assert "Sample big.csv" in words
    assert ": it fails the same way with fewer rows" in words


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a pipe", "nested deeply", "no object"])
def test_a_folder_with_hostile_settings_is_no_model(whet: Whet, kind: str) -> None:
    folder = whet.folder / "model"
    folder.mkdir()
    if kind == "a pipe":
        os.mkfifo(folder / "config.json")
    else:
        (folder / "config.json").write_text("[" * 100_000 if kind == "nested deeply" else "[1]")
    whet.write("p.py", "import sys; raise ValueError(sys.argv[1])")

    said = whet("investigate", "--no-changes", "--", sys.executable, "p.py", "model")

    assert said.code in {0, 75}, said.stderr
    assert "tiny" not in said.stdout + said.stderr
