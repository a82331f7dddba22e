"""A closer look at what fails has the time that it needs where other processes keep the machine busy."""

import pytest

from whet.core.outcome import Outcome
from whet.workbench.investigate.closer.clues import seconds_to_look


@pytest.mark.parametrize(
    ("wall_seconds", "cpu_seconds", "expected"),
    [
        pytest.param(0.1, 0.1, 10.0, id="an idle machine"),
        pytest.param(0.4, 0.1, 40.0, id="four processes on each processor"),
        pytest.param(2.0, 0.1, 60.0, id="a busier one, or a program that sleeps"),
        pytest.param(3.0, 3.0, 24.0, id="a slow program"),
        pytest.param(30.0, 30.0, 120.0, id="one that is slower still"),
        pytest.param(0.1, 0.0, 10.0, id="too short to be measured"),
    ],
)
def test_the_time_grows_with_what_a_plain_run_waited(
    wall_seconds: float, cpu_seconds: float, expected: float
) -> None:
    plain = Outcome(wall_seconds=wall_seconds, cpu_seconds=cpu_seconds)
    assert seconds_to_look(plain, wall_seconds) == pytest.approx(expected)
