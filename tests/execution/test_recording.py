"""Each trial is written down before it starts, its outcome before anyone sees it."""

from concurrent.futures import Future
from dataclasses import dataclass, field

import pytest

from whet.core.errors import CommandNotFound, DiskFull
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.execution.futures import TrialFuture
from whet.execution.recording import RecordingExecutor

TRIAL = Trial(command=("x",), cwd="/")
OUTCOME = Outcome(exit_code=3)


@dataclass
class _Held:
    """An executor whose trials end when the test says so."""

    rows: list[str] = field(default_factory=list[str])
    futures: list[TrialFuture] = field(default_factory=list[TrialFuture])

    def submit(self, _trial: Trial, /) -> Future[Outcome]:
        self.rows.append("start")
        self.futures.append(TrialFuture())
        return self.futures[-1]

    def begin(self, _trial: Trial) -> int:
        self.rows.append("begin")
        return 41 + self.rows.count("begin")

    def finish(self, number: int, _trial: Trial, outcome: Outcome) -> None:
        self.rows.append(f"finish {number} {outcome.exit_code} {outcome.interrupted}")

    def recording(self) -> RecordingExecutor:
        return RecordingExecutor(self, self.begin, self.finish)


def test_the_row_is_there_before_the_trial_starts_and_the_number_at_once() -> None:
    held = _Held()

    future = held.recording().submit(TRIAL)

    assert held.rows == ["begin", "start"]
    assert future.number == 42
    assert not future.done()


def test_the_outcome_is_written_before_anyone_sees_it() -> None:
    held = _Held()
    future = held.recording().submit(TRIAL)
    future.add_done_callback(lambda _: held.rows.append("seen"))

    held.futures[0].settle(OUTCOME)

    assert held.rows == ["begin", "start", "finish 42 3 False", "seen"]
    assert future.result() == OUTCOME


def test_a_trial_given_up_is_written_down_as_interrupted() -> None:
    held = _Held()
    future = held.recording().submit(TRIAL)

    assert future.cancel()

    assert held.futures[0].cancelled()
    assert held.rows[2:] == ["finish 42 None True"]
    assert future.cancelled()


def test_what_could_not_start_has_no_outcome() -> None:
    held = _Held()
    future = held.recording().submit(TRIAL)

    held.futures[0].fail(CommandNotFound("`x`", hint="look"))

    assert held.rows == ["begin", "start"]
    assert isinstance(future.exception(), CommandNotFound)


def test_an_outcome_that_cannot_be_written_is_an_error() -> None:
    held = _Held()

    def finish(_number: int, _trial: Trial, _outcome: Outcome) -> None:
        raise DiskFull("no space", hint="free some")

    future = RecordingExecutor(held, held.begin, finish).submit(TRIAL)
    held.futures[0].settle(OUTCOME)

    with pytest.raises(DiskFull):
        future.result()


def test_a_trial_that_cannot_be_written_down_is_not_started() -> None:
    held = _Held()

    def begin(_trial: Trial) -> int:
        raise DiskFull("no space", hint="free some")

    with pytest.raises(DiskFull):
        RecordingExecutor(held, begin, held.finish).submit(TRIAL)

    assert held.rows == []
