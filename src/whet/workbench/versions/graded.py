"""Which failures count as the one that is searched for, when versions vary: the same or a similar one."""

from dataclasses import dataclass, field, replace

from whet.core.failure import Failure, FailureSignature
from whet.core.likeness import likeness
from whet.core.oracle import Oracle, SameFailure, says_nothing
from whet.core.outcome import Outcome
from whet.core.value_class import value_class
from whet.core.verdict import Verdict

BY_EXIT = "by its exit code alone"


@value_class
class _Known:
    """A failure that counts as the one looked for, in which way, and which one it is like."""

    failure: Failure
    way: str
    like: FailureSignature | None


@dataclass(slots=True)
class LikeFailure:
    """BAD means the failure of the bad end, or one that is like it or like a neighbour's.

    Between two calls of `learn` or `count_as_bad` the same outcome always gets the same verdict:
    those are called when a round is over, so that how many run at once changes no verdict.
    """

    same: SameFailure
    failure: Failure
    _known: dict[FailureSignature, _Known] = field(default_factory=dict[FailureSignature, "_Known"])

    def __post_init__(self) -> None:
        """Begin with the failure of the bad end."""
        self._known[self.same.reference] = _Known(
            replace(self.failure, signature=self.same.reference), "", None
        )

    @property
    def description(self) -> str:
        """What BAD means."""
        return f"{self.same.description}, or in a similar way"

    def judge(self, outcome: Outcome, /) -> Verdict:
        """Say what ``outcome`` proves."""
        verdict = self.same.judge(outcome)
        if verdict is not Verdict.SKIP or says_nothing(outcome) or outcome.failure is None:
            return verdict
        return Verdict.SKIP if self._graded(outcome.failure) is None else Verdict.BAD

    def learn(self, outcome: Outcome) -> None:
        """Let what is like the failure stand for it from now on."""
        if self.judge(outcome) is Verdict.BAD and outcome.failure is not None:
            grade = self._graded(outcome.failure)
            if grade is not None:
                self._known.setdefault(outcome.failure.signature, grade)

    def count_as_bad(self, failure: Failure) -> None:
        """Let a failure that is unlike every other one count as the one that is looked for."""
        self._known[failure.signature] = _Known(failure, BY_EXIT, None)

    def ways(self, outcome: Outcome) -> tuple[str, ...]:
        """Return by which grades an outcome is BAD, from it to the bad end; none: it is the same."""
        if outcome.failure is None or self.judge(outcome) is not Verdict.BAD:
            return ()
        grade = self._graded(outcome.failure)
        ways: list[str] = []
        while grade is not None and grade.way:
            ways.append(grade.way)
            grade = None if grade.like is None else self._known[grade.like]
        return tuple(ways)

    def _graded(self, failure: Failure) -> _Known | None:
        exact = self._known.get(failure.signature)
        if exact is not None:
            return exact
        for grade in self._known.values():
            way = likeness(grade.failure, failure)
            if way:
                return _Known(failure, way, grade.failure.signature)
        return None


def graded(oracle: Oracle, failing: Outcome | None) -> Oracle:
    """Return what judges between the ends: where versions vary, what is like a failure is it."""
    if not isinstance(oracle, SameFailure) or oracle.site is not None:
        return oracle
    if failing is None or failing.failure is None:
        return oracle
    return LikeFailure(same=oracle, failure=failing.failure)
