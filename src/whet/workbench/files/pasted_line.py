"""Lines to paste: each is run before it is printed, and carries only what its failure needs."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from whet.core.budget import OutOfTimeError
from whet.core.limits import Limits
from whet.core.oracle import Oracle
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.host.trial.trial_secrets import for_shell
from whet.workbench.files.needed_settings import fewest_settings, is_hang
from whet.workbench.files.wording import Wording, stored_steps
from whet.workbench.trials.investigation import PastedLine
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Session
from whet.workbench.trials.tested import Tested

HASH_SEED = "PYTHONHASHSEED"

_LEAST_LIMIT_SECONDS = 300.0
_PATIENCE = 3  # of the time after which silence counts as hanging
"""It may have to create an environment for a release first."""

_MOST_TIMES_AS_LONG = 10

_TIMES_WITHOUT_SEED = 4
"""A failure that depends on the hash seed may come by chance once more."""

_OTHERS_IN_A_ROW = 3
"""This many runs in a row that fail in another way show a cause, if the command itself never did."""

_NOT_RUN = "whet hasn't run this line: it was interrupted, or had no time left"
_WEIGHED = "whet hasn't run this line: a single run doesn't show what it costs"


@value_class(kw_only=True)
class Shell:
    """Runs what is to be pasted, each time in an empty folder, until it does what it should.

    Attributes:
        session: runs it.
        trial: what the line is to run.
        oracle: judges what it did.
        repeats: how often it may need to be run until it fails.
        fails_one_way: the command never failed in another way when it was run again.
        verdict: what it should prove.
        usual_seconds: how long the trial takes.
        roots: where the files of the project stand; empty: where they stand for the trial.
    """

    session: Session
    trial: Trial
    oracle: Oracle
    repeats: int = 1
    fails_one_way: bool = False
    verdict: Verdict = Verdict.BAD
    usual_seconds: float = 0.0
    roots: tuple[str, ...] = ()

    @property
    def to_run(self) -> Trial:
        """The trial as its line runs it here.

        `timeout` would kill it before anybody could look where it hangs, which signs a hang.
        """
        return replace(self.trial, limits=Limits()) if is_hang(self.oracle) else self.trial

    def run(self, words: tuple[str, ...], trial: Trial) -> tuple[Tested[None], int]:
        """Run the words of a line for a trial; return what came, and how often it was run.

        A variable that the trial has no more isn't inherited either.
        """
        _, secrets = for_shell(trial)
        gone = {*self.trial.environment} - {*trial.environment, *secrets}
        may_be_chance = HASH_SEED in gone and self.repeats == 1
        again = Trial(
            command=words, cwd="", environment=secrets, limits=self._limits,
            measures=trial.measures,
            unset=tuple(sorted(gone & {*self.session.bench.environment})),
        )  # fmt: skip
        most = _TIMES_WITHOUT_SEED if may_be_chance else self.repeats
        last, times, others = self._run(again), 1, 0
        while times < most and (last.verdict is self.verdict) is may_be_chance:
            others = others + 1 if last.verdict is Verdict.SKIP else 0
            if self.fails_one_way and others == _OTHERS_IN_A_ROW:
                break
            last, times = self._run(again), times + 1
        return last, times

    def fewest(self, fails: Callable[[Trial], bool]) -> Trial:
        """Return the trial with the variables and limits that its failure needs."""
        # A seed that whet has set was seen to decide.
        seed = {HASH_SEED} - {*self.session.request.environment}
        return fewest_settings(self.trial, self.oracle, seed, fails)

    @property
    def _limits(self) -> Limits:
        if not is_hang(self.oracle):
            usual = _MOST_TIMES_AS_LONG * self.usual_seconds
            return Limits(wall_seconds=max(_LEAST_LIMIT_SECONDS, usual))
        trial = self.trial
        hangs_by = None if trial.hang_seconds is None else _PATIENCE * trial.hang_seconds
        seconds = trial.limits.wall_seconds or hangs_by or _LEAST_LIMIT_SECONDS
        return Limits(wall_seconds=seconds + (_LEAST_LIMIT_SECONDS if trial.packages else 0.0))

    def _run(self, trial: Trial) -> Tested[None]:
        original = self.trial
        # Its files are named as they are in the original, wherever it runs now.
        own = (original.cwd,) if original.code is None else (original.code.repository,)
        elsewhere = replace(self.session, roots=self.roots or own)
        journal = self.session.bench.cleanup_journal
        place = journal.temporary_folder()
        try:
            return elsewhere.run(replace(trial, cwd=str(place)), self.oracle, "line to paste")
        finally:
            journal.discard(place)


def pasted_line(
    shell: Shell,
    wording: Wording,
    comment: str,
    *,
    may_move: bool = True,
    keeps_settings: bool = False,
) -> PastedLine:
    """Return the line that runs a trial, run just now, with as few settings as its failure needs.

    A line that can't be read at a glance becomes a script, and the line runs that.

    Args:
        shell: runs it, and says what it should do.
        wording: writes it.
        comment: what the line shows.
        may_move: it may do without the trial's own folder.
        keeps_settings: the trial is about its settings, so all of them stay.
    """
    lines = _Lines(shell, wording)
    # What several runs together show, one run of a line doesn't.
    if not shell.session.log.is_interrupted and shell.session.weighing is None:
        with suppress(KeyboardInterrupt, OutOfTimeError):
            holds = lines.holds(shell.trial)
            if holds and shell.verdict is Verdict.BAD and not keeps_settings:
                fewest = shell.fewest(lines.holds)
                if may_move:
                    lines.holds(replace(fewest, cwd=""))
    return lines.answer(comment)


def stored_line(
    session: Session,
    trial: Trial,
    baseline: Baseline,
    oracle: Oracle,
    *,
    prefix: Sequence[str] = (),
    verdict: Verdict = Verdict.BAD,
) -> PastedLine:
    """Return the line that runs a trial where it ran, as `pasted_line` does.

    Args:
        session: runs it.
        trial: what to run.
        baseline: how the command fails.
        oracle: judges what it does.
        prefix: words of a shell to put before the command.
        verdict: what the trial should prove.
    """
    failure = baseline.outcome.failure
    what = oracle.description if failure is None else failure.summary
    if verdict is Verdict.GOOD:
        what = "it passes"
    shell = Shell(
        session=session, trial=trial, oracle=oracle, repeats=baseline.repeats, verdict=verdict,
        fails_one_way=baseline.fails_one_way,
        usual_seconds=baseline.reproduction.wall_seconds,
    )  # fmt: skip
    bench = session.bench
    wording = Wording(
        bench=bench,
        write=lambda named, quote: stored_steps(bench, named, quote, prefix=prefix),
    )
    return pasted_line(shell, wording, what)


class _Lines:
    """The lines of a trial and of what is like it but for some settings."""

    def __init__(self, shell: Shell, wording: Wording) -> None:
        self._shell = shell
        self._wording = wording
        self._trial = shell.trial
        self._proof: Tested[None] | None = None
        self._last: Tested[None] | None = None

    def holds(self, trial: Trial) -> bool:
        """Run a trial's line; whether it does what it should."""
        to_run = replace(self._shell, trial=trial).to_run
        with self._wording.placed(to_run) as words:
            self._last, _ = self._shell.run(words, trial)
        if self._last.verdict is not self._shell.verdict:
            return False
        self._trial, self._proof = trial, self._last
        return True

    def answer(self, comment: str) -> PastedLine:
        """Return the last line that did what it should."""
        number = None if self._proof is None else self._proof.number
        proof = "" if number is None else f"\nwhet ran this as trial {number}"
        return PastedLine(
            text=self._wording.text(self._trial, f"{comment}{proof}"),
            trial=number,
            complaint=self._complaint,
        )

    @property
    def _complaint(self) -> str:
        if self._proof is not None:
            return ""
        if self._last is None:
            return _NOT_RUN if self._shell.session.weighing is None else _WEIGHED
        failure = self._last.outcome.failure
        did = "passed" if failure is None else f"did this: {failure.summary}"
        return f"run once more (trial {self._last.number}), the line {did}"
