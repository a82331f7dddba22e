"""Lines that a run comes to late are recorded, however long it has taken to get there."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from recorded_runs import SITE, recorded

ROUNDS = 1_100_000  # more lines than whet follows in one call

LOOP = f"""\
found = None
for each in range({ROUNDS}):
    if each == {ROUNDS - 5}:
        found = each
limit = found
if limit:
    share = limit // 2
last = share - {ROUNDS // 2}
print(1 / (last + 3))
"""


@pytest.fixture(scope="module", name="late")
def _late(tmp_path_factory: pytest.TempPathFactory) -> dict[int, int]:
    folder = tmp_path_factory.mktemp("late")
    (folder / "main.py").write_text(LOOP)
    recording, _ = recorded(folder, said="ZeroDivisionError")
    lines = [each.line for each in recording.steps if each.result is None]
    return {line: lines.count(line) for line in set(lines)}


def test_a_branch_in_a_long_loop_is_recorded_when_it_is_taken_at_last(late: dict[int, int]) -> None:
    assert late.get(4, 0) == 1


def test_what_follows_a_long_loop_is_recorded_line_by_line(late: dict[int, int]) -> None:
    assert {5, 6, 7, 8, 9} <= set(late)


CALLS = """\
import sys

def price(row):
    if row["kind"] == "odd":
        row = dict(row, price=None)
    return row["price"]

def total(rows):
    result = 0
    for row in rows:
        result += price(row) or 0
    return result

def main():
    rows = [{"kind": "even", "price": each} for each in range(500)]
    total(rows)
    follower = getattr(sys.gettrace(), "__self__", None)
    if follower is not None:
        follower.spend(3600)
    total(rows)
    rows.append({"kind": "odd", "price": 3})
    total(rows)
    return price(rows[-1]) + 1

main()
"""


def test_a_branch_in_a_function_that_is_not_followed_any_more_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(CALLS)
    recording, _ = recorded(tmp_path, said="TypeError")
    taken = [each for each in recording.steps if each.line == 5]
    assert [each.frame.parent and each.frame.parent.code.name for each in taken] == [
        "total",
        "main",
    ]


KEPT = """\
import tempfile

class Spool:
    def __init__(self):
        self.runs = []

    def add(self):
        run = tempfile.NamedTemporaryFile(dir=".", suffix=".kept")
        self.runs.append(run)
        if run:
            raise ValueError("no")

def main():
    spool = Spool()
    spool.add()

main()
"""


@pytest.mark.parametrize("error", ["ValueError", "SystemExit"])
def test_what_the_recorder_has_of_the_program_goes_as_python_ends(
    error: str, tmp_path: Path
) -> None:
    (tmp_path / "main.py").write_text(KEPT)
    told = tmp_path / "told"
    told.mkdir()
    variables = {
        "PYTHONPATH": str(SITE),
        "WHET_AGENT": str(told),
        "WHET_CLOSER": f"steps:{error}||0",
    }
    subprocess.run(
        [sys.executable, "main.py"], cwd=tmp_path, env={**os.environ, **variables},
        check=False, capture_output=True, timeout=60,
    )  # fmt: skip
    assert list(tmp_path.glob("*.kept")) == []
