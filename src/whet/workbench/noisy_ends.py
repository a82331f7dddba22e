"""The two ends of a search where the failure comes only sometimes: how often does each fail?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from whet.core.budget import StopReason
from whet.core.event import TrialFinished
from whet.core.oracle import Oracle
from whet.core.verdict import Verdict
from whet.workbench.bench import RecordedExecutor, oracle_of
from whet.workbench.repeated import Ran, Repeated
from whet.workbench.versions import VersionHunt


@dataclass(slots=True, kw_only=True)
class MeasuredEnds:
    """The two ends, run as often as it takes to see how often they fail."""

    hunt: VersionHunt
    jobs: int
    runs: dict[str, list[Ran]] = field(default_factory=dict[str, list[Ran]])

    @property
    def failing(self) -> str:
        """The end that should fail."""
        versions, terms = self.hunt.versions, self.hunt.terms
        return versions.old if terms.is_fix and versions.old is not None else versions.new

    def is_flaky(self, first_runs: int) -> bool:
        """Run the failing end some times; the hunt's own run is the last of ``first_runs``."""
        if first_runs <= 1:
            return False
        with self.hunt.bench.executor(
            self.hunt.record, jobs=self.jobs, place=self.hunt.versions.place
        ) as executor:
            self.measure(executor, self.failing, lambda runs: first_runs - 1 - len(runs))
        verdicts = {each.verdict for each in self.runs[self.failing]}
        return Verdict.BAD in verdicts and Verdict.GOOD in verdicts

    def measure(
        self,
        executor: RecordedExecutor,
        version: str,
        more: Callable[[Sequence[Verdict]], int],
        oracle: Oracle | None = None,
    ) -> list[Ran]:
        """Run an end until ``more`` wants no more; runs of before count too."""
        hunt = self.hunt
        trial = hunt.versions.on(hunt.trial, version)
        repeated = Repeated(
            executor=executor,
            oracle=oracle or hunt.oracle or oracle_of(hunt.judging),
            trial=lambda _: trial,
            jobs=self.jobs,
            budget=hunt.budget,
        )
        before = self.runs.setdefault(version, [])
        known = [each.verdict for each in before]
        stopped = repeated.run(lambda verdicts: more([*known, *verdicts]))
        if stopped is StopReason.INTERRUPTED:
            raise KeyboardInterrupt
        for each in repeated.runs:
            self._tell(version, each, len(before) + 1)
            before.append(each)
        return before

    def _tell(self, version: str, run: Ran, count: int) -> None:
        self.hunt.bench.emit(
            TrialFinished(
                number=run.number,
                trial=self.hunt.versions.on(self.hunt.trial, version),
                outcome=run.outcome,
                verdict=run.verdict,
                label=f"{self.hunt.versions.label(version)}, run {count}",
            )
        )
