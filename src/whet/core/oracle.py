"""Judging outcomes. Pure: the same outcome always gets the same verdict."""

import re
from typing import TYPE_CHECKING, Protocol

from whet.core.failure import FailureSignature
from whet.core.outcome import Outcome
from whet.core.site import Site
from whet.core.value_class import value_class
from whet.core.verdict import SKIP_EXIT_CODE, Verdict

if TYPE_CHECKING:  # most trials are judged without one
    from whet.core.condition import Condition
    from whet.core.cost_bound import CostBound

_HIGHEST_BAD_EXIT_CODE = 127
_DATA = re.compile(r"""'[^']*'|"[^"]*"|(?<![\w.])[-+]?\d[\d.]*""")


class Oracle(Protocol):
    """Decides what an outcome proves."""

    @property
    def description(self) -> str:
        """What BAD means to this oracle, to complete the sentence "bad means ..."."""
        ...

    def judge(self, outcome: Outcome, /) -> Verdict:
        """Say what ``outcome`` proves."""
        ...


def says_nothing(outcome: Outcome) -> bool:
    """Whether the command never had its chance: no oracle may conclude anything from it."""
    return outcome.interrupted or outcome.failed_reset is not None


@value_class
class AnyFailure:
    """BAD means any failure: what a single trial is judged by when nothing else was said."""

    @property
    def description(self) -> str:
        """What BAD means."""
        return "it fails in any way"

    def judge(self, outcome: Outcome, /) -> Verdict:
        """Say what ``outcome`` proves."""
        if says_nothing(outcome):
            return Verdict.SKIP
        return Verdict.GOOD if outcome.failure is None else Verdict.BAD


@value_class
class SameFailure:
    """BAD means the same bug as the reference: an equal signature.

    Attributes:
        reference: the signature.
        site: the place that must be that of the failure too, where the code doesn't change;
            None: any.
        any_place: it computes and doesn't end, and stands elsewhere at each look.
        any_words: its message says other things in each run: it is the same with any.
        values: words that its message must have too, as they are data that may not change.
    """

    reference: FailureSignature
    site: Site | None = None
    values: tuple[str, ...] = ()
    any_words: bool = False
    any_place: bool = False

    @property
    def description(self) -> str:
        """What BAD means."""
        return f"it fails the same way: {_words(self.reference)}"

    def judge(self, outcome: Outcome, /) -> Verdict:
        """Say what ``outcome`` proves."""
        if says_nothing(outcome):
            return Verdict.SKIP
        if outcome.failure is None:
            return Verdict.GOOD
        # Another failure isn't "the bug is gone": calling it GOOD makes searches slip to it.
        is_same = outcome.signature == self.reference
        if self.any_words and outcome.signature is not None:
            is_same = outcome.signature.wordless == self.reference.wordless
        if self.any_place and outcome.signature is not None:
            is_same = outcome.signature.kind is self.reference.kind
        if self.site is not None and not self.site.is_that_of(outcome.failure.site):
            is_same = False
        if self.values and not self._states_values(outcome.failure.summary):
            is_same = False
        return Verdict.BAD if is_same else Verdict.SKIP

    def _states_values(self, message: str) -> bool:
        return all(re.search(rf"(?<!\w){re.escape(one)}(?!\w)", message) for one in self.values)


@value_class
class SameData:
    """BAD means the same bug, and its message has the same texts in quotes and the same numbers.

    Attributes:
        oracle: what the same bug is.
        data: these texts and numbers.
    """

    oracle: Oracle
    data: tuple[str, ...]

    @property
    def description(self) -> str:
        """What BAD means."""
        return self.oracle.description

    def judge(self, outcome: Outcome, /) -> Verdict:
        """Say what ``outcome`` proves."""
        verdict = self.oracle.judge(outcome)
        is_other = outcome.failure is not None and data_in(outcome.failure.summary) != self.data
        return Verdict.SKIP if verdict is Verdict.BAD and is_other else verdict


def data_in(message: str) -> tuple[str, ...]:
    """Return the texts in quotes and the numbers in a message."""
    return tuple(_DATA.findall(message))


@value_class
class BadIf:
    """BAD means that a condition over measurements and output holds."""

    condition: "Condition"

    @property
    def description(self) -> str:
        """What BAD means."""
        return f"`{self.condition.text}`"

    def judge(self, outcome: Outcome, /) -> Verdict:
        """Say what ``outcome`` proves."""
        if says_nothing(outcome):
            return Verdict.SKIP
        match self.condition.holds(outcome):
            case True:
                return Verdict.BAD
            case None:
                return Verdict.SKIP
            case False:
                # A crash before the condition could become true proves nothing about it.
                return Verdict.GOOD if outcome.failure is None else Verdict.SKIP


@value_class
class CostsMore:
    """BAD means more time or memory than a bound, as several runs together show.

    One run can't show that: the outcome is that of several runs (`whet.workbench.compare.weighing`).
    """

    bound: "CostBound"

    @property
    def description(self) -> str:
        """What BAD means."""
        return self.bound.description

    def judge(self, outcome: Outcome, /) -> Verdict:
        """Say what ``outcome`` proves."""
        from whet.core.cost_bound import COSTS_MORE

        costs_more = outcome.measurements.get(COSTS_MORE)
        if says_nothing(outcome) or costs_more is None:
            return Verdict.SKIP
        return Verdict.BAD if costs_more else Verdict.GOOD


@value_class
class ScriptVerdict:
    """The trial's command is a script that judges: 0 good, 125 skip, 1 to 127 bad.

    The codes are those of `git bisect run`. A script that is killed or times out proves
    nothing, where git would abort the search.
    """

    @property
    def description(self) -> str:
        """What BAD means."""
        return "the script exits 1 to 124, 126 or 127"

    def judge(self, outcome: Outcome, /) -> Verdict:
        """Say what ``outcome`` proves."""
        if says_nothing(outcome) or outcome.timed_out or outcome.signal is not None:
            return Verdict.SKIP
        code = outcome.shell_exit_code
        if code == 0:
            return Verdict.GOOD
        if code == SKIP_EXIT_CODE or code > _HIGHEST_BAD_EXIT_CODE:
            return Verdict.SKIP
        return Verdict.BAD


@value_class
class Interesting:
    """The trial's command is an interestingness test of the reducers' kind: 0 is BAD.

    Attributes:
        also: an exit code by which the test says that it met something else worth keeping.
    """

    also: int | None = None

    @property
    def description(self) -> str:
        """What BAD means."""
        return "the interestingness test exits 0"

    def judge(self, outcome: Outcome, /) -> Verdict:
        """Say what ``outcome`` proves."""
        if says_nothing(outcome) or outcome.timed_out or outcome.signal is not None:
            return Verdict.SKIP
        if self.is_also(outcome):
            return Verdict.SKIP
        return Verdict.BAD if outcome.exit_code == 0 else Verdict.GOOD

    def is_also(self, outcome: Outcome) -> bool:
        """Whether the test said that it met something else."""
        return self.also is not None and outcome.exit_code == self.also


def _words(signature: FailureSignature) -> str:
    what = signature.exception or signature.signal or signature.kind.value
    if signature.exit_code is not None:
        what = f"{what} {signature.exit_code}"
    where = signature.user_function or signature.library_function
    return f"{what} in {where}" if where else what
