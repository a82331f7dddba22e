"""The search for the first bad version where a bad version does not fail each time.

Both ends are measured first; then the plan is said: how often it fails, how many runs that will
take, and the chance of a wrong answer. Each run on the way is weighed (`NoisyBisection`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NoReturn

from whet.bisection.odds import Odds, odds_picture
from whet.bisection.terms import Terms
from whet.core.budget import StopReason
from whet.core.errors import EndMisjudged
from whet.core.event import Event, Notice, SuspicionChanged, TrialFinished
from whet.core.oracle import Oracle
from whet.core.quantity import shown_count
from whet.core.verdict import Verdict
from whet.search.failure_rates import FailureRates, Runs
from whet.search.noisy_bisection import NoisyBisection, NoisyResult
from whet.search.noisy_plan import expected_runs
from whet.search.proposal import Search
from whet.search.rates import chance_of_no_difference, passes_to_be_sure
from whet.search.walk_back import WalkBackResult, walk_back
from whet.workbench.bench import RecordedExecutor, oracle_of
from whet.workbench.driver import Driver, Ended, Question, announce, stop_reason_of
from whet.workbench.investigation import NoisySearch, Suspect, TestedVersion, VersionSearch
from whet.workbench.noisy_ends import MeasuredEnds
from whet.workbench.repeated import Ran
from whet.workbench.reproduce import reference_of
from whet.workbench.versions import FirstBad, VersionHunt, Versions

CONFIDENCE = 0.95

FIRST_RUNS = 3
"""So often the failing end is run before it is taken for one that always fails."""

_LEAST_RUNS, _MOST_RUNS = 10, 60
"""Of a flaky end."""

_FAILURES = 3
_RUNNERS_UP = 5
_WORTH_A_WORD = 0.02
_LOOK_ALIKE = 0.05
"""Ends that would look so different by chance with more than this are run more often."""

_NOT_WORTH_A_WORD = 0.0005
_WRONG_END = 0.01
"""Chance with which a bad version is taken for a good end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """What is known and wanted of a failure that may come only sometimes.

    Attributes:
        confidence: how likely the answer must be.
        first_runs: how often the failing end is run to see whether it always fails.
        fails_if_bad: how often a bad version fails, if that is known.
        fails_if_good: how often a good version fails, if that is known.
        is_certain: it is known to come only sometimes.
    """

    confidence: float = CONFIDENCE
    first_runs: int = FIRST_RUNS
    fails_if_bad: float | None = None
    fails_if_good: float | None = None
    is_certain: bool = False

    @property
    def are_rates_known(self) -> bool:
        """Whether nothing is left to be estimated."""
        return self.fails_if_bad is not None and self.fails_if_good is not None


def find_first_bad(hunt: VersionHunt, noise: Noise, *, jobs: int = 1) -> FirstBad:
    """Search the first bad version, weighing runs if the failing end does not always fail.

    Args:
        hunt: the search as it is where a version fails always or never.
        noise: what is known of how often it fails.
        jobs: runs at once, of a search that weighs them.

    Raises:
        EndMisjudged, EndsReversed: if an end is not what it was said to be.
    """
    measured = MeasuredEnds(hunt=hunt, jobs=jobs)
    if not noise.is_certain and not measured.is_flaky(noise.first_runs):
        return hunt.run()
    return _NoisyHunt(hunt=hunt, noise=noise, ends=measured, jobs=jobs).run()


@dataclass(slots=True, kw_only=True)
class _NoisyHunt:
    """One search that weighs runs."""

    hunt: VersionHunt
    noise: Noise
    ends: MeasuredEnds
    jobs: int
    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    _remarks: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def versions(self) -> Versions:
        return self.hunt.versions

    @property
    def terms(self) -> Terms:
        return self.hunt.terms

    def run(self) -> FirstBad:
        hunt = self.hunt
        for remark in self.versions.remarks:
            hunt.bench.emit(Notice(text=remark))
        place = self.versions.place
        with hunt.bench.executor(hunt.record, jobs=self.jobs, place=place) as executor:
            self._settle_terms(executor)
            oracle = self._failing_end(executor)
            if self.versions.old is None:
                walked = self._walk_back(executor, oracle)
                if self.versions.old is None:
                    return self._nothing_good(oracle, walked)
            assert self.versions.old is not None
            self._other_end(executor, oracle)
            bisection = self._bisection(oracle)
            plan = self._plan(bisection, oracle)
            hunt.bench.emit(Notice(text=plan))
            driver = self._driver(executor, oracle)
            ended = driver.run(self._narrated(bisection), self._ask)
        return self._found(bisection, oracle, ended, plan)

    # ---- the ends ----

    def _settle_terms(self, executor: RecordedExecutor) -> None:
        """See which end fails more often, where the words for the sides do not say."""
        old = self.versions.old
        if self.terms.old_verdict is not None or old is None:
            return
        failed = {
            version: sum(
                each.verdict is Verdict.BAD
                for each in self.ends.measure(
                    executor, version, lambda verdicts: _LEAST_RUNS - len(verdicts)
                )
            )
            for version in (old, self.versions.new)
        }
        is_fix = failed[old] > failed[self.versions.new]
        self.hunt.terms = self.terms.settled_by(Verdict.BAD if is_fix else Verdict.GOOD)

    def _failing_end(self, executor: RecordedExecutor) -> Oracle:
        """Measure the end that should fail; its most frequent failure is what is looked for."""
        failing = self.ends.failing

        def more(verdicts: Sequence[Verdict]) -> int:
            count, failed = len(verdicts), verdicts.count(Verdict.BAD)
            if count < _LEAST_RUNS:
                return _LEAST_RUNS - count
            return min(self.jobs, _MOST_RUNS - count) if failed < _FAILURES else 0

        runs = self.ends.measure(executor, failing, more)
        pairs = [(each.number, each.outcome) for each in runs]
        reference = reference_of(self.hunt.judging, pairs)
        if reference is None:
            self._refuse(failing, runs, f"passes in each of {len(runs)} runs")
        return self.hunt.oracle or oracle_of(self.hunt.judging, reference)

    def _other_end(self, executor: RecordedExecutor, oracle: Oracle) -> None:
        """Measure the other end so often that it is not taken for good by chance."""
        versions = self.versions
        other = versions.old if self.ends.failing == versions.new else versions.new
        assert other is not None
        seen = self._counted(self.ends.failing, oracle)
        rate = seen.failed / seen.total if not self.terms.is_fix else seen.passed / seen.total
        wanted = passes_to_be_sure(rate, 1 - _WRONG_END) or _LEAST_RUNS
        wanted = min(max(wanted, _LEAST_RUNS), _MOST_RUNS)
        runs = self.ends.measure(executor, other, lambda known: wanted - len(known), oracle)
        while not self._differ(oracle):
            if len(runs) >= _MOST_RUNS:
                failed = sum(oracle.judge(each.outcome) is Verdict.BAD for each in runs)
                did = f"fails in {failed} of {len(runs)} runs, the other end no more often"
                self._refuse(other, runs, did)
            for each in (self.ends.failing, other):
                most = min(len(self.ends.runs[each]) + _LEAST_RUNS, _MOST_RUNS)
                self.ends.measure(executor, each, partial(_up_to, most), oracle)

    def _differ(self, oracle: Oracle) -> bool:
        """Whether the new end is told BAD clearly more often than the old one."""
        old, new = (
            self._counted(each, oracle) for each in (self.versions.old or "", self.versions.new)
        )
        alike = chance_of_no_difference((new.failed, new.total), (old.failed, old.total))
        return alike <= _LOOK_ALIKE

    def _counted(self, version: str, oracle: Oracle) -> Runs:
        """Return how the runs of an end were told: a failure is a run of the new kind."""
        runs = self.ends.runs.get(version, [])
        told = [self.terms.for_search(oracle.judge(each.outcome)) for each in runs]
        return Runs(told.count(Verdict.BAD), told.count(Verdict.GOOD))

    def _refuse(self, version: str, runs: Sequence[Ran], did: str) -> NoReturn:
        terms = self.terms
        word = terms.new if version == self.versions.new else terms.old
        raise EndMisjudged(
            f"`{self.versions.label(version)}` was said to be {word}, but it {did}",
            hint=f"`whet show {runs[-1].number}` shows its last output; name another end",
        )

    def _walk_back(self, executor: RecordedExecutor, oracle: Oracle) -> Ended[WalkBackResult]:
        """Look for an old end; a version that never fails in so many runs is one."""
        runs = self._counted(self.versions.new, oracle)
        line, landmarks = self.versions.line()
        driver = self._driver(executor, oracle)
        driver.repeats = passes_to_be_sure(runs.failed / runs.total, 1 - _WRONG_END) or 1
        ended = driver.run(
            walk_back(len(line) - 1, landmarks), lambda distance: self._ask(line[distance])
        )
        if ended.result is not None and ended.result.good is not None:
            self.hunt.versions = replace(self.versions, old=line[ended.result.good])
        return ended

    # ---- the search ----

    def _bisection(self, oracle: Oracle) -> NoisyBisection[str]:
        old, new = self.versions.old, self.versions.new
        assert old is not None
        noise = self.noise
        if_bad, if_good = noise.fails_if_bad, noise.fails_if_good
        if self.terms.is_fix:  # the new kind is the one that passes
            if_bad, if_good = _other(if_good), _other(if_bad)
        return NoisyBisection(
            self.versions.bisection(old, new).lineage,
            rates=FailureRates.of(if_bad, if_good),
            ends=(self._counted(new, oracle), self._counted(old, oracle)),
            confidence=noise.confidence,
            at_once=self.jobs,
        )

    def _driver(self, executor: RecordedExecutor, oracle: Oracle) -> Driver:
        hunt = self.hunt
        return Driver(
            executor=executor,
            oracle=oracle,
            emit=self._observe,
            budget=hunt.budget,
            jobs=self.jobs,
            judged=lambda number, verdict: hunt.bench.notebook.judge(
                number, oracle.description, verdict, None
            ),
            told=self.terms.for_search,
        )

    def _ask(self, version: str) -> Question:
        trial = self.versions.on(self.hunt.trial, version)
        return Question(trial=trial, label=self.versions.label(version))

    def _observe(self, event: Event) -> None:
        """Keep of each version a trial that says most of it, a failing one if there is one."""
        if isinstance(event, TrialFinished) and event.number is not None:
            failure = event.outcome.failure
            if event.verdict is not Verdict.GOOD or event.label not in self._numbers:
                self._numbers[event.label] = event.number
                self._remarks[event.label] = "passes" if failure is None else failure.summary
        elif isinstance(event, Notice):
            label, skipped, why = event.text.partition(": skipped: ")
            if skipped:
                self._remarks[label] = why
        self.hunt.bench.emit(event)

    def _narrated(self, bisection: NoisyBisection[str]) -> Search[str, NoisyResult[str]]:
        """Pass the search on and tell after each batch who is suspected."""
        search = bisection.search()
        try:
            batch = next(search)
            while True:
                verdicts = yield batch
                asked = tuple(batch)
                try:
                    batch = search.send(verdicts)
                finally:
                    self._tell(bisection, asked, verdicts)
        except StopIteration as end:
            result: NoisyResult[str] = end.value
            return result

    def _tell(
        self, bisection: NoisyBisection[str], asked: Sequence[str], told: Sequence[Verdict]
    ) -> None:
        suspect, probability = bisection.likeliest()
        self.hunt.bench.emit(
            SuspicionChanged(
                tested=tuple(
                    (self.versions.label(version), self.terms.for_search(verdict))
                    for version, verdict in zip(asked, told, strict=True)
                ),
                suspect=self.versions.label(suspect),
                probability=probability,
                runs_left=self._runs_left(bisection),
            )
        )

    def _runs_left(self, bisection: NoisyBisection[str]) -> int:
        return expected_runs(
            bisection.entropy_bits,
            bisection.rates,
            self.noise.confidence,
            are_rates_known=self.noise.are_rates_known,
        )

    def _plan(self, bisection: NoisyBisection[str], oracle: Oracle) -> str:
        """Return what is said before it begins."""
        label, terms = self.versions.label, self.terms
        ends = [
            f"`{label(each)}` in {self._fails(each, oracle)}"
            for each in (self.versions.new, self.versions.old or "")
        ]
        if_bad, if_good = bisection.rates
        failing, passing = terms.new, terms.old
        if terms.is_fix:  # the new kind is the one that passes
            if_bad, if_good, failing, passing = 1 - if_good, 1 - if_bad, passing, failing
        also = f" and {if_good:.0%} of {passing} ones" if if_good >= _WORTH_A_WORD else ""
        sure = 100 * self.noise.confidence
        return (
            f"flaky: it fails on {ends[0]}, on {ends[1]};"
            f" fails in about {if_bad:.0%} of {failing} runs{also};"
            f" about {shown_count(self._runs_left(bisection), 'run')} to {sure:.4g} % confidence;"
            f" chance of a wrong answer ≤ {100 - sure:.2g} %"
        )

    def _fails(self, version: str, oracle: Oracle) -> str:
        runs = self.ends.runs.get(version, [])
        failed = sum(oracle.judge(each.outcome) is Verdict.BAD for each in runs)
        return f"{failed} of {len(runs)} runs"

    # ---- the answer ----

    def _found(
        self,
        bisection: NoisyBisection[str],
        oracle: Oracle,
        ended: Ended[NoisyResult[str]],
        plan: str,
    ) -> FirstBad:
        result = ended.result or bisection.result()
        reason = stop_reason_of(ended, result.stopped)
        announce(self.hunt.bench.emit, ended, reason)
        label, first_bad = self.versions.label, result.first_bad
        search = replace(
            self._search(reason, ended),
            good=label(result.last_good or self.versions.old or ""),
            first_bad=None if first_bad is None else label(first_bad),
            first_bad_description="" if first_bad is None else self.versions.details(first_bad),
            suspects=tuple(map(label, result.suspects)),
            between=len(result.ranking) - 1,
            tested=self._tested(oracle, result),
            picture=self._picture(bisection, result),
            noisy=self._how_sure(result, plan),
        )
        return FirstBad(
            search=search, oracle=oracle, last_good=result.last_good, first_bad=first_bad
        )

    def _search(self, reason: StopReason, ended: Ended[object]) -> VersionSearch:
        return VersionSearch(
            kind=self.versions.kind,
            subject=self.versions.subject,
            old_term=self.terms.old,
            new_term=self.terms.new,
            good="",
            bad=self.versions.label(self.versions.new),
            first_bad=None,
            stopped=reason,
            trials=ended.trials + sum(map(len, self.ends.runs.values())),
            wall_seconds=ended.wall_seconds,
        )

    def _nothing_good(self, oracle: Oracle, walked: Ended[WalkBackResult]) -> FirstBad:
        reason = stop_reason_of(walked, StopReason.NO_GOOD_VERSION)
        announce(self.hunt.bench.emit, walked, reason)
        search = replace(self._search(reason, walked), hint=self.versions.deeper())
        return FirstBad(search=search, oracle=oracle, last_good=None, first_bad=None)

    def _tested(self, oracle: Oracle, result: NoisyResult[str]) -> tuple[TestedVersion, ...]:
        label = self.versions.label
        ends = (self.versions.new, self.versions.old or "")
        runs = {each: self._counted(each, oracle) for each in ends}
        for version, more in result.runs.items():
            known = runs.get(version, Runs())
            runs[version] = Runs(known.failed + more.failed, known.passed + more.passed)
        named = self.versions.describe([*runs, *result.skipped])
        tested = [
            TestedVersion(
                label=label(version),
                verdict=self.terms.for_search(Verdict.BAD if done.failed else Verdict.GOOD),
                trial=self._number(version),
                description=named.get(version, ""),
                remark=f"{done.failed} of {done.total} runs {self.terms.new}",
            )
            for version, done in runs.items()
        ]
        return (*tested, *(self._skipped(each, named.get(each, "")) for each in result.skipped))

    def _skipped(self, version: str, description: str) -> TestedVersion:
        label = self.versions.label(version)
        return TestedVersion(
            label=label, verdict=Verdict.SKIP, trial=self._number(version),
            description=description, remark=self._remarks.get(label, ""),
        )  # fmt: skip

    def _number(self, version: str) -> int | None:
        runs = self.ends.runs.get(version)
        return runs[-1].number if runs else self._numbers.get(self.versions.label(version))

    def _picture(self, bisection: NoisyBisection[str], result: NoisyResult[str]) -> str:
        odds = Odds(
            probability=bisection.posterior(),
            runs=result.runs,
            skipped=frozenset(result.skipped),
            first_bad=result.first_bad,
            word=self.terms.new,
        )
        named = self.versions.describe(list(odds.probability))
        label = self.versions.label
        return odds_picture(odds, lambda version: f"{label(version)} {named.get(version, '')}")

    def _how_sure(self, result: NoisyResult[str], plan: str) -> NoisySearch:
        likely = [each for each in result.ranking[: _RUNNERS_UP + 1] if each[1] > _NOT_WORTH_A_WORD]
        named = self.versions.describe([version for version, _ in likely])
        runners_up = [
            Suspect(
                label=self.versions.label(version),
                description=named.get(version, ""),
                probability=probability,
            )
            for version, probability in likely
            if version != result.first_bad
        ]
        ends = sum(map(len, self.ends.runs.values()))
        return NoisySearch(
            plan=plan,
            confidence=self.noise.confidence,
            probability=result.probability,
            runners_up=tuple(runners_up[:_RUNNERS_UP]),
            fails_if_bad=result.fails_if_bad,
            fails_if_good=result.fails_if_good,
            is_edge_tested=result.is_edge_tested,
            runs=ends + sum(each.total for each in result.runs.values()),
        )


def _up_to(most: int, verdicts: Sequence[Verdict]) -> int:
    return most - len(verdicts)


def _other(share: float | None) -> float | None:
    return None if share is None else 1 - share
