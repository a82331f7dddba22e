"""A search over variants of a trial: a smaller command, or the differences that matter between two cases."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from whet.core.budget import Budget, StopReason
from whet.core.event import Notice
from whet.core.oracle import Oracle
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.execution.warm_search import WarmSearch
from whet.search.proposal import Search
from whet.workbench.trials.driver import (
    HOLDS_NO_MORE,
    Driver,
    Question,
    as_it_is,
    silent,
    stop_reason_of,
)
from whet.workbench.trials.investigation import PastedLine
from whet.workbench.trials.session import Place, Session
from whet.workbench.trials.tested import Tested

CandidateT = TypeVar("CandidateT")

FAILS_IN_COPY = (
    "the result fails only in a frozen copy, not when the program runs from the start: whet "
    "starts over, without copies"
)


@value_class(kw_only=True)
class CommandOptions:
    """How to search.

    Attributes:
        budget: when to stop.
        jobs: trials at once; None: all cores.
        cold: run each trial from its start.
    """

    budget: Budget = field(default_factory=Budget)
    jobs: int | None = None
    cold: bool = False


@value_class(kw_only=True)
class ShrunkCommand:
    """A command made smaller.

    Attributes:
        what: what was varied, such as ``arguments``.
        before: how many of them there were.
        kept: those that are left, each as a line to read.
        line: the smaller command for a shell.
        trial: the same as a trial.
        stopped: why the search ended.
        trials: how many candidates were run.
        cached: how many were answered from earlier trials.
        wall_seconds: how long it took.
        remark: what else there is to say; may be empty.
        warm: how many of them ran on from a frozen copy.
        cold_because: why others did not; may be empty.
    """

    what: str
    before: int
    kept: tuple[str, ...]
    line: PastedLine
    trial: Trial
    stopped: StopReason
    trials: int
    cached: int
    wall_seconds: float
    remark: str = ""
    warm: int = 0
    cold_because: str = ""

    @property
    def facts(self) -> Mapping[str, object]:
        """What the notebook keeps of it."""
        return {self.what: list(self.kept), "line": self.line.text}


@dataclass(slots=True, kw_only=True)
class CommandSearch(Generic[CandidateT]):
    """One search over variants of a trial.

    Attributes:
        session: runs its trials.
        oracle: says what an outcome proves.
        repeats: how often each candidate is run.
        options: how to search.
        begin: returns the search that resumes from a candidate.
        as_trial: the trial of a candidate.
        label: a candidate in a word or two.
        best: the smallest candidate that fails.
        told: turns the verdict of the oracle into the one that the search gets: BAD for GOOD in one
            that looks for what passes.
        heard: is told each trial.
        place: where the trials run, if not where they stand.
        warm: runs trials on from a frozen copy; None: each runs from its start.
        why_cold: why each runs from its start.
    """

    session: Session
    oracle: Oracle
    repeats: int
    options: CommandOptions
    begin: Callable[[CandidateT], Search[CandidateT, object]]
    as_trial: Callable[[CandidateT], Trial]
    label: Callable[[CandidateT], str]
    best: CandidateT
    told: Callable[[Verdict], Verdict] = as_it_is
    heard: Callable[[Tested[CandidateT]], None] = silent
    place: Place | None = None
    warm: WarmSearch | None = None
    why_cold: str = ""
    trials: int = 0
    cached: int = 0
    came_warm: int = 0
    wall_seconds: float = 0.0

    def run(self) -> StopReason:
        """Search; run what rests on memory or on copies once more, from the start.

        If it fails no more, all is searched again from the start.
        """
        start = self.best
        reason = self._search(self.warm, cached=self.repeats == 1)
        rests_on_others = self.cached or self.warm_runs
        if reason is not StopReason.INTERRUPTED and rests_on_others and not self._holds():
            self.session.emit(Notice(text=FAILS_IN_COPY if self.warm_runs else HOLDS_NO_MORE))
            self.best = start
            reason = self._search(None, cached=False)
        return reason

    @property
    def warm_runs(self) -> int:
        """How many trials ran on from a frozen copy."""
        return 0 if self.warm is None else self.warm.warm_runs

    @property
    def cold_because(self) -> str:
        """Why trials ran from their start that might have run on from a frozen copy."""
        return self.why_cold or ("" if self.warm is None else "; ".join(self.warm.reasons))

    def _search(self, warm: WarmSearch | None, *, cached: bool) -> StopReason:
        jobs = self.options.jobs or self.session.bench.jobs
        with self.session.executor(
            jobs=jobs, cached=cached, place=self.place, perform=warm
        ) as executor:
            driver = Driver(
                executor=executor,
                oracle=self.oracle,
                tell=self.session.tell,
                budget=self._budget(),
                jobs=jobs,
                repeats=self.repeats,
                told=self.told,
            )
            end = driver.run(self.begin(self.best), self._ask, self._found_bad, self.heard)
            self.cached = end.cached
            self.came_warm += end.warm
        self.trials += end.trials - self.cached
        self.wall_seconds += end.wall_seconds
        reason = stop_reason_of(end, StopReason.MINIMAL)
        self.session.stopped(reason, end.trials, end.wall_seconds)
        return reason

    def _budget(self) -> Budget:
        left = self.options.budget
        if left.wall_seconds is None:
            return left
        return replace(left, wall_seconds=max(0.0, left.wall_seconds - self.wall_seconds))

    def _ask(self, candidate: CandidateT) -> Question:
        return Question(trial=self.as_trial(candidate), label=self.label(candidate))

    def _found_bad(self, candidate: CandidateT) -> None:
        self.best = candidate

    def _holds(self) -> bool:
        ran = self.session.run(
            self.as_trial(self.best), self.oracle, self.label(self.best), place=self.place
        )
        self.heard(ran.of(self.best))
        return self.told(ran.verdict) is Verdict.BAD
