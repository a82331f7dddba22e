"""The same command again and again: the one way in which whet counts how often it fails."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from whet.core.budget import Budget, StopReason
from whet.core.event import Event, TrialFinished
from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.search.flaky.rates import repeating
from whet.workbench.trials.bench import RecordedExecutor
from whet.workbench.trials.driver import Driver, Question


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """One run.

    Attributes:
        number: the notebook's number of the trial.
        outcome: what came.
        verdict: what the oracle said.
    """

    number: int
    outcome: Outcome
    verdict: Verdict


@dataclass(slots=True, kw_only=True)
class Repeated:
    """A command that is run again and again.

    Attributes:
        executor: runs it.
        oracle: judges each run.
        trial: gives what the next run is, from those that have ended.
        jobs: how many runs go at once.
        budget: when to stop.
        told: is told of each run.
        judged: is told the number and the verdict of each run.
        runs: those that have ended, in the order of their start.
        wall_seconds: how long all of it took.
    """

    executor: RecordedExecutor
    oracle: Oracle
    trial: Callable[[Sequence[Ran]], Trial]
    jobs: int = 1
    budget: Budget = field(default_factory=Budget)
    told: Callable[[Sequence[Ran]], None] | None = None
    judged: Callable[[int, Verdict], None] | None = None
    runs: list[Ran] = field(default_factory=list[Ran])
    wall_seconds: float = 0.0

    def run(self, more: Callable[[Sequence[Verdict]], int]) -> StopReason | None:
        """Run it until ``more`` wants no more runs; return what stopped it before, if anything.

        Raises:
            WhetError: if it cannot be run.
        """
        driver = Driver(
            executor=self.executor,
            oracle=self.oracle,
            emit=self._note,
            budget=self.budget,
            jobs=self.jobs,
            judged=self.judged,
            is_error_skip=False,
        )
        ended = driver.run(repeating(more), lambda _: Question(trial=self.trial(self.runs)))
        self.wall_seconds += ended.wall_seconds
        return ended.stopped

    def _note(self, event: Event) -> None:
        if not isinstance(event, TrialFinished):
            return
        assert event.number is not None
        self.runs.append(Ran(number=event.number, outcome=event.outcome, verdict=event.verdict))
        if self.told is not None:
            self.told(self.runs)
