"""The two ends of a search over versions, and whether they do what the user says."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NoReturn

from whet.bisection.terms import FIXED, Terms
from whet.core.cost_bound import change_in_words
from whet.core.errors import EndMisjudged, EndsReversed
from whet.core.event import Notice
from whet.core.executor import Executor
from whet.core.oracle import Oracle, SameFailure
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.verdict import Verdict
from whet.execution.futures import TrialFuture
from whet.workbench.trials.bench import oracle_of
from whet.workbench.trials.session import RecordedExecutor, Session
from whet.workbench.trials.tested import Tested, result_of


@dataclass(slots=True, kw_only=True)
class Ends:
    """Both ends of a search, run one after the other, whatever the notebook knows of them.

    The end that fails is run first: it gives the failure to look for, and that is all the
    search needs to begin. The other end is checked beside its first steps, so that being sure
    costs no time; nothing is concluded before it has come out right.

    Attributes:
        session: tells what came.
        executor: runs them.
        old: the old end; None: there is none yet.
        new: the new end.
        on: the trial that runs on a version.
        label: a version in a word.
        heard: is told each of them, once it is judged.
        terms: what the sides are called; settled when the ends are known.
        oracle: what judges, if a reference failure is known already.
    """

    session: Session
    executor: RecordedExecutor
    old: str | None
    new: str
    on: Callable[[str], Trial]
    label: Callable[[str], str]
    heard: Callable[[Tested[str]], None]
    terms: Terms
    oracle: Oracle | None = None

    _started: dict[str, TrialFuture] = field(default_factory=dict[str, TrialFuture])
    _came: dict[str, Tested[str]] = field(default_factory=dict[str, Tested[str]])
    _is_confirmed: bool = False

    @property
    def _versions(self) -> tuple[str, ...]:
        """The ends there are, the one that should fail first."""
        ends = (self.new,) if self.old is None else (self.new, self.old)
        return ends[::-1] if self.terms.is_fix else ends

    def start(self) -> None:
        """Start the end that should fail; the other one takes its place when it has ended."""
        self._start(self._versions[0])

    def reference(self) -> Oracle:
        """Wait for the failing end, and return the oracle that its failure gives.

        Raises:
            EndMisjudged, EndsReversed: if an end isn't what it was said to be.
        """
        any_bad = self.oracle or oracle_of(self.session.request.judging)
        first, *others = self._versions
        self._wait_for(first)
        for other in others:
            self._start(other)
        says_which_fails = self.terms.old_verdict is not None
        if not says_which_fails or any_bad.judge(self._came[first].outcome) is not Verdict.BAD:
            for other in others:
                self._wait_for(other)
        if self.old is not None and not says_which_fails:
            self.terms = self.terms.settled_by(any_bad.judge(self._came[self.old].outcome))
        elif self.old is not None and self._are_reversed(any_bad):
            self._turn_round(self.old)
        self.oracle = self.oracle or oracle_of(self.session.request.judging, self.failing)
        if len(self._came) == len(self._versions):
            self.confirm(self.oracle)
        else:
            self._tell(self.oracle, first)
        return self.oracle

    @property
    def failing(self) -> Outcome | None:
        """What the end that fails has shown."""
        failing = self.old if self.terms.is_fix else self.new
        return self._came[failing].outcome if failing in self._came else None

    def _are_reversed(self, any_bad: Oracle) -> bool:
        """Whether it is the other end that fails, where nobody gave words for the ends."""
        is_given = self.terms is not FIXED and self.terms != Terms()
        if is_given or self.oracle is not None or len(self._came) < len(self._versions):
            return False
        verdicts = [any_bad.judge(self._came[version].outcome) for version in self._versions]
        return verdicts == [Verdict.GOOD, Verdict.BAD]

    def _turn_round(self, old: str) -> None:
        failing, passing = (self.new, old) if self.terms.is_fix else (old, self.new)
        self.terms = Terms() if self.terms.is_fix else FIXED
        text = turned_round(self.label, failing, passing, is_fix=self.terms.is_fix)
        self.session.emit(Notice(text=text))

    def confirm(self, oracle: Oracle) -> None:
        """Wait for both, unless that was done before.

        Raises:
            EndMisjudged, EndsReversed: if an end isn't what it was said to be.
        """
        if self._is_confirmed:
            return
        self._is_confirmed = True
        for version in self._versions:
            self._wait_for(version)
            self._tell(oracle, version)
        self._refuse_wrong(oracle)

    @property
    def is_ready(self) -> bool:
        """Whether both have ended, so that `confirm` doesn't wait."""
        return all(self._started[version].done() for version in self._versions)

    @property
    def is_failing_one_good(self) -> bool:
        """Whether the end that should fail has passed."""
        came = self._came.get(self._versions[0])
        return (
            came is not None
            and oracle_of(self.session.request.judging).judge(came.outcome) is Verdict.GOOD
        )

    def _start(self, version: str) -> None:
        self._started[version] = self.executor.submit(self.on(version))

    def _wait_for(self, version: str) -> None:
        if version in self._came:
            return
        oracle = oracle_of(self.session.request.judging)
        ran = result_of(self.on(version), self._started[version], oracle, self.label(version))
        self._came[version] = ran.of(version)

    def _tell(self, oracle: Oracle, version: str) -> None:
        ran = self._came[version].judged_by(oracle)
        self.session.tell(ran, oracle)
        self.heard(ran)

    def _refuse_wrong(self, oracle: Oracle) -> None:
        terms = self.terms
        verdicts = {
            version: terms.for_search(oracle.judge(ran.outcome))
            for version, ran in self._came.items()
        }
        new, old = self.new, self.old
        is_new, is_old = verdicts[new] is Verdict.BAD, old is None or verdicts[old] is Verdict.GOOD
        if is_new and is_old:
            return
        if old is not None and verdicts[new] is Verdict.GOOD and self._fails(old):
            raise EndsReversed(
                f"`{self.label(old)}` fails and `{self.label(new)}` passes: swap them",
                hint="to find the fix: `--terms broken,fixed`"
                f" (trials {self._came[old].number} and {self._came[new].number} show how they ended)",
            )
        wrong, word = (new, terms.new) if not is_new else (old or new, terms.old)
        self._misjudged(wrong, word, oracle)

    def _fails(self, version: str) -> bool:
        return (
            oracle_of(self.session.request.judging).judge(self._came[version].outcome)
            is Verdict.BAD
        )

    def _misjudged(self, version: str, word: str, oracle: Oracle) -> NoReturn:
        number, outcome = self._came[version].number, self._came[version].outcome
        if said := change_in_words(outcome.measurements):
            did = said
        elif outcome.failure is None:
            did = f"passes (exit {outcome.shell_exit_code})"
        elif isinstance(oracle, SameFailure) and outcome.signature != oracle.reference:
            did = f"fails in another way: {outcome.failure.summary}"
        else:
            did = f"fails: {outcome.failure.summary}"
        raise EndMisjudged(
            f"`{self.label(version)}` should be {word}, but it {did}",
            hint=self._measure_both()
            if said
            else f"`whet show {number}` shows its output; name another end, or leave out the"
            f" {self.terms.old} one and let whet find it",
        )

    def _measure_both(self) -> str:
        ends = [self.label(each) for each in (self.old, self.new) if each is not None]
        return (
            f"`whet compare {' '.join(ends)} -- COMMAND` measures both; choose a bound between them"
        )


def turned_round(label: Callable[[str], str], failing: str, passing: str, *, is_fix: bool) -> str:
    """Return that the ends are the other way round than they were said to be."""
    what = "the fix" if is_fix else "what broke it"
    return f"`{label(failing)}` fails and `{label(passing)}` passes: whet searches for {what}"


@dataclass(slots=True, kw_only=True)
class Ahead:
    """An executor around another one that may start a trial before it is asked for.

    Attributes:
        inner: runs the trials.
    """

    inner: Executor
    _started: dict[str, Future[Outcome]] = field(default_factory=dict[str, "Future[Outcome]"])

    def start(self, trial: Trial) -> None:
        """Start what will be asked for."""
        self._started[trial.key] = self.inner.submit(trial)

    def submit(self, trial: Trial, /) -> Future[Outcome]:
        """Hand out what was started, once, or start ``trial``."""
        return self._started.pop(trial.key, None) or self.inner.submit(trial)
