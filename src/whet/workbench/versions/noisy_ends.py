"""The two ends of a search for a flaky failure: how often does each fail?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NoReturn

from whet.bisection.terms import FIXED, Terms
from whet.core.budget import Budget, StopReason
from whet.core.errors import EndMisjudged
from whet.core.event import Notice
from whet.core.oracle import Oracle
from whet.core.verdict import Verdict
from whet.search.flaky.failure_rates import Runs
from whet.search.flaky.rates import chance_of_no_difference, passes_to_be_sure
from whet.workbench.trials.bench import oracle_of
from whet.workbench.trials.repeated import Repeated
from whet.workbench.trials.reproduce import reference_of
from whet.workbench.trials.session import RecordedExecutor
from whet.workbench.trials.tested import Tested
from whet.workbench.versions.ends import turned_round
from whet.workbench.versions.versions import VersionHunt

WRONG_END = 0.01
"""The chance to take a bad version for a good end."""

_LEAST_RUNS, _MOST_RUNS = 10, 60
_FAILURES = 3
"""How often a flaky end must fail until whet knows its rate well enough to plan."""

_LOOK_ALIKE = 0.05
"""If the ends would differ this much by chance with a higher probability, whet runs them more often."""


@dataclass(slots=True, kw_only=True)
class MeasuredEnds:
    """The two ends, run as often as it takes to see how often they fail.

    Attributes:
        hunt: the search whose ends they are.
        jobs: runs at once.
        runs: of each end, those of before included.
        wall_seconds: how long they took.
    """

    hunt: VersionHunt
    jobs: int
    runs: dict[str, list[Tested[object]]] = field(default_factory=dict[str, list[Tested[object]]])
    wall_seconds: float = 0.0

    @property
    def count(self) -> int:
        """How many runs there were."""
        return sum(map(len, self.runs.values()))

    @property
    def budget_left(self) -> Budget:
        """What the ends leave of the search's budget."""
        return self.hunt.budget.less(self.wall_seconds, self.count)

    @property
    def failing(self) -> str:
        """The end that should fail."""
        versions, terms = self.hunt.versions, self.hunt.terms
        return versions.old if terms.is_fix and versions.old is not None else versions.new

    def is_flaky(self, first_runs: int) -> bool:
        """Run the failing end some times; the hunt's own run is the last of ``first_runs``."""
        if first_runs <= 1:
            return False
        hunt, place = self.hunt, self.hunt.versions.place
        with hunt.session.executor(jobs=self.jobs, place=place) as executor:
            runs = self._measure(executor, self.failing, partial(_up_to, first_runs - 1))
        verdicts = {each.verdict for each in runs}
        return Verdict.BAD in verdicts and Verdict.GOOD in verdicts

    def fails_sometimes(self, runs: int) -> bool:
        """Rerun each end this often; return whether one of them fails."""
        hunt, place = self.hunt, self.hunt.versions.place
        ends = [self.failing]
        if not self._are_words_given and hunt.versions.old is not None:
            ends.append(hunt.versions.old)
        with hunt.session.executor(jobs=self.jobs, place=place) as executor:
            return any(
                each.verdict is Verdict.BAD
                for end in ends
                for each in self._measure(executor, end, partial(_up_to, runs))
            )

    @property
    def _are_words_given(self) -> bool:
        """Whether somebody said which of the ends fails, or it is known."""
        terms = self.hunt.terms
        return self.hunt.oracle is not None or (terms is not FIXED and terms != Terms())

    def settle_terms(self, executor: RecordedExecutor) -> None:
        """See which end fails more often, where nobody said so, or what was said isn't so."""
        terms, old, new = self.hunt.terms, self.hunt.versions.old, self.hunt.versions.new
        if old is None or (terms.old_verdict is not None and self._are_words_given):
            return
        failing = self._first_failures(executor, self.failing)
        if terms.old_verdict is not None and failing:
            return
        failures = {self.failing: failing}
        for version in (old, new):
            if version not in failures:
                failures[version] = self._first_failures(executor, version)
        is_fix = failures[old] > failures[new]
        if terms.old_verdict is None:
            self.hunt.terms = terms.settled_by(Verdict.BAD if is_fix else Verdict.GOOD)
        elif any(failures.values()) and is_fix != terms.is_fix:
            fails, passes = (old, new) if is_fix else (new, old)
            self.hunt.terms = FIXED if is_fix else Terms()
            self.hunt.session.emit(
                Notice(text=turned_round(self.hunt.versions.label, fails, passes, is_fix=is_fix))
            )

    def _first_failures(self, executor: RecordedExecutor, version: str) -> int:
        is_asked = self.hunt.terms.old_verdict is None

        def more(verdicts: Sequence[Verdict]) -> int:
            if not is_asked and Verdict.BAD in verdicts:
                return 0
            return min(self.jobs, _LEAST_RUNS - len(verdicts))

        runs = self._measure(executor, version, more)
        return sum(each.verdict is Verdict.BAD for each in runs)

    def reference(self, executor: RecordedExecutor) -> Oracle:
        """Run the end that should fail until it does; how often it does the search itself learns.

        Where a good end is still to be found its rate must be known before, so it is run more often,
        and its most frequent failure is what is looked for.

        Raises:
            EndMisjudged: if it never fails so.
        """
        hunt, failing = self.hunt, self.failing
        least, failures = (1, 1) if hunt.versions.old is not None else (_LEAST_RUNS, _FAILURES)

        def more(verdicts: Sequence[Verdict]) -> int:
            count, failed = len(verdicts), verdicts.count(Verdict.BAD)
            if count < least:
                return least - count
            return min(self.jobs, _MOST_RUNS - count) if failed < failures else 0

        runs = self._measure(executor, failing, more)
        judging = hunt.session.request.judging
        oracle = hunt.oracle or oracle_of(judging, reference_of(judging, runs))
        for each in runs:
            hunt.session.judge(each.judged_by(oracle), oracle)
        if not self._failures(failing, oracle):
            self._refuse(failing, f"passes in each of {len(runs)} runs")
        return oracle

    def confirm(self, executor: RecordedExecutor, oracle: Oracle) -> None:
        """Measure the other end often enough that it doesn't count as good by chance.

        Raises:
            EndMisjudged: if it fails as often.
        """
        versions, failing = self.hunt.versions, self.failing
        other = versions.old if failing == versions.new else versions.new
        assert other is not None
        rate = self._failures(failing, oracle) / len(self.runs[failing])
        runs_needed = passes_to_be_sure(rate, 1 - WRONG_END) or _LEAST_RUNS
        runs_needed = min(max(runs_needed, _LEAST_RUNS), _MOST_RUNS)
        runs = self._measure(executor, other, partial(_up_to, runs_needed), oracle)
        while not self._differ(oracle):
            before = self.count
            for each in (failing, other):
                most = min(len(self.runs[each]) + _LEAST_RUNS, _MOST_RUNS)
                self._measure(executor, each, partial(_up_to, most), oracle)
            if self.count == before:
                if len(runs) < _MOST_RUNS:
                    return  # the budget is spent, which the search will say
                failures = self._failures(other, oracle)
                did = f"fails in {failures} of {len(runs)} runs, the other end no more often"
                self._refuse(other, did)

    def counted(self, version: str, oracle: Oracle) -> Runs:
        """Return how the runs of an end were told: as bad are those of the new kind."""
        verdicts = self.verdicts(version, oracle)
        return Runs(verdicts.count(Verdict.BAD), verdicts.count(Verdict.GOOD))

    def verdicts(self, version: str, oracle: Oracle) -> list[Verdict]:
        """Return what the runs of an end were told."""
        for_search = self.hunt.terms.for_search
        return [for_search(oracle.judge(each.outcome)) for each in self.runs.get(version, [])]

    def in_words(self, version: str, oracle: Oracle) -> str:
        """Return how often an end failed."""
        failures = self._failures(version, oracle)
        return (
            f"`{self.hunt.versions.label(version)}` in {failures} of {len(self.runs[version])} runs"
        )

    def _failures(self, version: str, oracle: Oracle) -> int:
        runs = self.runs.get(version, [])
        return sum(oracle.judge(each.outcome) is Verdict.BAD for each in runs)

    def _differ(self, oracle: Oracle) -> bool:
        """Whether the new end is told BAD clearly more often than the old one."""
        versions = self.hunt.versions
        old, new = (self.counted(each, oracle) for each in (versions.old or "", versions.new))
        return differ(new, old)

    def _measure(
        self,
        executor: RecordedExecutor,
        version: str,
        more: Callable[[Sequence[Verdict]], int],
        oracle: Oracle | None = None,
    ) -> list[Tested[object]]:
        """Run an end until ``more`` wants no more runs, at least once whatever the budget says."""
        hunt = self.hunt
        trial = hunt.versions.on(hunt.trial, version)
        judge_by = oracle or hunt.oracle or oracle_of(hunt.session.request.judging)
        before = self.runs.setdefault(version, [])

        def heard(runs: Sequence[Tested[object]]) -> None:
            label = f"{hunt.versions.label(version)}, run {len(before) + 1}"
            before.append(replace(runs[-1], label=label))
            hunt.session.tell(before[-1], judge_by)

        for count in (partial(_up_to, 1), more):
            repeated = Repeated(
                executor=executor,
                oracle=judge_by,
                trial=lambda _: trial,
                jobs=self.jobs,
                budget=self.budget_left if before else Budget(),
                heard=heard,
            )
            verdicts = [each.verdict for each in before]
            stopped = repeated.run(partial(_counting, count, verdicts))
            self.wall_seconds += repeated.wall_seconds
            if stopped is StopReason.INTERRUPTED:
                raise KeyboardInterrupt
        return before

    def _refuse(self, version: str, did: str) -> NoReturn:
        terms, versions = self.hunt.terms, self.hunt.versions
        word = terms.new if version == versions.new else terms.old
        last = self.runs[version][-1].number
        raise EndMisjudged(
            f"`{versions.label(version)}` should be {word}, but it {did}",
            hint=f"`whet show {last}` shows its last output; name another end",
        )


def differ(bad: Runs, good: Runs) -> bool:
    """Whether some runs failed clearly more often than others."""
    alike = chance_of_no_difference((bad.failed, bad.total), (good.failed, good.total))
    return alike <= _LOOK_ALIKE


def _up_to(most: int, verdicts: Sequence[Verdict]) -> int:
    return most - len(verdicts)


def _counting(
    missing_runs: Callable[[Sequence[Verdict]], int],
    earlier: list[Verdict],
    verdicts: Sequence[Verdict],
) -> int:
    return missing_runs([*earlier, *verdicts])
