"""The search for the first bad version, for any kind of version."""

import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeAlias

from whet.bisection.terms import Terms
from whet.core.budget import Budget, StopReason
from whet.core.event import HistoryNarrowed, Notice
from whet.core.executor import Executor
from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.text.quantity import shown_count
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.answering import answering
from whet.search.flaky.answer_check import AnswerCheck, second_look
from whet.search.flaky.stretches import line_of_bisection
from whet.search.history.bisection import Bisection, BisectionResult
from whet.search.history.version_graph import only
from whet.search.history.walk_back import WalkBackResult, walk_back
from whet.search.history.what_matters import bisect_what_matters
from whet.search.proposal import Search
from whet.workbench.files.pasted_line import Shell
from whet.workbench.trials.driver import (
    HOLDS_NO_MORE,
    Driver,
    Ended,
    Question,
    stop_reason_of,
)
from whet.workbench.trials.investigation import LookedAgain, PastedLine, VersionSearch
from whet.workbench.trials.placing import PlacingExecutor
from whet.workbench.trials.session import RecordedExecutor, Session
from whet.workbench.versions.ends import Ahead, Ends
from whet.workbench.versions.equivalent_versions import EquivalentVersions
from whet.workbench.versions.graded import LikeFailure, graded
from whet.workbench.versions.missing_packages import hint_of_missing
from whet.workbench.versions.unlike import Unlike
from whet.workbench.versions.version_source import Versions
from whet.workbench.versions.version_watch import VersionWatch, places_of

MOST_WEIGHED = 20_000
"""With more versions, weighing the evidence costs more than the runs that it can save."""

_Found: TypeAlias = tuple[Bisection[str], Ended[BisectionResult[str]]]


@value_class(kw_only=True)
class FirstBad:
    """What a search over versions found.

    Attributes:
        search: the answer, to be shown.
        oracle: what judged, with the reference failure in it.
        last_good: the last good version's id, or None.
        first_bad: the first bad version's id, or None.
        did_both: what was run twice and did not do the same, in a word; empty: nothing.
    """

    search: VersionSearch
    oracle: Oracle
    last_good: str | None
    first_bad: str | None
    did_both: str = ""


@dataclass(slots=True, kw_only=True)
class VersionHunt:
    """One search over versions under way.

    Attributes:
        session: runs the trials.
        trial: what is run on each version.
        versions: where to search.
        terms: what the sides are called.
        budget: when to stop.
        oracle: what judges, if a reference failure is known already.
        repeats: how often a version is tried before it counts as not failing.
        overlaps: two trials may run at once: the old end is checked beside the first steps.
        jobs: how many versions are tested at once.
        failures: how often it was run before on what fails, and failed each time; None: the
            answer isn't looked at again (`second_look`).
    """

    session: Session
    trial: Trial
    versions: Versions
    terms: Terms
    budget: Budget
    oracle: Oracle | None = None
    repeats: int = 1
    overlaps: bool = False
    jobs: int = 1
    failures: int | None = None
    _alike: EquivalentVersions | None = None
    _checked: Ends | None = None

    @property
    def is_failing_end_good(self) -> bool:
        """Whether the end that should fail was run and has passed."""
        return self._checked is not None and self._checked.is_failing_one_good

    def run(self) -> FirstBad:
        """Check both ends, and search between them.

        Raises:
            EndMisjudged, EndsReversed: if an end isn't what it was said to be.
        """
        for remark in self.versions.remarks:
            self.session.emit(Notice(text=remark))
        alike = self._alike = self._begin_alike()
        watch = VersionWatch(self.versions.describe, alike)
        rooms = threading.Semaphore(self.jobs)

        def place(executor: Executor) -> PlacingExecutor:
            return replace(self.versions.place(executor), rooms=rooms)

        session = replace(
            self.session,
            observe=None if alike is None else alike.observe,
            recalled=self.versions.recalled,
        )
        # The ends always run; between them a version that was run before isn't run again.
        with (
            session.executor(place=place) as for_ends,
            session.executor(jobs=self.jobs, cached=self.repeats == 1, place=place) as between,
        ):
            ends = self._checked = self._ends(for_ends, watch)
            ends.start()
            ahead = Ahead(inner=between)
            as_asked, old = self.versions, self.versions.old
            bisection = None if old is None else self.versions.bisection(old, self.versions.new)
            if bisection is not None and self.overlaps and alike is None:
                self._start_first(bisection, ahead)
            same = ends.reference()
            if not self.overlaps:
                ends.confirm(same)
            self.terms = ends.terms
            confirm = partial(self._confirm, ends, same)
            oracle = graded(same, ends.failing)
            answer = self._between(ahead, oracle, watch, confirm, bisection)
            if isinstance(answer, tuple) and not self._holds(answer, for_ends, oracle, watch):
                self.session.emit(Notice(text=HOLDS_NO_MORE))
                watch.forget_recalled()
                self._alike = None
                self.versions = as_asked
                answer = self._between(for_ends, oracle, watch, lambda _: None, None)
            recheck = self._look_again(answer, as_asked, for_ends, oracle, watch)
        if isinstance(answer, Ended):
            return self._nothing_good(oracle, answer, watch)
        bisection, ended = answer
        old = self.versions.old
        if old is not None and (self.versions.is_grouped or self.versions.new != as_asked.new):
            # Those tested on the way back lie between the ends too, and those inside a merge.
            count = self.versions.whole(old, as_asked.new).started_with - 1
        else:
            count = bisection.started_with - 1
        again = recheck or Ended(result=None, stopped=None, trials=0, wall_seconds=0.0)
        return self._found(bisection, ended, again, watch, oracle, between=count)

    def _found(
        self,
        bisection: Bisection[str],
        end: Ended[BisectionResult[str]],
        again: Ended[AnswerCheck[str]],
        watch: VersionWatch,
        oracle: Oracle,
        *,
        between: int,
    ) -> FirstBad:
        """Put the answer together, of the search and of the second look at it."""
        result = end.result or bisection.result()
        reason = stop_reason_of(replace(end, stopped=end.stopped or again.stopped), result.stopped)
        spent = end.wall_seconds + again.wall_seconds
        recheck = again.result
        differed = None if recheck is None else recheck.differed
        if differed is None:
            self.session.stopped(reason, len(watch.seen) + again.trials, spent)
        search = self._answer(bisection, result, reason, watch, oracle)
        return FirstBad(
            search=replace(
                search,
                between=between,
                wall_seconds=spent,
                trials=search.trials + again.trials,
                again=None
                if result.first_bad is None
                or differed is not None
                or self.session.weighing is not None  # one run of a line doesn't show a cost
                else self._again(result.first_bad, oracle),
                looked_again=None
                if recheck is None or result.first_bad is None
                else LookedAgain(runs=recheck.runs, doubts=recheck.doubts),
            ),
            oracle=oracle,
            last_good=result.last_good,
            first_bad=result.first_bad,
            did_both="" if differed is None else self.versions.label(differed),
        )

    def _again(self, version: str, oracle: Oracle) -> PastedLine | None:
        """Return the line that shows what a version does."""
        shell = Shell(
            session=self.session, trial=self._ask(version).trial, oracle=oracle,
            repeats=self.repeats, verdict=Verdict.GOOD if self.terms.is_fix else Verdict.BAD,
        )  # fmt: skip
        return self.versions.again(shell)

    def _begin_alike(self) -> EquivalentVersions | None:
        """Return what concludes from one version to another; None: what comes is chance.

        In a room it isn't the machine's files that a trial looks at, and `--fail` holds its calls.
        """
        is_seen = self.repeats == 1 and self.trial.limits.room is None
        if self.session.weighing is not None:
            return None  # what notes what a run looks at takes time
        if self.versions.equal is None or self.versions.observe is None or not is_seen:
            return None

        def for_search(verdict: Verdict) -> Verdict:
            return self.terms.for_search(verdict)  # the terms may be settled by the ends

        return EquivalentVersions(
            trees=self.versions.equal,
            read=self.session.bench.notebook.blobs.read,
            told=for_search,
            observed_at=self.versions.observe,
        )

    def _driver(self, executor: Executor, oracle: Oracle) -> Driver:
        return Driver(
            executor=executor,
            oracle=oracle,
            tell=self.session.tell,
            budget=self.budget,
            jobs=self.jobs,
            repeats=self.repeats,
            told=self.terms.for_search,
        )

    def _ask(self, version: str) -> Question:
        return self.versions.question(self.trial, version)

    # ---- the ends ----

    def _ends(self, executor: RecordedExecutor, watch: VersionWatch) -> Ends:
        return Ends(
            session=self.session,
            executor=executor,
            old=self.versions.old,
            new=self.versions.new,
            on=partial(self.versions.on, self.trial),
            label=self.versions.label,
            heard=watch.note,
            terms=self.terms,
            oracle=self.oracle,
        )

    def _start_first(self, bisection: Bisection[str], ahead: Ahead) -> None:
        """Start the first versions to test, one fewer than may run: an end runs beside them."""
        for version in bisection.questions(self.jobs)[: max(1, self.jobs - 1)]:
            ahead.start(self._ask(version).trial)

    def _confirm(self, ends: Ends, oracle: Oracle, steps: int) -> None:
        """Refuse wrong ends before more than two versions are tested in vain."""
        if ends.is_ready or steps > 1:
            ends.confirm(oracle)

    # ---- the search ----

    def _between(
        self,
        executor: Executor,
        oracle: Oracle,
        watch: VersionWatch,
        confirm: Callable[[int], None],
        bisection: Bisection[str] | None,
    ) -> _Found | Ended[WalkBackResult]:
        """Search between the ends, found by walking back if need be; else how that ended."""
        driver = self._driver(executor, oracle)
        walked = None if self.versions.old else self._walk_back(driver, watch)
        old = self.versions.old
        if walked is not None:
            if old is None:
                return walked
            driver.budget = self.budget.less(walked.wall_seconds, walked.trials)
        assert old is not None
        bisection = bisection or self.versions.bisection(old, self.versions.new)
        end = driver.run(
            self._narrated(bisection, confirm, watch, oracle), self._ask, heard=watch.note
        )
        first_bad = None if end.result is None else end.result.first_bad
        inner = None if first_bad is None else self.versions.inside(first_bad)
        if first_bad is not None and inner is not None and inner.started_with > 1:
            bisection, end = self._into(driver, first_bad, inner, end, watch)
        spent = 0.0 if walked is None else walked.wall_seconds
        return bisection, replace(end, wall_seconds=spent + end.wall_seconds)

    def _into(
        self,
        driver: Driver,
        version: str,
        inner: Bisection[str],
        so_far: Ended[BisectionResult[str]],
        watch: VersionWatch,
    ) -> _Found:
        """Search on in what ``version`` brought in."""
        count = shown_count(inner.started_with, self.versions.kind)
        label = self.versions.label(version)
        self.session.emit(Notice(text=f"{label} merged {count}: the search continues among them"))
        driver.budget = self.budget.less(so_far.wall_seconds, so_far.trials)
        search = self._narrated(inner, lambda _: None, watch, driver.oracle)
        end = driver.run(search, self._ask, heard=watch.note)
        return inner, replace(
            end,
            trials=so_far.trials + end.trials,
            wall_seconds=so_far.wall_seconds + end.wall_seconds,
        )

    def _holds(
        self, answer: _Found, executor: RecordedExecutor, oracle: Oracle, watch: VersionWatch
    ) -> bool:
        """Run the two versions that the answer rests on, where only the notebook knew them.

        The world may have changed in a way that no trial's key counts.
        """
        bisection, end = answer
        if end.stopped is StopReason.INTERRUPTED:
            return True
        result = end.result or bisection.result()
        driver = self._driver(executor, oracle)
        for version, verdict in ((result.last_good, Verdict.GOOD), (result.first_bad, Verdict.BAD)):
            if version is None or not self._is_to_be_seen(version, watch):
                continue
            question = self._ask(version)
            ran = driver.settle(question.trial, driver.submit(question.trial), question.label)
            watch.note(ran.of(version))
            if self.terms.for_search(ran.verdict) is not verdict:
                return False
        return True

    def _look_again(
        self,
        answer: _Found | Ended[WalkBackResult],
        as_asked: Versions,
        executor: RecordedExecutor,
        oracle: Oracle,
        watch: VersionWatch,
    ) -> Ended[AnswerCheck[str]] | None:
        """Run again what the answer rests on."""
        old, failures = self.versions.old, self.failures
        if isinstance(answer, Ended) or answer[1].stopped or old is None or failures is None:
            return None
        lineage = self.versions.whole(old, as_asked.new).lineage
        if as_asked.old is None:  # that it is good was never said: it has passed once
            lineage = {**lineage, old: ()}
        if len(lineage) > MOST_WEIGHED:
            return None
        terms = self.terms
        verdicts, remembered = (
            {each: terms.for_search(did[each]) for each in (old, *lineage) if each in did}
            for did in (watch.judged(by_a_run=True), watch.judged(by_a_run=False))
        )
        if self._alike is not None:
            suspects = self._alike.that_matter(lineage)
            lineage = only(lineage, {*suspects, *verdicts, *remembered, answer[0].suspects[0]})
        driver = self._driver(executor, oracle)
        driver.budget = self.budget.less(answer[1].wall_seconds, answer[1].trials)
        search = second_look(
            lineage, verdicts,
            remembered=remembered, is_fix=terms.is_fix, failures=failures, at_once=self.jobs,
        )  # fmt: skip
        return driver.run(search, self._ask, heard=watch.note)

    def _is_to_be_seen(self, version: str, watch: VersionWatch) -> bool:
        """Whether the answer rests on a version that this search has not run."""
        is_concluded = self._alike is not None and version in self._alike.concluded
        return watch.is_from_memory(version) or (is_concluded and version not in watch.seen)

    def _walk_back(self, driver: Driver, watch: VersionWatch) -> Ended[WalkBackResult]:
        """Look for a good version before the new end; it becomes the old end."""
        line, landmarks = self.versions.line()
        follows = None if self._alike is None else self._alike.follows
        search = walk_back(len(line) - 1, landmarks, self.jobs if follows is None else 1)
        if follows is not None:
            search = answering(search, lambda at: follows([line[at]]).get(line[at]))
        end = driver.run(
            search,
            lambda distance: self._ask(line[distance]),
            heard=lambda ran: watch.note(ran.of(line[ran.candidate])),
        )
        result = end.result
        if result is not None and result.good is not None:
            # What was bad on the way is a nearer new end than the first one.
            self.versions = replace(self.versions, old=line[result.good], new=line[result.bad])
        return end

    def _narrated(
        self,
        bisection: Bisection[str],
        confirm: Callable[[int], None],
        watch: VersionWatch,
        oracle: Oracle,
    ) -> Search[str, BisectionResult[str]]:
        """Pass the search on and tell after each step what is left."""
        alike, width = self._alike, self.jobs
        unlike = self._unlike(bisection, watch, oracle)
        search = (
            bisection.search(width)
            if alike is None
            else bisect_what_matters(bisection, alike, width)
        )
        try:
            batch = next(search)
            while True:
                verdicts = yield batch
                count = len(bisection.tested)
                confirm(count + len(verdicts))
                if unlike is not None:
                    verdicts = unlike.learnt(batch, verdicts)
                try:
                    batch = search.send(verdicts)
                finally:
                    self._tell_of(bisection, count)
                if unlike is not None and unlike.is_in_vain:
                    search.close()
                    return bisection.result()
        except StopIteration as end:
            confirm(sys.maxsize)
            result: BisectionResult[str] = end.value
            return result

    def _unlike(
        self, bisection: Bisection[str], watch: VersionWatch, oracle: Oracle
    ) -> Unlike | None:
        if not isinstance(oracle, LikeFailure):
            return None
        return Unlike(
            oracle=oracle, watch=watch, bisection=bisection,
            told=self.terms.for_search, emit=self.session.emit, may_decide=not self.terms.is_fix,
        )  # fmt: skip

    def _tell_of(self, bisection: Bisection[str], start: int) -> None:
        """Tell what was learned after the first ``start`` tests, and what doesn't go together."""
        line = line_of_bisection(bisection)
        for version, verdict in bisection.tested[start:]:
            self.session.emit(
                HistoryNarrowed(
                    label=self.versions.label(version),
                    verdict=self.terms.for_search(verdict),
                    remaining=bisection.remaining,
                    steps_left=bisection.steps_left(self.jobs),
                    line=line,
                )
            )
        for bad, good in dict.fromkeys(bisection.contradictions):
            text = f"{self.versions.label(good)} is {self.terms.old} although {self.versions.label(bad)} before it is {self.terms.new}: the change happened more than once, or the command is flaky"
            self.session.emit(Notice(text=text))
        bisection.contradictions.clear()

    def _answer(
        self,
        bisection: Bisection[str],
        result: BisectionResult[str],
        reason: StopReason,
        watch: VersionWatch,
        oracle: Oracle,
    ) -> VersionSearch:
        label = self.versions.label
        first_bad = result.first_bad
        showed = None if first_bad is None else self._showed(first_bad, watch)
        return VersionSearch(
            kind=self.versions.kind,
            subject=self.versions.subject,
            old_term=self.terms.old,
            new_term=self.terms.new,
            good=label(result.last_good or self.versions.old or ""),
            bad=label(self.versions.new),
            first_bad=None if first_bad is None else label(first_bad),
            first_bad_description="" if first_bad is None else self.versions.details(first_bad),
            suspects=tuple(label(version) for version in result.suspects),
            tested=watch.tested(),
            stopped=reason,
            picture=self.versions.picture(bisection, self.terms),
            trials=len(watch.seen),
            diff="" if first_bad is None else self._diff(first_bad, watch),
            log=self.versions.log(bisection, self.terms),
            places=places_of(bisection, label),
            place_count=bisection.version_count,
            concluded=0 if self._alike is None else len(watch.not_run(self._alike.concluded)),
            hint=self._hint(watch) if reason is StopReason.AMBIGUOUS else "",
            likeness=oracle.ways(showed)
            if isinstance(oracle, LikeFailure) and showed is not None
            else (),
        )

    def _hint(self, watch: VersionWatch) -> str:
        if self.versions.kind != "commit":
            return ""
        skipped = [(watch.seen[each], outcome) for each, outcome in watch.outcomes.items()]
        return hint_of_missing(skipped, self.versions.kind, Path(self.trial.cwd))

    def _showed(self, version: str, watch: VersionWatch) -> Outcome | None:
        """Return what a version showed, or the one that it was concluded from."""
        judgments = {} if self._alike is None else self._alike.concluded
        return watch.outcomes.get(version) or watch.outcomes.get(judgments.get(version, ""))

    def _diff(self, version: str, watch: VersionWatch) -> str:
        """Return what a version changed, first in what the failure or the command names."""
        return self.versions.diff(version, (*watch.failing_files, *self.trial.command))

    def _nothing_good(
        self, oracle: Oracle, walked: Ended[WalkBackResult], watch: VersionWatch
    ) -> FirstBad:
        reason = stop_reason_of(walked, StopReason.NO_GOOD_VERSION)
        self.session.stopped(reason, walked.trials, walked.wall_seconds)
        search = VersionSearch(
            kind=self.versions.kind,
            subject=self.versions.subject,
            old_term=self.terms.old,
            new_term=self.terms.new,
            good="",
            bad=self.versions.label(self.versions.new),
            first_bad=None,
            tested=watch.tested(),
            stopped=reason,
            hint=self.versions.deeper(),
            trials=len(watch.seen),
            wall_seconds=walked.wall_seconds,
        )
        return FirstBad(search=search, oracle=oracle, last_good=None, first_bad=None)
