from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import cycle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whet.core.budget import Budget, StopReason
from whet.core.errors import ReleaseNotInstallable
from whet.core.oracle import Oracle, ScriptVerdict
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.search.proposal import Search, run_search
from whet.search.round import Round
from whet.workbench.trials.driver import Driver, Question
from whet.workbench.trials.tested import Tested


@dataclass
class Scripted:
    """Runs nothing: the verdict of a trial is what a function says of its only word."""

    verdict_of: Callable[[str], Verdict]
    submitted: list[str] = field(default_factory=list[str])
    futures: list[Future[Outcome]] = field(default_factory=list[Future[Outcome]])

    def submit(self, trial: Trial, /) -> Future[Outcome]:
        (word,) = trial.command
        self.submitted.append(word)
        future: Future[Outcome] = Future()
        self.futures.append(future)
        try:
            future.set_result(Outcome(exit_code=self.verdict_of(word).exit_code))
        except Exception as error:  # noqa: BLE001 - it belongs to the future
            future.set_exception(error)
        return future


def trial(word: str) -> Trial:
    return Trial(command=(word,), cwd="/")


def ask(number: int) -> Question:
    return Question(trial=trial(str(number)))


def silent(_ran: Tested[object], _oracle: Oracle) -> None:
    """Hear nothing."""


def driver(executor: Scripted, **settings: object) -> Driver:
    return Driver(executor=executor, oracle=ScriptVerdict(), tell=silent, **settings)  # type: ignore[arg-type]  # a test's own settings


def in_batches(batches: Sequence[Sequence[int]]) -> Search[int, list[Sequence[Verdict]]]:
    told: list[Sequence[Verdict]] = []
    for batch in batches:
        verdicts = yield batch
        told.append(verdicts)
    return told


class Late(Future[Outcome]):
    """A run that ends when its end is waited for, and so never before those behind it start."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome

    def result(self, timeout: float | None = None) -> Outcome:
        if not self.done():
            self.set_result(self.outcome)
        return super().result(timeout)


@dataclass
class LateEnds:
    """Runs nothing: each trial ends late, with the verdict that a function says."""

    verdict_of: Callable[[str], Verdict]
    started: int = 0

    def submit(self, trial: Trial, /) -> Future[Outcome]:
        self.started += 1
        return Late(Outcome(exit_code=self.verdict_of(trial.command[0]).exit_code))


batches = st.lists(st.lists(st.integers(0, 20), min_size=1, max_size=6), max_size=5)


@given(batches, st.dictionaries(st.integers(0, 20), st.sampled_from(Verdict)), st.integers(1, 5))
def test_the_number_of_jobs_changes_nothing_that_a_search_is_told(
    proposed: list[list[int]], verdicts: dict[int, Verdict], jobs: int
) -> None:
    executor = Scripted(lambda word: verdicts.get(int(word), Verdict.GOOD))

    ended = driver(executor, jobs=jobs).run(in_batches(proposed), ask)

    alone = run_search(in_batches(proposed), lambda number: verdicts.get(number, Verdict.GOOD))
    assert ended.result == alone
    assert ended.stopped is None


@pytest.mark.parametrize("budget", [Budget(), Budget(trials=7)])
def test_a_search_counts_as_many_trials_with_any_number_of_jobs(budget: Budget) -> None:
    def verdict_of(word: str) -> Verdict:
        return Verdict.BAD if int(word) % 3 == 0 else Verdict.GOOD

    proposed = [list(range(first, first + 9)) for first in (1, 11, 23, 31)]
    found: list[list[int]] = []
    ends: list[tuple[int, StopReason | None]] = []
    for jobs in (1, 2, 16):
        executor, bad = LateEnds(verdict_of), list[int]()
        work = Driver(
            executor=executor, oracle=ScriptVerdict(), tell=silent, jobs=jobs, budget=budget
        )

        ended = work.run(in_batches(proposed), ask, bad.append)

        assert executor.started >= ended.trials >= ended.cached + ended.warm
        found.append(bad)
        ends.append((ended.trials, ended.stopped))

    assert found[0] == found[1] == found[2] != []
    assert ends[0] == ends[1] == ends[2]


@given(batches, st.dictionaries(st.integers(0, 20), st.sampled_from(Verdict)), st.integers(1, 5))
def test_of_a_whole_batch_each_verdict_is_told_whatever_the_others_are(
    proposed: list[list[int]], verdicts: dict[int, Verdict], jobs: int
) -> None:
    executor = Scripted(lambda word: verdicts.get(int(word), Verdict.GOOD))
    whole = [Round(batch) for batch in proposed]
    bad: list[int] = []

    ended = driver(executor, jobs=jobs).run(in_batches(whole), ask, bad.append)

    told = [[verdicts.get(number, Verdict.GOOD) for number in batch] for batch in proposed]
    assert ended.result == told
    assert executor.submitted == [str(number) for batch in proposed for number in batch]
    assert bad == [
        number for batch in proposed for number in batch if verdicts.get(number) is Verdict.BAD
    ]


def test_an_error_is_a_skip_or_is_raised_as_is_said() -> None:
    def fail(word: str) -> Verdict:
        raise ReleaseNotInstallable(f"no {word}", hint="another")

    ended = driver(Scripted(fail)).run(in_batches([[1]]), ask)
    assert ended.result == [[Verdict.SKIP]]

    with pytest.raises(ReleaseNotInstallable, match="no 1"):
        driver(Scripted(fail), is_error_skip=False).run(in_batches([[1]]), ask)


def test_one_job_runs_nothing_behind_the_first_bad_candidate() -> None:
    executor = Scripted(lambda word: Verdict.BAD if word == "2" else Verdict.GOOD)

    driver(executor).run(in_batches([[1, 2, 3, 4]]), ask)

    assert executor.submitted == ["1", "2"]


def test_the_bad_candidates_are_told_once_each_in_order() -> None:
    accepted: list[int] = []
    executor = Scripted(lambda word: Verdict.BAD if int(word) % 2 else Verdict.GOOD)

    driver(executor, jobs=3).run(in_batches([[2, 3, 5], [4], [7]]), ask, accepted.append)

    assert accepted == [3, 7]


def test_a_candidate_that_fails_on_the_good_side_too_is_another_bug() -> None:
    executor = Scripted(lambda word: Verdict.GOOD if word == "guard 2" else Verdict.BAD)

    def guarded(number: int) -> Question:
        return Question(trial=trial(str(number)), guard=trial(f"guard {number}"))

    ended = driver(executor, jobs=2).run(in_batches([[1, 2]]), guarded)

    assert ended.result == [[Verdict.SKIP, Verdict.BAD]]


def test_a_passing_candidate_is_not_run_on_the_good_side() -> None:
    executor = Scripted(lambda _: Verdict.GOOD)

    driver(executor).run(
        in_batches([[1]]), lambda _: Question(trial=trial("bad"), guard=trial("guard"))
    )

    assert executor.submitted == ["bad"]


def test_a_flaky_candidate_is_bad_if_it_fails_once() -> None:
    answers = iter([Verdict.GOOD, Verdict.SKIP, Verdict.BAD, Verdict.GOOD])
    executor = Scripted(lambda _: next(answers))

    ended = driver(executor, repeats=4).run(in_batches([[1]]), ask)

    assert ended.result == [[Verdict.BAD]]
    assert ended.trials == 3


def test_what_fails_too_rarely_is_neither_bad_nor_good() -> None:
    answers = cycle([Verdict.BAD, Verdict.GOOD, Verdict.GOOD, Verdict.GOOD])
    executor = Scripted(lambda _: next(answers))

    ended = driver(executor, floor=0.5).run(in_batches([[1]]), ask)

    assert ended.result == [[Verdict.SKIP]]


def test_what_always_fails_is_run_until_that_is_clear() -> None:
    executor = Scripted(lambda _: Verdict.BAD)

    ended = driver(executor, floor=0.5, jobs=2).run(in_batches([[1]]), ask)

    assert ended.result == [[Verdict.BAD]]
    assert 5 <= ended.trials <= 12


def test_what_never_fails_passes_also_where_there_is_a_floor() -> None:
    executor = Scripted(lambda _: Verdict.GOOD)

    assert driver(executor, floor=0.5).run(in_batches([[1]]), ask).result == [[Verdict.GOOD]]


def test_a_search_for_what_passes_starts_nothing_behind_it() -> None:
    executor = Scripted(lambda word: Verdict.GOOD if word == "1" else Verdict.BAD)
    work = driver(executor, jobs=3, told=lambda it: Verdict.BAD if it is Verdict.GOOD else it.GOOD)

    ended = work.run(in_batches([[1, 2, 3]]), ask)

    assert ended.result == [[Verdict.BAD]]
    assert executor.submitted == ["1"]


def test_a_version_that_cannot_be_made_proves_nothing() -> None:
    def broken(_: str) -> Verdict:
        raise ReleaseNotInstallable("the build of x 1.0 failed", hint="none")

    heard: list[Tested[int]] = []

    ended = driver(Scripted(broken)).run(
        in_batches([[1]]),
        lambda number: Question(trial=trial(str(number)), label="x 1.0"),
        heard=heard.append,
    )

    assert ended.result == [[Verdict.SKIP]]
    assert [(each.candidate, each.label, each.verdict) for each in heard] == [
        (1, "x 1.0", Verdict.SKIP)
    ]
    assert str(heard[0].skipped) == "the build of x 1.0 failed"


@pytest.mark.parametrize(
    ("budget", "reason"),
    [
        (Budget(trials=2), StopReason.OUT_OF_TRIALS),
        (Budget(wall_seconds=2.5), StopReason.OUT_OF_TIME),
    ],
)
def test_a_spent_budget_ends_a_search(budget: Budget, reason: StopReason) -> None:
    now = iter(range(100))
    executor = Scripted(lambda _: Verdict.GOOD)

    ended = driver(executor, budget=budget, clock=lambda: float(next(now))).run(
        in_batches([[each] for each in range(50)]), ask
    )

    assert ended.stopped is reason
    assert ended.result is None
    assert len(executor.submitted) == 2


def test_ctrl_c_ends_a_search_and_gives_up_what_runs() -> None:
    @dataclass
    class Waiting:
        futures: list[Future[Outcome]] = field(default_factory=list[Future[Outcome]])

        def submit(self, _: Trial, /) -> Future[Outcome]:
            future: Future[Outcome] = Future()
            self.futures.append(future)
            if len(self.futures) == 1:
                future.set_exception(KeyboardInterrupt())
            return future

    executor = Waiting()
    work = Driver(executor=executor, oracle=ScriptVerdict(), tell=silent, jobs=3)

    ended = work.run(in_batches([[1, 2, 3]]), ask)

    assert ended.stopped is StopReason.INTERRUPTED
    assert all(future.cancelled() for future in executor.futures[1:])


def test_each_trial_is_told_and_heard_with_its_number_and_its_candidate() -> None:
    told: list[Tested[object]] = []
    heard: list[Tested[int]] = []
    executor = Scripted(lambda _: Verdict.BAD)
    work = driver(executor)
    work.tell = lambda ran, _: told.append(ran)

    def numbered(number: int) -> Question:
        return Question(trial=trial(str(number)), label="four")

    submit = executor.submit

    def recorded(each: Trial, /) -> Future[Outcome]:
        future = submit(each)
        future.number = 12  # type: ignore[attr-defined]  # as the recording executor does
        return future

    executor.submit = recorded  # type: ignore[method-assign]  # a wrapper of one method
    work.run(in_batches([[4]]), numbered, heard=heard.append)

    assert [(each.number, each.label, each.verdict) for each in told] == [(12, "four", Verdict.BAD)]
    assert [(each.candidate, each.number) for each in heard] == [(4, 12)]


def test_a_search_of_what_fixed_it_is_told_the_opposite() -> None:
    executor = Scripted(lambda _: Verdict.GOOD)
    opposite = {Verdict.GOOD: Verdict.BAD, Verdict.BAD: Verdict.GOOD, Verdict.SKIP: Verdict.SKIP}

    ended = driver(executor, told=opposite.__getitem__).run(in_batches([[1]]), ask)

    assert ended.result == [[Verdict.BAD]]
