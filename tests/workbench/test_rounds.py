"""Rounds as the driver runs them: all at once, and no longer than each can tell something."""

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field

import pytest

from whet.core.budget import Budget, StopReason
from whet.core.errors import DiskFull, ReleaseNotInstallable
from whet.core.oracle import ScriptVerdict
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.search.history.bisection import Bisection, BisectionResult
from whet.search.history.version_graph import line_of
from whet.search.proposal import Search
from whet.search.round import Round
from whet.workbench.trials.driver import Driver, Question


@dataclass
class Held:
    """Runs that end when the test says so.

    Attributes:
        running: the future of each trial, by its only word.
        ends: what ends at once, and how; the others never end by themselves.
        errors: what ends at once with an error.
        order: the words, in the order of their start.
    """

    running: dict[str, Future[Outcome]] = field(default_factory=dict[str, "Future[Outcome]"])
    ends: Mapping[str, Verdict] = field(default_factory=dict[str, Verdict])
    errors: Mapping[str, Exception] = field(default_factory=dict[str, Exception])
    order: list[str] = field(default_factory=list[str])

    def submit(self, trial: Trial, /) -> Future[Outcome]:
        (word,) = trial.command
        future: Future[Outcome] = Future()
        self.running[word] = future
        self.order.append(word)
        # What is named ends at once, the others never by themselves.
        if word in self.ends:
            future.set_result(Outcome(exit_code=self.ends[word].exit_code))
        elif word in self.errors:
            future.set_exception(self.errors[word])
        return future


def driver(executor: Held, *, jobs: int) -> Driver:
    return Driver(
        executor=executor, oracle=ScriptVerdict(), tell=lambda _ran, _oracle: None, jobs=jobs
    )


def ask(number: int) -> Question:
    return Question(trial=Trial(command=(str(number),), cwd="/"))


def one_round(candidates: list[int], size: int) -> Search[int, list[Verdict]]:
    """Ask about a line of ``size`` versions, of which one divides if it is not implied."""

    def needless(known: Mapping[int, Verdict]) -> set[int]:
        good = max((each for each in known if known[each] is Verdict.GOOD), default=0)
        bad = min((each for each in known if known[each] is Verdict.BAD), default=size)
        return {each for each in candidates if not good < each < bad}

    verdicts = yield Round(candidates, needless)
    return list(verdicts)


def test_a_good_one_ends_the_runs_of_all_before_it_and_a_bad_one_of_all_behind_it() -> None:
    executor = Held(ends={"40": Verdict.GOOD, "60": Verdict.BAD, "50": Verdict.GOOD})

    ended = driver(executor, jobs=9).run(one_round([10, 20, 40, 50, 60, 70, 90], 100), ask)

    skip, good = Verdict.SKIP, Verdict.GOOD
    assert ended.result is not None
    assert ended.result[:2] == [skip, skip]
    assert ended.result[3:] == [good, Verdict.BAD, skip, skip]
    assert all(executor.running[word].cancelled() for word in ("10", "20", "70", "90"))


def test_no_more_run_at_once_than_there_are_jobs() -> None:
    executor = Held(ends={str(number): Verdict.GOOD for number in range(1, 7)})

    ended = driver(executor, jobs=2).run(one_round([1, 2, 3, 4, 5, 6], 100), ask)

    assert executor.order[:2] == ["1", "2"]
    assert ended.result is not None
    assert ended.result[-1] is Verdict.GOOD


def test_what_cannot_be_made_is_a_skip_of_the_round_and_a_full_disk_ends_it() -> None:
    executor = Held(
        errors={"1": ReleaseNotInstallable("no", hint=""), "2": DiskFull("full", hint="")}
    )

    ended = driver(executor, jobs=1).run(one_round([1], 100), ask)

    assert ended.result == [Verdict.SKIP]
    with pytest.raises(DiskFull):
        driver(executor, jobs=1).run(one_round([2], 100), ask)


def test_a_spent_budget_ends_a_round_once_what_it_paid_for_has_ended() -> None:
    executor = Held(ends={"1": Verdict.GOOD, "2": Verdict.GOOD})
    work = driver(executor, jobs=9)
    work.budget = Budget(trials=2)

    ended = work.run(one_round([1, 2, 3], 100), ask)

    assert ended.stopped is StopReason.OUT_OF_TRIALS
    assert executor.order == ["1", "2"]
    assert ended.trials == 2


def test_a_search_of_a_line_by_many_threads_finds_the_culprit() -> None:
    line = line_of(range(1, 401))

    @dataclass
    class Threads:
        count: int = 0

        def submit(self, trial: Trial, /) -> Future[Outcome]:
            future: Future[Outcome] = Future()
            self.count += 1
            bad = int(trial.command[0]) >= 123
            verdict = Verdict.BAD if bad else Verdict.GOOD

            def end() -> None:
                if future.set_running_or_notify_cancel():
                    future.set_result(Outcome(exit_code=verdict.exit_code))

            threading.Thread(target=end).start()
            return future

    executor = Threads()
    work = Driver(
        executor=executor, oracle=ScriptVerdict(), tell=lambda _ran, _oracle: None, jobs=4
    )
    ended = work.run(Bisection(line, 400).search(4), ask)

    result = ended.result
    assert isinstance(result, BisectionResult)
    assert result.first_bad == 123
    assert executor.count <= 4 * 4
