"""Does the command fail on a copy of its payload as it does on the payload itself?

A search varies a copy of the file, in a folder of whet's own. A program may look at more than
what the file holds: at the modules, headers or `conftest.py` beside it, or at its place. Then the
copy shows another failure, and a search would hold on to that one without a word.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from whet.core.errors import BaselineDoesNotFail, CopyFailsOtherwise
from whet.core.event import Notice
from whet.core.failure import Failure
from whet.core.oracle import Oracle, SameFailure
from whet.core.outcome import Outcome
from whet.core.trial import PayloadBinding, Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.signature.failure_difference import told_apart
from whet.host.code.folders import pack_folder, put_folder_back
from whet.host.files.files import put_back
from whet.workbench.trials.bench import oracle_of
from whet.workbench.trials.payload import PLACEHOLDER
from whet.workbench.trials.reproduce import FEW, MANY, QUICK_SECONDS, Baseline, reproduce
from whet.workbench.trials.session import Place, Session

_MOST_BESIDE = 1000
"""Linking this many files next to each copy takes less time than a trial."""


@value_class(kw_only=True)
class Copied:
    """A trial that fails on copies as the command fails on the files themselves.

    Attributes:
        trial: with its payloads placed so.
        baseline: what it does.
    """

    trial: Trial
    baseline: Baseline


def reproduce_on_copies(
    session: Session,
    trial: Trial,
    files: Sequence[Path],
    *,
    place: Place | None = None,
    attempts: int = FEW,
    quick_seconds: float = 0.0,
) -> Copied:
    """Reproduce the failure on copies of ``files``, and once on the files themselves.

    Where the two differ, the copies are tried once more with all that lies beside the originals
    linked beside them.

    Raises:
        BaselineDoesNotFail: if it fails on neither.
        CopyFailsOtherwise: if it fails on the files themselves alone, or in another way.
    """
    if not trial.payloads:  # nothing is copied
        only = reproduce(
            session, trial, place=place, attempts=attempts, quick_seconds=quick_seconds
        )
        return Copied(trial=trial, baseline=only)
    original = _Original(session, trial, files, place)
    missing: BaselineDoesNotFail | None = None
    copied: Failure | None = None
    for placed in filter(None, (trial, _with_neighbours(trial, files))):
        baseline: Baseline | None
        try:
            baseline = reproduce(
                session, placed, place=place, attempts=attempts, quick_seconds=quick_seconds
            )
        except BaselineDoesNotFail as error:
            missing = missing or error
            if not original.fails_at_all():
                raise missing from None
            baseline = _now_and_then(session, placed, place)
        if baseline is None:
            continue
        copied = baseline.outcome.failure
        if original.fails_like(baseline):
            if original.passes_now_and_then and baseline.repeats == 1:
                # So do the copies, though the few that were run have all failed.
                baseline = reproduce(session, placed, attempts=MANY, place=place)
            if placed is not trial:
                session.emit(Notice(text="the files next to it are linked next to each copy"))
            return Copied(trial=placed, baseline=baseline)
    if missing is not None and any(payload.is_home for payload in trial.payloads):
        raise missing
    raise CopyFailsOtherwise(
        f"on {_listed(files)} itself the command {original.what(None if missing else copied)};"
        f" on a copy elsewhere it {'passes' if missing else 'fails in another way'}",
        hint="the program reads more than the file's content, such as its folder: move the part that varies into a data file that you pass to it",
    )


def _now_and_then(session: Session, trial: Trial, place: Place | None) -> Baseline | None:
    """Return how the copies fail in more runs: the few may have passed by chance; None: they don't."""
    with suppress(BaselineDoesNotFail):
        return reproduce(session, trial, place=place, attempts=MANY)
    return None


class _Original:
    """The command as it was typed, on the user's own files, run when it is first asked for."""

    def __init__(
        self,
        session: Session,
        trial: Trial,
        files: Sequence[Path],
        place: Place | None,
    ) -> None:
        self._session = session
        self._trial = trial
        self._files = files
        self._place = place
        self._outcomes: list[Outcome] = []

    def fails_at_all(self) -> bool:
        if self._is_at_home:
            return True  # only a copy is run
        any_bad = oracle_of(self._session.request.judging)
        self._run_until(1, any_bad)
        return any(any_bad.judge(outcome) is Verdict.BAD for outcome in self._outcomes)

    def fails_like(self, baseline: Baseline) -> bool:
        """Whether one run, or as many as a flaky failure needs, fails as the copies do."""
        if self._is_at_home:
            return True
        if all(payload.argument is None and not payload.more for payload in self._trial.payloads):
            return True  # what is read from standard input has no name and no place
        # More than one: that it always failed so far doesn't mean that it always will.
        if self._run_until(max(FEW, baseline.repeats), baseline.oracle):
            return True
        return self._differs_in_order(baseline) or self._differs_in_spelling(baseline)

    @property
    def passes_now_and_then(self) -> bool:
        """Whether not every run so far has failed."""
        any_bad = oracle_of(self._session.request.judging)
        return any(any_bad.judge(outcome) is not Verdict.BAD for outcome in self._outcomes)

    @property
    def _is_at_home(self) -> bool:
        """Whether the command is to start where a copy lies, never where the user's files are."""
        return any(payload.is_home for payload in self._trial.payloads)

    def what(self, copied: Failure | None) -> str:
        """Return what it did last, beside what it did on a copy."""
        failure = self._outcomes[-1].failure
        return "passes" if failure is None else f"fails with {told_apart(failure, copied)}"

    def _run_until(self, times: int, oracle: Oracle) -> bool:
        if any(oracle.judge(outcome) is Verdict.BAD for outcome in self._outcomes):
            return True
        while len(self._outcomes) < times or (
            len(self._outcomes) < MANY
            and sum(each.wall_seconds for each in self._outcomes) < QUICK_SECONDS
        ):
            outcome = self._run(_as_typed(self._trial, self._files), oracle)
            self._outcomes.append(outcome)
            if oracle.judge(outcome) is Verdict.BAD:
                return True
        return False

    def _differs_in_order(self, baseline: Baseline) -> bool:
        """Whether the message alone differs, because it lists a set."""
        reference = baseline.outcome.signature
        if not isinstance(baseline.oracle, SameFailure) or reference is None:
            return False
        signatures = [outcome.signature for outcome in self._outcomes]
        return any(each and each.in_any_order == reference.in_any_order for each in signatures)

    def _differs_in_spelling(self, baseline: Baseline) -> bool:
        """Whether the message alone differs, because it shows the path as it was given.

        Then the original by its whole path must fail as the copies do.
        """
        reference = baseline.outcome.signature
        if not isinstance(baseline.oracle, SameFailure) or reference is None:
            return False
        signatures = [outcome.signature for outcome in self._outcomes]
        if not any(
            each and replace(each, message=reference.message) == reference for each in signatures
        ):
            return False
        whole = self._run(_as_typed(self._trial, self._files, is_whole=True), baseline.oracle)
        return baseline.oracle.judge(whole) is Verdict.BAD

    def _run(self, trial: Trial, oracle: Oracle) -> Outcome:
        before = [_packed(path) for path in self._files]
        ran = self._session.run(trial, oracle, "as typed", place=self._place)
        for path, data in zip(self._files, before, strict=True):
            if put_folder_back(path, data) if path.is_dir() else put_back(path, data):
                words = "whet restored it; with `--clean` each trial starts from the same files"
                self._session.emit(Notice(text=f"the command changed `{path}`: {words}"))
        return ran.outcome


def _as_typed(trial: Trial, files: Sequence[Path], *, is_whole: bool = False) -> Trial:
    """Return the trial on the originals themselves, by the names that the user wrote.

    With ``is_whole`` each goes by its whole path, as a copy does.
    """
    words, stdin = list(trial.command), trial.stdin
    for payload, path in zip(trial.payloads, files, strict=True):
        stdin = payload.digest if payload.argument is None else stdin
        if is_whole or any(place.text == PLACEHOLDER for place in payload.places):
            payload.put(str(path), words)
    return replace(trial, command=tuple(words), stdin=stdin, payloads=())


def _with_neighbours(trial: Trial, files: Sequence[Path]) -> Trial | None:
    """Return the trial whose copies have the files of the originals' folders beside them."""
    payloads: list[PayloadBinding] = []
    for payload, path in zip(trial.payloads, files, strict=True):
        try:
            if sum(1 for _ in path.parent.iterdir()) > _MOST_BESIDE:
                return None
        except OSError:
            return None
        payloads.append(replace(payload, beside=str(path.parent)))
    return replace(trial, payloads=tuple(payloads))


def _packed(path: Path) -> bytes:
    return pack_folder(path) if path.is_dir() else path.read_bytes()


def _listed(files: Sequence[Path]) -> str:
    return ", ".join(f"`{path.name}`" for path in files)
