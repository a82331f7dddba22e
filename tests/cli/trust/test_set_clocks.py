"""The clock may be set between trials, and while they run."""

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from benchmarks.faults.clock import set_clock
from set_clock import under_clock
from whet_command import Whet

DAY = 86_400


@pytest.fixture
def clock(whet: Whet) -> Iterator[Path]:
    clock = whet.folder.parent / "clock"
    set_clock(clock, 0)
    with ExitStack() as undone:
        whet.environment.update(under_clock(clock, undone))
        yield clock


def trials(whet: Whet) -> list[dict[str, object]]:
    said = whet("log", "--json", "--all", "-n", "99")
    assert said.code == 0, said.stderr
    found = json.loads(said.stdout)["trials"]
    assert isinstance(found, list)
    return found


@pytest.mark.slow
def test_trials_are_in_their_order_whatever_the_clock_says(whet: Whet, clock: Path) -> None:
    for days in (0, 3, -400):
        set_clock(clock, days * DAY)
        assert whet("run", "--", "sh", "-c", f"echo {days}; exit 1").code == 1

    found = trials(whet)

    assert [each["trial"] for each in found] == [3, 2, 1]
    times = [str(each["started_at"]) for each in found]
    assert times != sorted(times, reverse=True), "the clock was not set"
    assert "-400" in whet("show").stdout
    assert whet("again").code == 1


@pytest.mark.slow
@pytest.mark.parametrize("days", [-2, pytest.param(2, marks=pytest.mark.long)])
def test_what_a_trial_takes_is_true_where_the_clock_is_set_while_it_runs(
    whet: Whet, clock: Path, days: int
) -> None:
    # In one step: a clock that is read while it is empty fails each sleep of the processes around.
    part = f"{clock}.$$"  # each run's own: they run side by side
    script = f"echo {days * DAY:+d} > {part}; mv {part} {clock}; exit 3"

    said = whet("run", "--timeout", "50", "--", "sh", "-c", script)

    assert said.code == 3, said.stderr
    (found,) = trials(whet)
    outcome = found["outcome"]
    assert isinstance(outcome, dict)
    assert 0 <= outcome["wall_seconds"] < 50
    assert whet("repeat", "-n", "3", "--budget", "100", "--", "sh", "-c", script).code == 0
    assert len(trials(whet)) == 4


@pytest.mark.slow
def test_no_file_is_said_to_be_saved_late_because_the_clock_was_set_back(
    whet: Whet, clock: Path
) -> None:
    program = whet.write(
        "program.py", f"open({str(clock)!r}, 'w').write('-7200')\nraise KeyError\n"
    )

    said = whet("run", "--", sys.executable, program.name)

    assert said.code == 1
    assert "during the run, which used the older version" not in said.stderr + whet("show").stdout
