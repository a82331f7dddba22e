"""The one driver that runs searches: budgets, parallel runs, repeats, guards.

A search proposes candidates and receives verdicts (`whet.search.proposal`). The driver turns each
candidate into a question, asks it through an executor, on as many cores as there are, and gives the search
only verdicts that don't depend on timing, so the number of jobs doesn't change the result.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from whet.core.budget import Budget, OutOfTimeError, StopReason
from whet.core.errors import DiskFull, WhetError
from whet.core.executor import Executor
from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.flaky.repeats import Repeats
from whet.search.proposal import Search
from whet.search.round import Round
from whet.workbench.trials.tested import Tested, result_of

HOLDS_NO_MORE = "earlier results no longer hold: whet tries everything again"
"""whet reruns a result that rests on remembered trials; this is the note if it ends differently."""

CandidateT = TypeVar("CandidateT")
ResultT = TypeVar("ResultT")
EndedT_co = TypeVar("EndedT_co", covariant=True)


@value_class(kw_only=True)
class Question:
    """What has to be run to learn the verdict on one candidate.

    Attributes:
        trial: BAD of this one is what a search looks for.
        guard: a trial that must be GOOD for the candidate to count as BAD, or None. It is the
            same payload on the last good version: without it a shrink slips to an older bug
            that has the same signature.
        label: the candidate in a word, such as a release or a size.
        refusal: why the trial can't be run, where that is known beforehand; None: it can.
    """

    trial: Trial
    guard: Trial | None = None
    label: str = ""
    refusal: WhetError | None = None


@value_class(kw_only=True)
class Ended(Generic[EndedT_co]):
    """How a search ended.

    Attributes:
        result: what the search returned; None if it was stopped before its end.
        stopped: why it was stopped; None if it came to its own end.
        trials: how many trials were judged, guards and repeats included; what was ended because
            another one made it needless is none.
        cached: how many of them were answered from earlier trials.
        warm: how many of them ran on from a frozen copy of the program.
        wall_seconds: how long it took.
    """

    result: EndedT_co | None
    stopped: StopReason | None
    trials: int
    wall_seconds: float
    cached: int = 0
    warm: int = 0


def silent(_ran: Tested[object]) -> None:
    """Hear nothing."""


class _StopSearchError(Exception):
    """The budget is spent."""

    def __init__(self, reason: StopReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


def as_it_is(verdict: Verdict) -> Verdict:
    """Tell a search what the oracle said."""
    return verdict


@dataclass(slots=True, kw_only=True)
class Driver:
    """Runs searches.

    Attributes:
        executor: runs the trials.
        oracle: judges them.
        tell: is told each trial and what judged it (`Session.tell`).
        budget: when to stop.
        jobs: how many candidates are tried at once.
        repeats: how often a candidate is tried before it counts as not BAD; more than one
            for a failure that comes only sometimes.
        floor: a candidate that fails more rarely than this isn't BAD; 0: one failure is enough.
        told: turns the verdict of the oracle into the one that the search gets, for a search of the
            version that fixed something.
        is_error_skip: a trial that can't be run is a SKIP; else its error is raised.
        clock: seconds, monotonic.
    """

    executor: Executor
    oracle: Oracle
    tell: Callable[[Tested[object], Oracle], None]
    budget: Budget = field(default_factory=Budget)
    jobs: int = 1
    repeats: int = 1
    floor: float = 0.0
    told: Callable[[Verdict], Verdict] = as_it_is
    is_error_skip: bool = True
    clock: Callable[[], float] = time.monotonic

    _started: float = 0.0
    _trials: int = 0
    _cached: int = 0
    _warm: int = 0

    def run(
        self,
        search: Search[CandidateT, ResultT],
        ask: Callable[[CandidateT], Question],
        found_bad: Callable[[CandidateT], None] | None = None,
        heard: Callable[[Tested[CandidateT]], None] = silent,
    ) -> Ended[ResultT]:
        """Run ``search`` to its end, or until the budget or Ctrl-C ends it.

        Args:
            search: what proposes candidates.
            ask: turns a candidate into what must be run.
            found_bad: is told each candidate that the search is told to be BAD.
            heard: is told each trial of a candidate, repeats and guards included, once it is judged.
        """

        def begin(candidate: CandidateT) -> _Asking[CandidateT]:
            self._check_budget()
            return _Asking(self, ask(candidate), candidate, heard)

        self._started, self._trials, self._cached, self._warm = self.clock(), 0, 0, 0
        result: ResultT | None = None
        stopped: StopReason | None = None
        try:
            batch = next(search)
            while True:
                verdicts = self._verdicts(batch, begin)
                if found_bad is not None:
                    for candidate, verdict in zip(batch, verdicts, strict=False):
                        if verdict is Verdict.BAD:
                            found_bad(candidate)
                batch = search.send(verdicts)
        except StopIteration as end:
            result = end.value
        except _StopSearchError as stop:
            stopped = stop.reason
        except OutOfTimeError:
            stopped = StopReason.OUT_OF_TIME
        except KeyboardInterrupt:
            stopped = StopReason.INTERRUPTED
        finally:
            search.close()
        return Ended(
            result=result,
            stopped=stopped,
            trials=self._trials,
            wall_seconds=self.clock() - self._started,
            cached=self._cached,
            warm=self._warm,
        )

    def ask(self, question: Question) -> Verdict:
        """Return the verdict on one question, outside of any search."""
        return _Asking(self, question, None, silent).verdict()

    def _verdicts(
        self, batch: Sequence[CandidateT], begin: "_Begin[CandidateT]"
    ) -> Sequence[Verdict]:
        """Return the verdicts of ``batch`` up to its first BAD one; of a round all of them."""
        if isinstance(batch, Round):
            return self._verdicts_of_round(batch, begin)
        verdicts: list[Verdict] = []
        running: list[_Asking[CandidateT]] = []
        following = iter(batch)
        try:
            for asking in self._started_askings(following, begin, running):
                verdicts.append(self.told(asking.verdict()))
                if verdicts[-1] is Verdict.BAD:
                    break
        finally:
            for asking in running:
                asking.cancel()
        return verdicts

    def _started_askings(
        self,
        following: Iterator[CandidateT],
        begin: "_Begin[CandidateT]",
        running: list["_Asking[CandidateT]"],
    ) -> Iterator["_Asking[CandidateT]"]:
        """Yield the questions in order, with up to ``jobs`` of them started ahead."""
        while True:
            # A later one that already came out BAD makes what lies behind it pointless.
            while self._has_room(len(running)) and not any(asking.is_bad for asking in running):
                candidate = next(following, None)
                if candidate is None:
                    break
                running.append(begin(candidate))
            if not running:
                return
            yield running[0]
            running.pop(0)

    def _verdicts_of_round(
        self, batch: Round[CandidateT], begin: "_Begin[CandidateT]"
    ) -> Sequence[Verdict]:
        """Return the verdicts of a round, and end each run as soon as it is needless."""
        verdicts: dict[int, Verdict] = {}
        running: dict[int, _Asking[CandidateT]] = {}
        try:
            while True:
                places = batch.open_places(verdicts)
                for place in running.keys() - places:
                    running.pop(place).cancel()
                for place in places:
                    if place not in running and self._has_room(len(running)):
                        running[place] = begin(batch[place])
                if not running:
                    return batch.in_order(verdicts)
                first = _first_ended(running)
                verdicts[first] = self.told(running[first].verdict())
                del running[first]
        finally:
            for asking in running.values():
                asking.cancel()

    def _has_room(self, running: int) -> bool:
        """Whether one more may run: what runs already belongs to the budget of trials."""
        most = self.budget.trials
        is_left = most is None or self._trials + running < most
        return running < self.jobs and (is_left or not running)

    def _check_budget(self) -> None:
        budget = self.budget
        if budget.trials is not None and self._trials >= budget.trials:
            raise _StopSearchError(StopReason.OUT_OF_TRIALS)
        elapsed = self.clock() - self._started
        if budget.wall_seconds is not None and elapsed >= budget.wall_seconds:
            raise _StopSearchError(StopReason.OUT_OF_TIME)

    @property
    def trials(self) -> int:
        """How many trials were judged."""
        return self._trials

    @property
    def cached(self) -> int:
        """How many of them were answered from earlier trials."""
        return self._cached

    def submit(self, trial: Trial) -> Future[Outcome]:
        """Start one trial of the search."""
        return self.executor.submit(trial)

    def settle(self, trial: Trial, future: Future[Outcome], label: str) -> Tested[None]:
        """Wait for a trial, judge it, count it and tell everybody."""
        try:
            ran = result_of(trial, future, self.oracle, label)
        except DiskFull:
            raise  # it is so for every version
        except WhetError as error:
            if not self.is_error_skip:
                raise
            # A version that can't be built or installed proves nothing about the bug.
            ran = Tested(
                candidate=None, trial=trial, outcome=Outcome(), verdict=Verdict.SKIP,
                number=None, label=label, skipped=error,
            )  # fmt: skip
        self._trials += 1
        is_known = ran.number is None and ran.skipped is None
        self._cached += is_known
        self._warm += bool(ran.outcome.resumed_from) and not is_known
        self.tell(ran, self.oracle)
        return ran


class _Asking(Generic[CandidateT]):
    """One question that is being answered: its repeats, then its guard."""

    def __init__(
        self,
        driver: Driver,
        question: Question,
        candidate: CandidateT,
        heard: Callable[[Tested[CandidateT]], None],
    ) -> None:
        self._driver = driver
        self._question = question
        self._candidate = candidate
        self._heard = heard
        self._futures: list[Future[Outcome]] = []
        self._start(question.trial)
        self._known: Verdict | None = None

    @property
    def is_bad(self) -> bool:
        """Whether the search will be told BAD, if that is known (a guard still open: it isn't)."""
        tell = self._driver.told
        if self._known is not None:
            return tell(self._known) is Verdict.BAD
        if self._question.guard is not None or self._driver.floor:
            return False
        first = self._futures[0]
        if not first.done() or first.cancelled() or first.exception() is not None:
            return False
        return tell(self._driver.oracle.judge(first.result())) is Verdict.BAD

    @property
    def first(self) -> Future[Outcome]:
        """The first of its runs."""
        return self._futures[0]

    def verdict(self) -> Verdict:
        """Wait for the verdict."""
        question = self._question
        verdict = self._repeated()
        if verdict is Verdict.BAD and question.guard is not None:
            label = f"{question.label} on the good side"
            passes = self._settle(question.guard, self._start(question.guard), label)
            verdict = Verdict.BAD if passes is Verdict.GOOD else Verdict.SKIP
        self._known = verdict
        return verdict

    def _repeated(self) -> Verdict:
        """Run it until it is likely enough what it does."""
        question, future = self._question, self._futures[0]
        rule = Repeats(most=self._driver.repeats, floor=self._driver.floor)
        verdicts: list[Verdict] = []
        while True:
            verdicts.append(self._settle(question.trial, future, question.label))
            bad = verdicts.count(Verdict.BAD)
            fails = rule.fails(bad, len(verdicts) - bad)
            if fails is not None:
                break
            future = self._start(question.trial)
        if fails:
            return Verdict.BAD
        # What fails too rarely doesn't pass either.
        return Verdict.GOOD if not bad and Verdict.GOOD in verdicts else Verdict.SKIP

    def _settle(self, trial: Trial, future: Future[Outcome], label: str) -> Verdict:
        ran = self._driver.settle(trial, future, label).of(self._candidate)
        self._heard(ran)
        return ran.verdict

    def _start(self, trial: Trial) -> Future[Outcome]:
        refusal = self._question.refusal
        future = self._driver.submit(trial) if refusal is None else refused_trial(refusal)
        self._futures.append(future)
        return future

    def cancel(self) -> None:
        """End what is still running of it."""
        for future in self._futures:
            future.cancel()


def refused_trial(error: WhetError) -> Future[Outcome]:
    """Return the future of a trial that can't be run."""
    future: Future[Outcome] = Future()
    future.set_exception(error)
    return future


_Begin: TypeAlias = Callable[[CandidateT], _Asking[CandidateT]]


def _first_ended(running: Mapping[int, _Asking[CandidateT]]) -> int:
    """Wait until one of the questions has its first run behind it, and return which."""
    wait([asking.first for asking in running.values()], return_when=FIRST_COMPLETED)
    return next(candidate for candidate, asking in running.items() if asking.first.done())


def stop_reason_of(end: Ended[object], complete: StopReason) -> StopReason:
    """Return why a search ended: its own end is ``complete``."""
    return complete if end.stopped is None else end.stopped
