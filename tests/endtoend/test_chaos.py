"""Whatever strikes whet, and whenever: nothing is lost, nothing left, nothing of the user's touched."""

import pytest
from benchmarks.faults.chaos import WREAKS, play


@pytest.mark.slow
@pytest.mark.parametrize("kind", WREAKS)
def test_after_a_fault_of_each_kind_the_next_start_finds_all_and_leaves_nothing(kind: str) -> None:
    (played,) = play([0], kind=kind, verb="run")

    assert played.wrong == [], played.fault
    assert played.fault


@pytest.mark.long
@pytest.mark.parametrize("number", range(40))
def test_after_a_fault_at_any_moment_the_next_start_finds_all_and_leaves_nothing(
    number: int,
) -> None:
    (played,) = play([number])

    assert played.wrong == [], f"{played.verb}, {played.fault}"
