"""Nothing starts behind a deadline, nothing runs past it, and what is cut there has shown nothing."""

import time
from dataclasses import dataclass, field, replace

import pytest

from whet.core.budget import OutOfTimeError
from whet.core.limits import Limits
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.execution.deadline import DeadlineExecutor
from whet.execution.futures import TrialFuture
from whet.execution.recording import RecordingExecutor

TRIAL = Trial(command=("x",), cwd="/")


@dataclass
class _Held:
    """An executor whose trials end when the test says so."""

    trials: list[Trial] = field(default_factory=list[Trial])
    futures: list[TrialFuture] = field(default_factory=list[TrialFuture])

    def submit(self, trial: Trial, /) -> TrialFuture:
        self.trials.append(trial)
        self.futures.append(TrialFuture())
        return self.futures[-1]


def deadline(held: _Held, seconds: float) -> DeadlineExecutor:
    recording = RecordingExecutor(held, lambda _: 7, lambda *_: None)
    return DeadlineExecutor(recording, time.monotonic() + seconds)


@pytest.mark.parametrize("seconds", [-5.0, 0.0])
def test_nothing_starts_behind_it(seconds: float) -> None:
    held = _Held()
    with pytest.raises(OutOfTimeError):
        deadline(held, seconds).submit(TRIAL)
    assert held.trials == []


@pytest.mark.parametrize("asked", [None, 500.0])
def test_a_trial_gets_no_more_time_than_there_is(asked: float | None) -> None:
    held = _Held()
    deadline(held, 100).submit(replace(TRIAL, limits=Limits(wall_seconds=asked)))
    (given,) = (each.limits.wall_seconds for each in held.trials)
    assert given is not None
    assert 0 < given <= 100


def test_a_shorter_limit_of_its_own_stays() -> None:
    held = _Held()
    trial = replace(TRIAL, limits=Limits(wall_seconds=3.0))
    future = deadline(held, 100).submit(trial)
    assert held.trials == [trial]
    held.futures[0].settle(Outcome(exit_code=None, timed_out=True))
    assert future.result().timed_out


def test_what_is_cut_there_shows_nothing() -> None:
    held = _Held()
    future = deadline(held, 100).submit(TRIAL)
    held.futures[0].settle(Outcome(exit_code=None, timed_out=True))
    with pytest.raises(OutOfTimeError):
        future.result()


def test_what_ends_or_hangs_by_itself_counts() -> None:
    for outcome in (Outcome(exit_code=3), Outcome(timed_out=True, hung_seconds=2.0)):
        held = _Held()
        future = deadline(held, 100).submit(TRIAL)
        held.futures[0].settle(outcome)
        assert (future.result(), future.number) == (outcome, 7)


def test_giving_it_up_ends_what_runs() -> None:
    held = _Held()
    future = deadline(held, 100).submit(TRIAL)
    assert future.cancel()
    assert held.futures[0].cancelled()
