"""Checking the two cases: one passes, the other fails."""

from dataclasses import replace

from whet.core.errors import BaselineDoesNotFail, CopyFailsOtherwise, EndMisjudged, WhetError
from whet.core.event import Notice
from whet.core.trial import PayloadBinding, Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.search.subsets.hierarchy import Numbers
from whet.workbench.delta.cases import Cases
from whet.workbench.files.copies import Copied, reproduce_on_copies
from whet.workbench.trials.reproduce import QUICK_SECONDS, Baseline, reproduce, with_patience
from whet.workbench.trials.session import Session
from whet.workbench.trials.tested import Tested

_NOW = "run again now, "
"""For recorded trials: the record says what each did then."""


@value_class(kw_only=True)
class Settled:
    """Two cases that do what they were said to do.

    Attributes:
        cases: they and what lies between them.
        baseline: what the bad one does.
        payloads: how the files of a trial are placed so that it fails on copies of them.
    """

    cases: Cases
    baseline: Baseline
    payloads: tuple[PayloadBinding, ...]

    def trial(self, numbers: Numbers) -> Trial:
        """Return the trial of the good case with some of the differences."""
        trial = self.cases.trial(numbers)
        payloads = zip(trial.payloads, self.payloads, strict=True)
        return replace(
            trial, payloads=tuple(replace(one, beside=like.beside) for one, like in payloads)
        )


def settled(session: Session, cases: Cases) -> Settled:
    """Run both cases, turn them round if the good one fails, and return what came of it.

    Where the bad case passes once it is written again, the two are compared as they are written.

    Raises:
        EndMisjudged: if both pass, or both fail.
        CopyFailsOtherwise: if the bad case doesn't fail on a copy of its file as it does on it.
    """
    ends = _Ends(session)
    try:
        return ends.of(cases)
    except CopyFailsOtherwise as error:
        refused: WhetError = error
    except _GoodEndFailsError as error:
        refused = error.told
    if cases.plain is None:
        raise refused
    plain = cases.plain()
    try:
        ends_settled = ends.of(plain)
    except _GoodEndFailsError as error:
        raise error.told from None
    session.emit(
        Notice(
            text=f"rewritten in plain form, `{cases.bad}` behaves differently, so whet compares by {plain.what}"
        )
    )
    return ends_settled


class _GoodEndFailsError(Exception):
    """The good case fails as it was made; as it is written it may pass."""

    def __init__(self, error: EndMisjudged) -> None:
        super().__init__(str(error))
        self.told = error


@value_class
class _Ends:
    session: Session

    def of(self, cases: Cases) -> Settled:
        """Return the two cases in the right order."""
        copied = self._failing(cases)
        if copied is None:
            turned = cases.turned()
            copied = self._failing(turned)
            if copied is None:
                raise EndMisjudged(
                    f"{_NOW if cases.are_past else ''}both `{cases.good}` and `{cases.bad}` pass",
                    hint="say what bad means: `--bad-if 'stdout ~ NaN'`, `--bad-if 'seconds > 2'`;"
                    " `whet log` lists the trials",
                )
            self.session.emit(
                Notice(text=f"`{cases.good}` fails and `{cases.bad}` passes: whet swaps them")
            )
            cases = turned
        ends = Settled(cases=cases, baseline=copied.baseline, payloads=copied.trial.payloads)
        self._check_good(ends)
        return ends

    def _failing(self, cases: Cases) -> Copied | None:
        """Reproduce the failure of the bad case; None: it passes."""
        trial = cases.trial(cases.everything)
        try:
            if cases.originals:
                return reproduce_on_copies(
                    self.session, trial, cases.originals, quick_seconds=QUICK_SECONDS
                )
            baseline = reproduce(
                self.session, trial, place=cases.place, quick_seconds=QUICK_SECONDS
            )
        except BaselineDoesNotFail:
            return None
        return Copied(trial=trial, baseline=baseline)

    def _check_good(self, ends: Settled) -> None:
        """Run the good case, as often as a failure that comes sometimes needs."""
        baseline, cases = ends.baseline, ends.cases
        trial = with_patience(ends.trial(()), baseline.reproduction.wall_seconds)
        *_, last = self.session.repeat(
            trial, baseline.oracle, cases.good,
            times=baseline.repeats, until=_is_not_good, place=cases.place,
        )  # fmt: skip
        if _is_not_good(last):
            raise _GoodEndFailsError(_fails_too(cases, last))


def _is_not_good(ran: Tested[object]) -> bool:
    return ran.verdict is not Verdict.GOOD


def _fails_too(cases: Cases, ran: Tested[object]) -> EndMisjudged:
    number, outcome, verdict = ran.own_number, ran.outcome, ran.verdict
    if verdict is Verdict.BAD and cases.are_past:
        unknown = f": {'; '.join(cases.left_out)}" if cases.left_out else ""
        return EndMisjudged(
            f"{_NOW}both `{cases.good}` and `{cases.bad}` fail the same way",
            hint=f"whet can't restore what decided then{unknown};"
            f" `whet show {number}` shows what the first one did now",
        )
    if verdict is Verdict.BAD:
        return EndMisjudged(
            f"both `{cases.good}` and `{cases.bad}` fail the same way",
            hint="no difference decides: name a case that passes;"
            f" `whet show {number}` shows what the first one did",
        )
    did = "cannot be judged" if outcome.failure is None else f"fails: {outcome.failure.summary}"
    return EndMisjudged(
        f"{_NOW if cases.are_past else ''}`{cases.good}` should pass, but it {did}",
        hint=f"`whet show {number}` shows its output; name a case that passes",
    )
