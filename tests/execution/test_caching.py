"""No trial is run twice, and one that nobody wants any more is given up."""

import threading
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.execution.caching import CachingExecutor
from whet.execution.futures import TrialFuture
from whet.testing.executor import ScriptedExecutor

TRIAL = Trial(command=("x",), cwd="/")
OUTCOME = Outcome(exit_code=3)


@dataclass
class _Held:
    futures: list[TrialFuture] = field(default_factory=list[TrialFuture])

    def submit(self, _trial: Trial, /) -> Future[Outcome]:
        future = TrialFuture()
        future.number = 7
        self.futures.append(future)
        return future


def _nothing(_trial: Trial) -> None:
    return None


@given(st.lists(st.integers(0, 4), max_size=20))
def test_each_trial_is_run_once_and_answered_as_it_went(numbers: list[int]) -> None:
    known: dict[str, Outcome] = {}

    def answer(trial: Trial) -> Outcome:
        known[trial.key] = Outcome(exit_code=int(trial.command[0]))
        return known[trial.key]

    inner = ScriptedExecutor(answer)
    executor = CachingExecutor(inner, lambda trial: known.get(trial.key))
    futures = [executor.submit(replace(TRIAL, command=(str(number),))) for number in numbers]

    assert [future.result().exit_code for future in futures] == numbers
    assert inner.calls == len(set(numbers))
    assert executor.hits == len(numbers) - len(set(numbers))
    assert sum(future.was_cached for future in futures) == executor.hits


def test_a_remembered_trial_has_no_number() -> None:
    future = CachingExecutor(_Held(), lambda _trial: OUTCOME).submit(TRIAL)

    assert future.result() == OUTCOME
    assert (future.was_cached, future.number) == (True, None)


def test_one_given_up_is_not_an_answer() -> None:
    held = _Held()

    CachingExecutor(held, lambda _trial: Outcome(interrupted=True)).submit(TRIAL)

    assert len(held.futures) == 1


def test_identical_trials_in_flight_share_one_run() -> None:
    held = _Held()
    executor = CachingExecutor(held, _nothing)
    first, second = executor.submit(TRIAL), executor.submit(TRIAL)

    held.futures[0].settle(OUTCOME)

    assert first.result() == second.result() == OUTCOME
    assert (len(held.futures), executor.hits) == (1, 1)
    assert first.number == second.number == 7
    executor.submit(TRIAL)
    assert len(held.futures) == 2, "it has landed: the next one is answered by `find` or run"


def test_a_shared_run_ends_when_all_have_given_it_up() -> None:
    held = _Held()
    executor = CachingExecutor(held, _nothing)
    first, second = executor.submit(TRIAL), executor.submit(TRIAL)

    assert first.cancel()
    assert not held.futures[0].cancelled()
    assert second.cancel()
    assert held.futures[0].cancelled()
    third = executor.submit(TRIAL)
    held.futures[1].settle(OUTCOME)
    assert third.result() == OUTCOME


def test_who_stays_gets_the_outcome() -> None:
    held = _Held()
    executor = CachingExecutor(held, _nothing)
    first, second = executor.submit(TRIAL), executor.submit(TRIAL)
    first.cancel()

    held.futures[0].settle(OUTCOME)

    assert first.cancelled()
    assert second.result() == OUTCOME


def test_an_error_is_everybodys_and_is_forgotten() -> None:
    held = _Held()
    executor = CachingExecutor(held, _nothing)
    futures = [executor.submit(TRIAL) for _ in range(2)]

    held.futures[0].fail(ValueError("x"))

    assert all(isinstance(future.exception(), ValueError) for future in futures)
    executor.submit(TRIAL)
    assert len(held.futures) == 2


def test_a_future_that_runs_counts_as_running_and_waits_can_be_told() -> None:
    future = TrialFuture()
    assert not future.running()
    assert future.begin()
    assert future.running()
    future.settle(OUTCOME)
    assert not future.running()
    assert not future.cancel()


def test_an_ending_run_and_a_cancel_at_the_same_time_agree() -> None:
    for _ in range(200):
        ended: list[str] = []
        future = TrialFuture(partial(ended.append, "end"))
        thread = threading.Thread(target=future.settle, args=(OUTCOME,))
        thread.start()
        is_cancelled = future.cancel()
        thread.join()
        assert future.cancelled() == is_cancelled == bool(ended)
        assert future.done()
