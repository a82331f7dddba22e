"""Places for trials: no more of them in use at once than there is room for."""

import threading
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager

from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.execution.futures import TrialFuture
from whet.workbench.trials.placing import PlacingExecutor

_PATIENCE_SECONDS = 30


class AtOnce:
    """Runs nothing; each trial has passed as soon as it starts."""

    def submit(self, _trial: Trial, /) -> Future[Outcome]:
        future = TrialFuture()
        future.settle(Outcome(exit_code=0))
        return future


def test_two_executors_that_share_a_room_use_it_one_after_the_other() -> None:
    story: list[str] = []
    first_is_in, second_is_in, go_on = threading.Event(), threading.Event(), threading.Event()
    rooms = threading.Semaphore(1)

    @contextmanager
    def first_place(trial: Trial) -> Generator[Trial, None, None]:
        story.append("first in")
        first_is_in.set()
        assert go_on.wait(_PATIENCE_SECONDS)
        yield trial
        story.append("first out")

    @contextmanager
    def second_place(trial: Trial) -> Generator[Trial, None, None]:
        story.append("second in")
        second_is_in.set()
        yield trial

    trial = Trial(command=("true",), cwd="/")
    first = PlacingExecutor(inner=AtOnce(), prepare=first_place, rooms=rooms).submit(trial)
    assert first_is_in.wait(_PATIENCE_SECONDS)
    second = PlacingExecutor(inner=AtOnce(), prepare=second_place, rooms=rooms).submit(trial)
    assert not second_is_in.wait(0.1), "there is no room yet"
    go_on.set()

    assert first.result(_PATIENCE_SECONDS).exit_code == 0
    assert second.result(_PATIENCE_SECONDS).exit_code == 0
    assert story == ["first in", "first out", "second in"]


def test_what_is_run_to_make_a_place_is_given_up_with_it() -> None:
    inner_future = TrialFuture()
    made: list[Outcome | str] = []

    class Never:
        def submit(self, _trial: Trial, /) -> Future[Outcome]:
            started.set()
            return inner_future

    started = threading.Event()
    trial = Trial(command=("true",), cwd="/")

    @contextmanager
    def place(each: Trial) -> Generator[Trial, None, None]:
        made.append(executor.perform(each))
        yield each

    executor = PlacingExecutor(inner=Never(), prepare=place)
    future = executor.submit(trial)
    assert started.wait(_PATIENCE_SECONDS)
    future.cancel()
    executor.close()

    assert inner_future.cancelled()
    assert future.cancelled()
    assert made == []
