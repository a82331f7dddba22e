"""The search for the first bad version of a flaky failure.

It runs the failing end until it fails, and then reports the plan: the failure rate, the number of runs that
it expects, and the chance of a wrong answer. It weighs each run (`NoisyBisection`). The old end is a suspect
like all others: it runs as often as the question needs.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import median

from whet.bisection.terms import Terms
from whet.core.budget import StopReason
from whet.core.errors import EndMisjudged
from whet.core.event import Notice, SuspicionChanged
from whet.core.oracle import Oracle
from whet.core.text.quantity import shown_count
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.flaky.failure_rates import FailureRates
from whet.search.flaky.noisy_bisection import NoisyBisection, NoisyResult
from whet.search.flaky.noisy_plan import expected_runs
from whet.search.flaky.rates import passes_to_be_sure
from whet.search.flaky.stretches import line_of_odds
from whet.search.history.walk_back import WalkBackResult, walk_back
from whet.search.proposal import Search
from whet.workbench.trials.driver import Driver, Ended, Question, stop_reason_of
from whet.workbench.trials.session import RecordedExecutor
from whet.workbench.trials.tested import Tested
from whet.workbench.versions.noisy_answer import NoisyAnswer, Noted
from whet.workbench.versions.noisy_ends import WRONG_END, MeasuredEnds, differ
from whet.workbench.versions.version_source import Versions
from whet.workbench.versions.versions import FirstBad, VersionHunt

CONFIDENCE = 0.95

FIRST_RUNS = 1
"""How often whet runs the failing end before the search; it rechecks the answer at the end."""

_IF_IT_PASSES = 2
"""How often whet reruns each end if the one that should fail passes."""

_MOST_RECALLED = 5000
"""With more suspects, looking each up costs more than the runs that it can save."""

_WORTH_A_WORD = 0.02
_QUICK_SECONDS = 0.5
"""The times of shorter runs differ more by chance than by version."""

_WHOLE = "`--first-parent` doesn't apply: a statistical search takes the whole graph at once"


@value_class(kw_only=True)
class Noise:
    """What is known and wanted of a failure that may come only sometimes.

    Attributes:
        confidence: how likely the answer must be.
        first_runs: how often the failing end is run before the search.
        failures: how often it was run before, and failed each time.
        fails_if_bad: how often a bad version fails, if that is known.
        fails_if_good: how often a good version fails, if that is known.
        is_certain: it is known to come only sometimes.
    """

    confidence: float = CONFIDENCE
    first_runs: int = FIRST_RUNS
    failures: int = 0
    fails_if_bad: float | None = None
    fails_if_good: float | None = None
    is_certain: bool = False

    @property
    def are_rates_known(self) -> bool:
        """Whether nothing is left to be estimated."""
        return self.fails_if_bad is not None and self.fails_if_good is not None


def find_first_bad(hunt: VersionHunt, noise: Noise, *, jobs: int = 1) -> FirstBad:
    """Search the first bad version, weighing runs if a version doesn't always do the same.

    A failure is taken for one that always comes until a run shows the opposite: one of the
    ends, or one of those by which the answer is looked at again.

    Args:
        hunt: the search as it is where a version fails always or never.
        noise: what is known of how often it fails.
        jobs: runs at once, of a search that weighs them.

    Raises:
        EndMisjudged, EndsReversed: if an end isn't what it was said to be.
    """
    measured = MeasuredEnds(hunt=hunt, jobs=jobs)
    noisy = _NoisyHunt(hunt=hunt, noise=noise, ends=measured, jobs=jobs)
    if noise.is_certain or measured.is_flaky(noise.first_runs):
        return noisy.run()
    is_weighed = hunt.session.weighing is not None  # each verdict is one of many runs
    hunt.failures = None if is_weighed else noise.failures + noise.first_runs - 1
    as_asked = hunt.versions, hunt.terms
    try:
        answer = hunt.run()
    except EndMisjudged:
        if is_weighed or not (hunt.is_failing_end_good and measured.fails_sometimes(_IF_IT_PASSES)):
            raise
    else:
        if not answer.did_both:
            return answer
        text = f"`{answer.did_both}` ended differently in a second run: flaky"
        hunt.session.emit(Notice(text=f"{text}; from here on, the search is statistical"))
    # What was concluded on the way may be wrong; the runs themselves count.
    versions, hunt.terms = as_asked
    hunt.versions = replace(versions, remarks=())
    return noisy.run()


@dataclass(slots=True, kw_only=True)
class _NoisyHunt:
    """One search that weighs runs."""

    hunt: VersionHunt
    noise: Noise
    ends: MeasuredEnds
    jobs: int
    _noted: dict[str, Noted] = field(default_factory=dict[str, Noted])
    _told: dict[str, int] = field(default_factory=dict[str, int])
    _times: dict[str, list[float]] = field(default_factory=dict[str, list[float]])

    @property
    def versions(self) -> Versions:
        return self.hunt.versions

    @property
    def terms(self) -> Terms:
        return self.hunt.terms

    def run(self) -> FirstBad:
        hunt = self.hunt
        for remark in self.versions.remarks:
            hunt.session.emit(Notice(text=remark))
        place = self.versions.place
        with hunt.session.executor(jobs=self.jobs, place=place) as executor:
            self.ends.settle_terms(executor)
            oracle = self.ends.reference(executor)
            if self.versions.old is None:
                walked = self._walk_back(executor, oracle)
                if self.versions.old is None:
                    return self._nothing_good(oracle, walked)
            bisection = self._bisection(oracle)
            self._recall(bisection, oracle)
            plan = self._plan(bisection, oracle)
            hunt.session.emit(Notice(text=plan))
            driver = self._driver(executor, oracle)
            end = driver.run(self._narrated(bisection), self._ask, heard=self._note)
            if end.stopped is None and self._has_doubtful_ends(bisection):
                self.ends.confirm(executor, oracle)
                self._tell_ends(bisection, oracle)
                driver.budget = self.ends.budget_left.less(end.wall_seconds, end.trials)
                before = end
                end = driver.run(self._narrated(bisection), self._ask, heard=self._note)
                end = replace(
                    end,
                    trials=before.trials + end.trials,
                    wall_seconds=before.wall_seconds + end.wall_seconds,
                )
        result = end.result or bisection.result()
        reason = stop_reason_of(end, result.stopped)
        hunt.session.stopped(reason, end.trials, end.wall_seconds)
        answer = self._answer()
        return FirstBad(
            search=answer.found(bisection, result, reason, end, plan),
            oracle=oracle,
            last_good=result.last_good,
            first_bad=result.first_bad,
        )

    def _answer(self) -> NoisyAnswer:
        return NoisyAnswer(
            versions=self.versions, terms=self.terms, confidence=self.noise.confidence,
            ends=self.ends, noted=self._noted,
        )  # fmt: skip

    def _nothing_good(self, oracle: Oracle, walked: Ended[WalkBackResult]) -> FirstBad:
        reason = stop_reason_of(walked, StopReason.NO_GOOD_VERSION)
        self.hunt.session.stopped(reason, walked.trials, walked.wall_seconds)
        search = replace(self._answer().nothing(reason, walked), hint=self.versions.deeper())
        return FirstBad(search=search, oracle=oracle, last_good=None, first_bad=None)

    def _walk_back(self, executor: RecordedExecutor, oracle: Oracle) -> Ended[WalkBackResult]:
        """Look for an old end: a version that never fails in as many runs as that takes."""
        runs = self.ends.counted(self.versions.new, oracle)
        line, landmarks = self.versions.line()
        driver = self._driver(executor, oracle)
        driver.repeats = passes_to_be_sure(runs.failed / runs.total, 1 - WRONG_END) or 1
        end = driver.run(
            walk_back(len(line) - 1, landmarks),
            lambda distance: self._ask(line[distance]),
            heard=self._note,
        )
        if end.result is not None and end.result.good is not None:
            self.hunt.versions = replace(self.versions, old=line[end.result.good])
        return end

    # ---- the search ----

    def _has_doubtful_ends(self, bisection: NoisyBisection[str]) -> bool:
        """Whether the answer may come of ends that do the same."""
        old = bisection.runs.get(self.versions.old or "")
        return (old is not None and old.failed > 0) or not differ(*bisection.sides)

    def _tell_ends(self, bisection: NoisyBisection[str], oracle: Oracle) -> None:
        """Take note of those runs of the ends that were not told yet."""
        for end in (self.versions.old or "", self.versions.new):
            count = self._told.get(end, 0)
            verdicts = self.ends.verdicts(end, oracle)[count:]
            self._told[end] = count + len(verdicts)
            bisection.tell([end] * len(verdicts), verdicts)

    def _bisection(self, oracle: Oracle) -> NoisyBisection[str]:
        old, new = self.versions.old, self.versions.new
        assert old is not None
        noise = self.noise
        if_bad, if_good = noise.fails_if_bad, noise.fails_if_good
        if self.terms.is_fix:  # the new kind is the one that passes
            if_bad, if_good = _other(if_good), _other(if_bad)
        if self.versions.is_grouped:
            # What is likely enough to be a merge alone is less likely to be one commit of it.
            self.hunt.session.emit(Notice(text=_WHOLE))
        bisection = NoisyBisection(
            {old: (), **self.versions.whole(old, new).lineage},
            rates=FailureRates.of(if_bad, if_good),
            confidence=noise.confidence,
            at_once=self.jobs,
            seconds=self._seconds,
        )
        self._tell_ends(bisection, oracle)
        return bisection

    def _seconds(self, version: str) -> float:
        """Return how long a version's run takes, as far as runs have shown.

        As a power of two: who is run next must not follow from a machine that is a little busier.
        """
        seconds = self._times.get(self.versions.label(version))
        times = seconds or [each for some in self._times.values() for each in some]
        return 2.0 ** round(math.log2(max(median(times), _QUICK_SECONDS))) if times else 1.0

    def _recall(self, bisection: NoisyBisection[str], oracle: Oracle) -> None:
        """Count the runs of earlier searches of the same trial, one that was stopped for one.

        The end that fails is run again.
        """
        ends = {self.versions.old, self.versions.new}
        suspects = [each for each in bisection.posterior() if each not in ends]
        if len(suspects) > _MOST_RECALLED:
            return
        recalled: list[tuple[str, Verdict]] = []
        for version in suspects:
            trial = self.versions.on(self.hunt.trial, version)
            recalled += [
                (version, self.terms.for_search(oracle.judge(outcome)))
                for outcome in self.hunt.session.bench.notebook.outcomes_for(trial)
            ]
        if recalled:
            versions, verdicts = zip(*recalled, strict=True)
            bisection.tell(versions, verdicts)
            runs = shown_count(len(recalled), "earlier run")
            self.hunt.session.emit(Notice(text=f"{runs} of these versions count too"))

    def _driver(self, executor: RecordedExecutor, oracle: Oracle) -> Driver:
        hunt = self.hunt
        return Driver(
            executor=executor,
            oracle=oracle,
            tell=hunt.session.tell,
            budget=self.ends.budget_left,
            jobs=self.jobs,
            told=self.terms.for_search,
        )

    def _ask(self, version: str) -> Question:
        return self.versions.question(self.hunt.trial, version)

    def _note(self, ran: Tested[object]) -> None:
        """Keep of each version a trial that says most of it, a failing one if there is one."""
        if ran.number is not None:
            self._times.setdefault(ran.label, []).append(ran.outcome.wall_seconds)
        if ran.verdict is not Verdict.GOOD or ran.label not in self._noted:
            self._noted[ran.label] = Noted(trial=ran.number, remark=ran.did)

    def _narrated(self, bisection: NoisyBisection[str]) -> Search[str, NoisyResult[str]]:
        """Pass the search on and tell after each batch who is suspected."""
        search = bisection.search()
        try:
            batch = next(search)
            while True:
                verdicts = yield batch
                question = tuple(batch)
                try:
                    batch = search.send(verdicts)
                finally:
                    self._tell(bisection, question, verdicts)
        except StopIteration as end:
            result: NoisyResult[str] = end.value
            return result

    def _tell(
        self, bisection: NoisyBisection[str], question: Sequence[str], verdicts: Sequence[Verdict]
    ) -> None:
        suspect, probability = bisection.likeliest()
        self.hunt.session.emit(
            SuspicionChanged(
                tested=tuple(
                    (self.versions.label(version), self.terms.for_search(verdict))
                    for version, verdict in zip(question, verdicts, strict=True)
                ),
                suspect=self.versions.label(suspect),
                probability=probability,
                runs_left=self._runs_left(bisection),
                line=line_of_odds(bisection, {self.versions.new: Verdict.BAD}),
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
        terms = self.terms
        fails = ", on ".join(
            self.ends.in_words(each, oracle)
            for each in (self.versions.new, self.versions.old or "")
            if self.ends.runs.get(each)
        )
        if_bad, if_good = bisection.rates
        failing, passing = terms.new, terms.old
        if terms.is_fix:  # the new kind is the one that passes
            if_bad, if_good, failing, passing = 1 - if_good, 1 - if_bad, passing, failing
        also = f" and {if_good:.0%} of {passing} ones" if if_good >= _WORTH_A_WORD else ""
        sure = 100 * self.noise.confidence
        return (
            f"flaky: it fails on {fails};"
            f" fails in about {if_bad:.0%} of {failing} runs{also};"
            f" about {shown_count(self._runs_left(bisection), 'run')} to {sure:.4g} % confidence;"
            f" chance of a wrong answer ≤ {100 - sure:.2g} %"
        )


def _other(share: float | None) -> float | None:
    return None if share is None else 1 - share
