"""The everyday failures that `make bench-evidence` investigates are what they are said to be."""

from pathlib import Path

import pytest
from benchmarks.evidence.everyday import Program, programs
from crossed import one_in

ALL = programs()
TWINS = sorted(name for name in ALL if name.endswith("_twin"))
HANG_SECONDS = 1.5
"""More than each of them takes when it is repaired, on a machine that does two of them at once."""

MOST_SECONDS = 30.0


@pytest.mark.slow
@pytest.mark.parametrize("name", one_in(4, sorted(ALL)))
def test_an_everyday_failure_comes_as_it_is_said_and_goes_with_its_repair(
    name: str, tmp_path: Path
) -> None:
    program = ALL[name]
    broken = program.run(
        program.copy(tmp_path / "broken"), HANG_SECONDS if program.hangs else MOST_SECONDS
    )
    if program.hangs:
        assert broken.status is None
    else:
        assert broken.status
        assert program.shows in broken.printed
    folder = program.copy(tmp_path / "repaired")
    _repair(program, folder)
    repaired = program.run(folder, MOST_SECONDS)
    assert repaired.status == 0, repaired.printed


def _repair(program: Program, folder: Path) -> None:
    file, *change = program.repair
    if len(change) == 1:
        (folder / file).rename(folder / change[0])
        return
    old, new = change
    text = (folder / file).read_text()
    assert text.count(old) == 1, "what is to be repaired is not there, or not alone"
    (folder / file).write_text(text.replace(old, new))


@pytest.mark.parametrize("name", TWINS)
def test_a_twin_shows_the_same_failure_and_has_another_cause(name: str) -> None:
    twin, program = ALL[name], ALL[name.removesuffix("_twin")]
    assert twin.shows == program.shows
    assert twin.kind == program.kind
    assert twin.cause != program.cause
    assert twin.repair != program.repair


def test_every_everyday_failure_has_its_twin() -> None:
    assert {name.removesuffix("_twin") for name in TWINS} == ALL.keys() - set(TWINS)
