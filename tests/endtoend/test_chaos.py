"""Whatever strikes whet, and whenever: nothing is lost, nothing left, nothing of the user's touched."""

import re
from pathlib import Path

import pytest
from benchmarks.faults.chaos import WREAKS, play


@pytest.mark.slow
@pytest.mark.parametrize(("number", "kind"), list(enumerate(WREAKS)))
def test_after_a_fault_of_each_kind_the_next_start_finds_all_and_leaves_nothing(
    number: int, kind: str
) -> None:
    (played,) = play([number], kind=kind, verb="run")

    assert played.wrong == [], played.fault
    assert played.fault


@pytest.mark.long
@pytest.mark.parametrize("number", range(40))
def test_after_a_fault_at_any_moment_the_next_start_finds_all_and_leaves_nothing(
    number: int,
) -> None:
    (played,) = play([number])

    assert played.wrong == [], f"{played.verb}, {played.fault}"


def test_the_documented_count_of_faults_is_the_sum_of_its_table() -> None:
    page = Path(__file__).parents[2].joinpath("docs", "benchmarks.md").read_text("utf-8")
    section = page.partition("\n## Faults\n")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("|")][2:]
    struck = sum(int(cell) for row in rows for cell in row[2:4] if cell.strip())
    before, total = re.findall(r"\n(\d+) faults before.* ([\d,]+) so far\.", section)[0]

    assert int(total.replace(",", "")) == struck + int(before) >= 3000
