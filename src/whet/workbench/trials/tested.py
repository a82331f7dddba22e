"""A trial with its outcome and verdict: the result of every run and of every step of a search."""

from concurrent.futures import CancelledError, Future
from dataclasses import replace
from typing import Generic, TypeVar

from whet.core.cost_bound import change_in_words
from whet.core.errors import WhetError
from whet.core.oracle import Oracle
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict

CandidateT = TypeVar("CandidateT")
CandidateT_co = TypeVar("CandidateT_co", covariant=True)


@value_class(kw_only=True)
class Tested(Generic[CandidateT_co]):
    """One trial, what it did and what that proves.

    Attributes:
        candidate: what a search proposed; None: no search asked.
        trial: what was run.
        outcome: the facts; an empty one if the trial could not be run.
        verdict: what they prove.
        number: the notebook's number; None: it was not run, or an earlier trial answered.
        label: the candidate in a word, as shown.
        skipped: why the trial could not be run; None: it was.
    """

    __test__ = False  # pytest: this is no test class

    candidate: CandidateT_co
    trial: Trial
    outcome: Outcome
    verdict: Verdict
    number: int | None
    label: str = ""
    skipped: WhetError | None = None

    @property
    def own_number(self) -> int:
        """The number of a trial that was run just now."""
        assert self.number is not None, "an earlier trial answered"
        return self.number

    @property
    def did(self) -> str:
        """What it did, in a line."""
        if self.skipped is not None:
            return str(self.skipped)
        if said := change_in_words(self.outcome.measurements):
            return said
        return "passes" if self.outcome.failure is None else self.outcome.failure.summary

    def of(self, candidate: CandidateT) -> "Tested[CandidateT]":
        """Return the same, of a candidate of a search."""
        return Tested(
            candidate=candidate, trial=self.trial, outcome=self.outcome, verdict=self.verdict,
            number=self.number, label=self.label, skipped=self.skipped,
        )  # fmt: skip

    def judged_by(self, oracle: Oracle) -> "Tested[CandidateT_co]":
        """Return the same with the verdict of another oracle."""
        return replace(self, verdict=oracle.judge(self.outcome))


def result_of(trial: Trial, future: Future[Outcome], oracle: Oracle, label: str) -> Tested[None]:
    """Wait for a trial and judge it; one that was cancelled counts as interrupted.

    Raises:
        WhetError: if it can't be run.
    """
    try:
        outcome = future.result()
    except CancelledError:
        outcome = replace(Outcome(), interrupted=True)
    number: int | None = getattr(future, "number", None)
    return Tested(
        candidate=None, trial=trial, outcome=outcome, verdict=oracle.judge(outcome),
        number=number, label=label,
    )  # fmt: skip
