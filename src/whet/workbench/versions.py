"""The search for the first bad version, whatever the versions are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from whet.bisection.terms import Terms
from whet.core.budget import Budget, StopReason
from whet.core.errors import EndMisjudged, EndsReversed
from whet.core.event import Event, HistoryNarrowed, Notice, TrialFinished
from whet.core.executor import Executor
from whet.core.oracle import Oracle, SameFailure
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.search.bisection import Bisection, BisectionResult
from whet.search.proposal import Search
from whet.search.walk_back import WalkBackResult, walk_back
from whet.workbench.bench import RecordedExecutor, Workbench, oracle_of
from whet.workbench.driver import Driver, Question, announce, stop_reason_of
from whet.workbench.investigation import TestedVersion, VersionSearch
from whet.workbench.request import Judging


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """The versions of something, as a search over them needs it.

    Attributes:
        kind: ``commit`` or ``release``.
        subject: the repository's folder or the package's name.
        old: the old end; None: walk back until there is one.
        new: the new end.
        label: a version in a word.
        describe: a version in a line.
        details: a version in lines of text.
        on: the trial that runs on a version.
        place: wraps an executor so that it makes a place for each version.
        bisection: the search between an old and a new end.
        line: the new end and those before it, newest first, and which of them to prefer.
        picture: what is left, as lines of text.
        remarks: versions that were left out beforehand, and why.
    """

    kind: str
    subject: str
    old: str | None
    new: str
    label: Callable[[str], str]
    describe: Callable[[str], str]
    details: Callable[[str], str]
    on: Callable[[Trial, str], Trial]
    place: Callable[[Executor], Executor]
    bisection: Callable[[str, str], Bisection[str]]
    line: Callable[[], tuple[Sequence[str], frozenset[int]]]
    picture: Callable[[Bisection[str], Terms], str]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstBad:
    """What a search over versions found.

    Attributes:
        search: the answer, to be shown.
        oracle: what judged, with the reference failure in it.
        last_good: the last good version's id, or None.
        first_bad: the first bad version's id, or None.
    """

    search: VersionSearch
    oracle: Oracle
    last_good: str | None
    first_bad: str | None


@dataclass(slots=True, kw_only=True)
class VersionHunt:
    """One search over versions under way.

    Attributes:
        bench: the workbench.
        trial: what is run on each version.
        judging: what BAD means.
        versions: where to search.
        record: writes the row of a trial before it starts.
        terms: what the sides are called.
        budget: when to stop.
        oracle: what judges, if a reference failure is known already.
        repeats: how often a version is tried before it counts as not failing.
    """

    bench: Workbench
    trial: Trial
    judging: Judging
    versions: Versions
    record: Callable[[Trial], int]
    terms: Terms
    budget: Budget
    oracle: Oracle | None = None
    repeats: int = 1

    def run(self) -> FirstBad:
        """Check both ends, then search between them.

        Raises:
            EndMisjudged, EndsReversed: if an end is not what it was said to be.
        """
        for remark in self.versions.remarks:
            self.bench.emit(Notice(text=remark))
        watch = _Watch(self.bench.emit, self.versions)
        # The ends always run; between them a version that was run before is not run again.
        with self.bench.executor(self.record, place=self.versions.place) as executor:
            oracle = self._check_ends(executor, watch)
            old = self.versions.old
        with self.bench.executor(
            self.record, cached=self.repeats == 1, place=self.versions.place
        ) as executor:
            driver = self._driver(executor, oracle, watch.observe)
            if old is None:
                old = self._walk_back(driver, watch)
            if old is None:
                return self._nothing_good(oracle, watch)
            bisection = self.versions.bisection(old, self.versions.new)
            ended = driver.run(self._narrated(bisection), self._ask)
        result = ended.result or bisection.result()
        reason = stop_reason_of(ended, result.stopped)
        announce(self.bench.emit, ended, reason)
        search = self._answer(old, bisection, result, reason, watch)
        return FirstBad(
            search=replace(search, wall_seconds=ended.wall_seconds),
            oracle=oracle,
            last_good=result.last_good,
            first_bad=result.first_bad,
        )

    def _driver(self, executor: Executor, oracle: Oracle, emit: Callable[[Event], None]) -> Driver:
        return Driver(
            executor=executor,
            oracle=oracle,
            emit=emit,
            budget=self.budget,
            repeats=self.repeats,
            judged=lambda number, verdict: self.bench.notebook.judge(
                number, oracle.description, verdict, None
            ),
            told=self.terms.for_search,
        )

    def _ask(self, version: str) -> Question:
        return Question(
            trial=self.versions.on(self.trial, version), label=self.versions.label(version)
        )

    # ---- the ends ----

    def _check_ends(self, executor: RecordedExecutor, watch: "_Watch") -> Oracle:
        """Run both ends; the failing one gives the reference."""
        new, old = self.versions.new, self.versions.old
        came = {new: self._run_end(executor, new)}
        if old is not None:
            came[old] = self._run_end(executor, old)
        any_bad = self.oracle or oracle_of(self.judging)
        if old is not None:
            self.terms = self.terms.settled_by(any_bad.judge(came[old][1]))
        failing = new if not self.terms.is_fix else old
        reference = came[failing][1] if failing in came else None
        oracle = self.oracle or oracle_of(self.judging, reference)
        for version, (number, outcome) in came.items():
            verdict = oracle.judge(outcome)
            self.bench.notebook.judge(number, oracle.description, verdict, None)
            watch.observe(
                TrialFinished(
                    number=number,
                    trial=self.versions.on(self.trial, version),
                    outcome=outcome,
                    verdict=verdict,
                    label=self.versions.label(version),
                )
            )
        self._refuse_wrong_ends(oracle, came)
        return oracle

    def _run_end(self, executor: RecordedExecutor, version: str) -> tuple[int, Outcome]:
        future = executor.submit(self.versions.on(self.trial, version))
        outcome = future.result()
        assert future.number is not None
        return future.number, outcome

    def _refuse_wrong_ends(self, oracle: Oracle, came: dict[str, tuple[int, Outcome]]) -> None:
        terms = self.terms
        told = {
            version: terms.for_search(oracle.judge(outcome))
            for version, (_, outcome) in came.items()
        }
        new, old = self.versions.new, self.versions.old
        is_new, is_old = told[new] is Verdict.BAD, old is None or told[old] is Verdict.GOOD
        if is_new and is_old:
            return
        if old is not None and told[new] is Verdict.GOOD and self._fails(came[old][1]):
            label = self.versions.label
            raise EndsReversed(
                f"`{label(old)}` fails and `{label(new)}` passes: they are the other way round",
                hint="to find what fixed it: `--terms broken,fixed`"
                f" (trials {came[old][0]} and {came[new][0]} show what they did)",
            )
        wrong, word = (new, terms.new) if not is_new else (old or new, terms.old)
        self._misjudged(wrong, word, came[wrong], oracle)

    def _fails(self, outcome: Outcome) -> bool:
        return oracle_of(self.judging).judge(outcome) is Verdict.BAD

    def _misjudged(
        self, version: str, word: str, came: tuple[int, Outcome], oracle: Oracle
    ) -> NoReturn:
        number, outcome = came
        if outcome.failure is None:
            did = f"passes (exit {outcome.shell_exit_code})"
        elif isinstance(oracle, SameFailure) and outcome.signature != oracle.reference:
            did = f"fails in another way: {outcome.failure.summary}"
        else:
            did = f"fails: {outcome.failure.summary}"
        raise EndMisjudged(
            f"`{self.versions.label(version)}` was said to be {word}, but it {did}",
            hint=f"`whet show {number}` shows its output; name another end",
        )

    # ---- the search ----

    def _walk_back(self, driver: Driver, watch: "_Watch") -> str | None:
        """Return a good version before the new end, or None."""
        line, landmarks = self.versions.line()
        search = walk_back(len(line) - 1, landmarks)
        ended = driver.run(search, lambda distance: self._ask(line[distance]), None)
        result: WalkBackResult | None = ended.result
        watch.walked = ended.trials
        if result is None or result.good is None:
            return None
        # What was bad on the way is a nearer new end than the first one.
        self.versions = replace(self.versions, old=line[result.good], new=line[result.bad])
        return line[result.good]

    def _narrated(self, bisection: Bisection[str]) -> Search[str, BisectionResult[str]]:
        """Pass the search on and tell after each step what is left."""
        search = bisection.search()
        try:
            batch = next(search)
            while True:
                verdicts = yield batch
                version = batch[len(verdicts) - 1]
                batch = search.send(verdicts)
                self._tell(bisection, version, verdicts[-1])
        except StopIteration as end:
            if bisection.tested:
                self._tell(bisection, *bisection.tested[-1])
            result: BisectionResult[str] = end.value
            return result

    def _tell(self, bisection: Bisection[str], version: str, told: Verdict) -> None:
        self.bench.emit(
            HistoryNarrowed(
                label=self.versions.label(version),
                verdict=self.terms.for_search(told),
                remaining=bisection.remaining,
                steps_left=bisection.steps_left,
            )
        )

    def _answer(
        self,
        old: str,
        bisection: Bisection[str],
        result: BisectionResult[str],
        reason: StopReason,
        watch: "_Watch",
    ) -> VersionSearch:
        label = self.versions.label
        found = result.first_bad
        return VersionSearch(
            kind=self.versions.kind,
            subject=self.versions.subject,
            old_term=self.terms.old,
            new_term=self.terms.new,
            good=label(result.last_good or old),
            bad=label(self.versions.new),
            first_bad=None if found is None else label(found),
            first_bad_description="" if found is None else self.versions.details(found),
            suspects=tuple(label(version) for version in result.suspects),
            between=bisection.started_with - 1,
            tested=watch.tested(),
            stopped=reason,
            picture=self.versions.picture(bisection, self.terms),
            trials=len(watch.seen),
        )

    def _nothing_good(self, oracle: Oracle, watch: "_Watch") -> FirstBad:
        search = VersionSearch(
            kind=self.versions.kind,
            subject=self.versions.subject,
            old_term=self.terms.old,
            new_term=self.terms.new,
            good="",
            bad=self.versions.label(self.versions.new),
            first_bad=None,
            tested=watch.tested(),
            stopped=StopReason.NO_GOOD_VERSION,
            trials=len(watch.seen),
        )
        return FirstBad(search=search, oracle=oracle, last_good=None, first_bad=None)


class _Watch:
    """Listens to a search and keeps what each version did."""

    def __init__(self, emit: Callable[[Event], None], versions: Versions) -> None:
        self._emit = emit
        self._versions = versions
        self.seen: dict[str, TestedVersion] = {}
        self.walked = 0

    def observe(self, event: Event) -> None:
        """Keep the version's verdict and pass the event on."""
        if isinstance(event, TrialFinished):
            failure = event.outcome.failure
            self.seen[event.label] = TestedVersion(
                label=event.label,
                verdict=event.verdict,
                trial=event.number,
                description=self._described(event.trial),
                remark="passes" if failure is None else failure.summary,
            )
        elif isinstance(event, Notice):
            self._keep_skipped(event.text)
        self._emit(event)

    def _described(self, trial: Trial) -> str:
        version = trial.revision or trial.packages.get(self._versions.subject, "")
        return self._versions.describe(version) if version else ""

    def _keep_skipped(self, text: str) -> None:
        label, skipped, why = text.partition(": skipped: ")
        if skipped:
            self.seen[label] = TestedVersion(
                label=label, verdict=Verdict.SKIP, trial=None, remark=why
            )

    def tested(self) -> tuple[TestedVersion, ...]:
        """Return what was tested, in order."""
        return tuple(self.seen.values())
