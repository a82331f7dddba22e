"""The result of a search for a flaky failure, to display."""

from collections.abc import Mapping
from dataclasses import replace

from whet.bisection.odds import Odds, odds_picture
from whet.bisection.terms import Terms
from whet.core.budget import StopReason
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.flaky.failure_rates import Runs
from whet.search.flaky.noisy_bisection import NoisyBisection, NoisyResult
from whet.search.flaky.rates import wilson
from whet.workbench.trials.driver import Ended
from whet.workbench.trials.investigation import NoisySearch, Suspect, TestedVersion, VersionSearch
from whet.workbench.versions.noisy_ends import MeasuredEnds
from whet.workbench.versions.version_source import Versions

_RUNNERS_UP = 5
_NOT_WORTH_A_WORD = 0.0005
_RATES_CONFIDENCE = 0.95


@value_class(kw_only=True)
class Noted:
    """What is kept of a version: a trial that shows it, if one was run, and what came."""

    trial: int | None
    remark: str


@value_class(kw_only=True)
class NoisyAnswer:
    """Puts an answer together.

    Attributes:
        versions: where it was searched.
        terms: what the sides are called.
        confidence: how likely the answer had to be.
        ends: both ends, measured.
        noted: what is kept of each version, by label.
    """

    versions: Versions
    terms: Terms
    confidence: float
    ends: MeasuredEnds
    noted: Mapping[str, Noted]

    def found(
        self,
        bisection: NoisyBisection[str],
        result: NoisyResult[str],
        reason: StopReason,
        end: Ended[NoisyResult[str]],
        plan: str,
    ) -> VersionSearch:
        """Return what was found, also by a search that was stopped early."""
        label, first_bad = self.versions.label, result.first_bad
        return replace(
            self.nothing(reason, end),
            good=label(result.last_good or self.versions.old or ""),
            first_bad=None if first_bad is None else label(first_bad),
            first_bad_description="" if first_bad is None else self.versions.details(first_bad),
            suspects=tuple(map(label, result.suspects)),
            between=len(result.ranking) - 2,
            tested=self._tested(result),
            picture=self._picture(bisection, result),
            noisy=self._how_sure(bisection, result, plan),
        )

    def nothing(self, reason: StopReason, end: Ended[object]) -> VersionSearch:
        """Return that nothing was found."""
        return VersionSearch(
            kind=self.versions.kind,
            subject=self.versions.subject,
            old_term=self.terms.old,
            new_term=self.terms.new,
            good="",
            bad=self.versions.label(self.versions.new),
            first_bad=None,
            stopped=reason,
            trials=end.trials + self.ends.count,
            wall_seconds=end.wall_seconds,
        )

    def _tested(self, result: NoisyResult[str]) -> tuple[TestedVersion, ...]:
        label = self.versions.label
        ends = (self.versions.new, self.versions.old or "")
        runs = {each: result.runs.get(each, Runs()) for each in ends} | dict(result.runs)
        descriptions = self.versions.describe([*runs, *result.skipped])
        rows = [
            TestedVersion(
                label=label(version),
                verdict=self.terms.for_search(Verdict.BAD if counts.failed else Verdict.GOOD),
                trial=self._number(version),
                description=descriptions.get(version, ""),
                remark=f"{counts.failed} of {counts.total} runs {self.terms.new}",
            )
            for version, counts in runs.items()
        ]
        return (
            *rows,
            *(self._skipped(each, descriptions.get(each, "")) for each in result.skipped),
        )

    def _skipped(self, version: str, description: str) -> TestedVersion:
        label = self.versions.label(version)
        return TestedVersion(
            label=label, verdict=Verdict.SKIP, trial=self._number(version),
            description=description, remark=self.noted[label].remark if label in self.noted else "",
        )  # fmt: skip

    def _number(self, version: str) -> int | None:
        runs = self.ends.runs.get(version)
        if runs:
            return runs[-1].number
        noted = self.noted.get(self.versions.label(version))
        return None if noted is None else noted.trial

    def _picture(self, bisection: NoisyBisection[str], result: NoisyResult[str]) -> str:
        odds = Odds(
            probability=bisection.posterior(),
            runs=result.runs,
            skipped=frozenset(result.skipped),
            first_bad=result.first_bad,
            word=self.terms.new,
        )
        descriptions = self.versions.describe(list(odds.probability))
        label = self.versions.label
        return odds_picture(
            odds, lambda version: f"{label(version)} {descriptions.get(version, '')}"
        )

    def _how_sure(
        self, bisection: NoisyBisection[str], result: NoisyResult[str], plan: str
    ) -> NoisySearch:
        likely = [each for each in result.ranking[: _RUNNERS_UP + 1] if each[1] > _NOT_WORTH_A_WORD]
        descriptions = self.versions.describe([version for version, _ in likely])
        runners_up = [
            Suspect(
                label=self.versions.label(version),
                description=descriptions.get(version, ""),
                probability=probability,
            )
            for version, probability in likely
            if version != result.first_bad
        ]
        if_bad, if_good = (
            wilson(each.failed, each.total, _RATES_CONFIDENCE) for each in bisection.sides
        )
        return NoisySearch(
            plan=plan,
            confidence=self.confidence,
            probability=result.probability,
            runners_up=tuple(runners_up[:_RUNNERS_UP]),
            fails_if_bad=result.fails_if_bad,
            fails_if_good=result.fails_if_good,
            if_bad_between=if_bad,
            if_good_between=if_good,
            is_edge_tested=result.is_edge_tested,
            runs=sum(each.total for each in result.runs.values()),
        )
