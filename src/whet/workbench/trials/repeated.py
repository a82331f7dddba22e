"""Running the same command repeatedly: the only code that counts how often it fails."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from whet.core.budget import Budget, StopReason
from whet.core.oracle import Oracle
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.search.flaky.rates import repeating
from whet.workbench.trials.driver import Driver, Question
from whet.workbench.trials.session import RecordedExecutor
from whet.workbench.trials.tested import Tested


def hold(_ran: Tested[object], _oracle: Oracle) -> None:
    """Tell nobody: what judges these runs is known only when they have ended."""


@dataclass(slots=True, kw_only=True)
class Repeated:
    """A command that is run again and again.

    Attributes:
        executor: runs it.
        oracle: judges each run.
        trial: gives what the next run is, from those that have ended.
        jobs: how many runs go at once.
        budget: when to stop.
        tell: is told each run and what judged it, as by `Session.tell`.
        heard: is called after each run with all of them.
        runs: those that have ended, in the order of their start.
        wall_seconds: how long all of it took.
    """

    executor: RecordedExecutor
    oracle: Oracle
    trial: Callable[[Sequence[Tested[int]]], Trial]
    tell: Callable[[Tested[object], Oracle], None] = hold
    jobs: int = 1
    budget: Budget = field(default_factory=Budget)
    heard: Callable[[Sequence[Tested[int]]], None] | None = None
    runs: list[Tested[int]] = field(default_factory=list[Tested[int]])
    wall_seconds: float = 0.0

    def run(self, more: Callable[[Sequence[Verdict]], int]) -> StopReason | None:
        """Run it until ``more`` wants no more runs; return what stopped it before, if anything.

        Raises:
            WhetError: if it can't be run.
        """
        driver = Driver(
            executor=self.executor, oracle=self.oracle, tell=self.tell, budget=self.budget,
            jobs=self.jobs, is_error_skip=False,
        )  # fmt: skip
        end = driver.run(
            repeating(more), lambda _: Question(trial=self.trial(self.runs)), heard=self._note
        )
        self.wall_seconds += end.wall_seconds
        return end.stopped

    def _note(self, ran: Tested[int]) -> None:
        self.runs.append(ran)
        if self.heard is not None:
            self.heard(self.runs)
