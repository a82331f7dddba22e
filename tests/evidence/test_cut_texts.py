"""A text that was cut out of another one was made where it was cut, not where the other one came from."""

from pathlib import Path

import pytest
from recorded_runs import clues

PROGRAM = """\
from pathlib import Path

TABLES = {"catalogue": 3, "metrics": 4}


def table_name(filename):
    base = filename.replace("-", "_")
    return <<name>>


def load(path):
    name = table_name(path.name)
    return TABLES[name]


print([load(each) for each in sorted(Path("in").glob("*"))])
"""


def told(folder: Path, name: str, last: str) -> tuple[str, str]:
    """Return what the first clue says, and its line."""
    (folder / "in").mkdir()
    for each in ("catalogue.csv", last):
        (folder / "in" / each).touch()
    program = PROGRAM.replace("<<name>>", name).replace("<<last>>", last)
    first = clues(folder, program)[0]
    return first.says, program.splitlines()[first.line - 1].strip()


@pytest.mark.parametrize(
    ("name", "last", "source"),
    [
        ('base.rstrip(".csv")', "metrics.csv", 'return base.rstrip(".csv")'),
        ('base.removesuffix(".csv")', "metrix.csv", 'return base.removesuffix(".csv")'),
        ('base if "x" in base else "metrics"', "metrix", "name = table_name(path.name)"),
    ],
)
def test_the_line_that_cut_it_has_made_it(
    name: str, last: str, source: str, tmp_path: Path
) -> None:
    says, line = told(tmp_path, name, last)
    assert line == source
    assert "It was made at main.py:" in says


def test_what_it_was_cut_out_of_is_said_to_come_from_where_it_was_cut_itself(
    tmp_path: Path,
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "3-metrics.csv").touch()
    program = PROGRAM.replace("<<name>>", 'base.rstrip(".csv")')
    program = program.replace('filename.replace("-", "_")', 'filename.removeprefix("3-")')
    first = clues(tmp_path, program)[0]
    steps = [each.in_words for each in first.trail]
    assert "main.py:7: `base` is 'metrics.csv' (`filename.removeprefix(\"3-\")`)" in steps
