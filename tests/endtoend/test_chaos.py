"""Whatever strikes whet, and whenever: nothing is lost, nothing left, nothing of the user's touched."""

import pytest
from benchmarks.faults.chaos import play


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [pytest.param(each, marks=pytest.mark.long if each > 1 else ()) for each in range(40)]
)
def test_after_a_fault_at_any_moment_the_next_start_finds_all_and_leaves_nothing(
    number: int,
) -> None:
    (played,) = play([number])

    assert played.wrong == [], f"{played.verb}, {played.fault}"
