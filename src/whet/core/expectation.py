"""What the author of a trial expects of it, written down before it runs."""

import itertools
import math
import re
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import partial
from typing import TypeAlias

from whet.core.condition import Condition
from whet.core.errors import BadCondition, BadExpectation
from whet.core.failure import FailureKind
from whet.core.measurements import NumberKind, is_observed, kind_of, number_of
from whet.core.number_range import NumberRange, range_of, range_of_comparison
from whet.core.oracle import says_nothing
from whet.core.outcome import Outcome
from whet.core.text.quantity import bounded
from whet.core.value_class import value_class
from whet.core.verdict import Verdict

_EXIT = re.compile(r"exit(?:\s+|\s*==?\s*)(\d+)")
_SIGNAL = re.compile(r"SIG[A-Z0-9]+")
# Exceptions of Python begin with a capital; the few that don't stand in a module (zlib.error).
_EXCEPTION = re.compile(r"[A-Z]\w*|\w+(?:\.\w+)+")
_OPERATOR = re.compile(r"[<>=~]")
_KINDS = {kind.value: kind for kind in FailureKind}
_VERDICTS = {verdict.value: verdict for verdict in Verdict}

_Test: TypeAlias = Callable[[Outcome, Verdict], bool | None]


class ExpectationKind(StrEnum):
    """What an expectation is about; a person guesses some of them better than others."""

    TIME = "time"
    MEMORY = "memory"
    NUMBER = "number"
    OUTPUT = "output"
    ENDING = "ending"


@value_class
class Expectation:
    """A statement about a trial that comes true, doesn't, or can't be told.

    Attributes:
        text: as its author wrote it.
        kind: what it is about.
        condition: the condition that it is; None: it is of another kind.
        range: the values that it allows a number; None: it isn't about one number.
    """

    text: str
    kind: ExpectationKind
    _test: _Test
    condition: Condition | None = None
    range: NumberRange | None = None

    @classmethod
    def parse(cls, text: str) -> "Expectation":
        """Read what stands after ``--expect``.

        One of: ``exit 0``; a verdict, ``good``, ``bad`` or ``skip``; a kind of failure, such
        as ``timeout`` or ``out of memory``; a signal, ``SIGSEGV``; an exception, with or
        without its module; a number, ``seconds ~ 3s``, ``peak ~ 1G..2G``; a condition as of
        ``--bad-if``, such as ``seconds < 2``.

        Raises:
            BadExpectation: if it is none of these.
        """
        plain = " ".join(text.split())
        # A line each, in the notebook: a line break in a pattern is written as one.
        line = text if "\n" not in text else text.replace("\n", r"\n") if "~" in text else plain
        named = _named(plain)
        if named is not None:
            return cls(line, ExpectationKind.ENDING, named, range=_exit_range(plain))
        guess = range_of(plain)
        if guess is not None:
            return cls(line, ExpectationKind(guess.kind), partial(_lies_in, guess), range=guess)
        condition = _condition(line)
        bounds = _bounds(condition)
        if bounds is not None:
            test = partial(_lies_in, bounds)
            return cls(line, ExpectationKind(bounds.kind), test, condition, bounds)
        return cls(line, _kind(condition), lambda outcome, _: condition.holds(outcome), condition)

    def met(self, outcome: Outcome, verdict: Verdict) -> bool | None:
        """Say whether it came true; None if that can't be told."""
        return None if says_nothing(outcome) else self._test(outcome, verdict)

    def observed(self, outcome: Outcome) -> float | None:
        """Return the number that it is about; None: it is about none, or none was reported."""
        return None if self.range is None else number_of(self.range.name, outcome)

    @property
    def names(self) -> frozenset[str]:
        """The names of the numbers that a program has to report for it to be decided."""
        if self.condition is not None:
            return self.condition.names
        name = "exit" if self.range is None else self.range.name
        return frozenset() if is_observed(name) else frozenset({name})


@value_class(kw_only=True)
class Score:
    """An expectation beside what came.

    Attributes:
        expectation: what was expected.
        met: whether it came true; None: that can't be told.
        observed: the number that it is about; None: it is about none, or none was reported.
        was_cut_short: whet ended the program, which may have used more without that.
    """

    expectation: Expectation
    met: bool | None
    observed: float | None
    was_cut_short: bool = False

    @property
    def ratio(self) -> float | None:
        """How many times the guess, or the bound that it passes, the number is."""
        of = self.expectation.range
        return None if of is None or self.observed is None else of.ratio(self.observed)


def scores_of(text: str, outcome: Outcome, verdict: Verdict | None) -> tuple[Score, ...]:
    """Return the expectations that are written down, a line each, beside what came."""
    scores: list[Score] = []
    for line in text.splitlines():
        try:
            expectation = Expectation.parse(line)
        except BadExpectation:  # a newer whet wrote it
            expectation = Expectation(line, ExpectationKind.ENDING, _unknown)
        met = expectation.met(outcome, verdict or Verdict.SKIP)
        cut = _was_cut_short(outcome)
        number = expectation.observed(outcome)
        scores.append(Score(expectation=expectation, met=met, observed=number, was_cut_short=cut))
    return tuple(scores)


def _unknown(_outcome: Outcome, _verdict: Verdict) -> None:
    """Tell nothing: this whet can't read the statement."""


def all_met(mets: Iterable[bool | None]) -> bool | None:
    """Return whether all came true; None: no one failed, but some can't be told."""
    known = list(mets)
    return False if False in known else None if None in known or not known else True


def check_together(expectations: Sequence[Expectation]) -> None:
    """Refuse expectations that can't all come true.

    Raises:
        BadExpectation: naming two of them.
    """
    for one, other in itertools.combinations(expectations, 2):
        verdicts = {each.text.strip().lower() for each in (one, other)} & set(_VERDICTS)
        excludes = (
            one.range is not None and other.range is not None and one.range.excludes(other.range)
        )
        if excludes or len(verdicts) > 1:
            raise BadExpectation(
                f"`{one.text}` and `{other.text}` can't both come true", hint="keep one of them"
            )


def _named(plain: str) -> _Test | None:
    exits = _EXIT.fullmatch(plain)
    if exits is not None:
        return lambda outcome, _: outcome.shell_exit_code == bounded(exits[1])
    if plain.lower() in _VERDICTS:
        return _verdict(_VERDICTS[plain.lower()])
    if plain.lower() in _KINDS:
        return lambda outcome, _: outcome.failed_by is _KINDS[plain.lower()]
    if _SIGNAL.fullmatch(plain):
        return lambda outcome, _: (
            outcome.signature is not None and outcome.signature.signal == plain
        )
    if _EXCEPTION.fullmatch(plain):
        return lambda outcome, _: _is_named(outcome, plain)
    return None


def _verdict(expected: Verdict) -> _Test:
    def test(_outcome: Outcome, verdict: Verdict) -> bool | None:
        # SKIP says neither that it is good nor that it is bad.
        return None if verdict is Verdict.SKIP is not expected else verdict is expected

    return test


def _is_named(outcome: Outcome, exception: str) -> bool:
    raised = "" if outcome.signature is None else outcome.signature.exception
    return raised == exception or raised.endswith(f".{exception}")


def _exit_range(plain: str) -> NumberRange | None:
    exits = _EXIT.fullmatch(plain)
    code = None if exits is None else float(bounded(exits[1]))
    return None if code is None else NumberRange(name="exit", low=code, high=code)


def _lies_in(of: NumberRange, outcome: Outcome, _verdict: Verdict) -> bool | None:
    """Return whether a number is as expected; of a program that whet ended, it is the least there is."""
    value = number_of(of.name, outcome)
    if value is None:
        return None
    if of.kind is NumberKind.NUMBER or not _was_cut_short(outcome):
        return of.holds(value)
    if value > of.high:
        return False
    return True if value >= of.low and of.high == math.inf else None


def _was_cut_short(outcome: Outcome) -> bool:
    return outcome.timed_out or outcome.overran_output


def _bounds(condition: Condition) -> NumberRange | None:
    """Return the range of a condition that is one comparison with a number."""
    terms = [term for terms in condition.alternatives for term in terms]
    return range_of_comparison(terms[0]) if len(terms) == 1 else None


def _kind(condition: Condition) -> ExpectationKind:
    """Return what several comparisons are about: the output if all are, else a number."""
    terms = [term for terms in condition.alternatives for term in terms]
    if all(term.pattern is not None for term in terms):
        return ExpectationKind.OUTPUT
    kinds = {kind_of(term.name) for term in terms if term.pattern is None}
    return ExpectationKind(kinds.pop()) if len(kinds) == 1 else ExpectationKind.NUMBER


def _condition(text: str) -> Condition:
    try:
        return Condition.parse(text)
    except BadCondition as error:
        if _OPERATOR.search(text):
            raise BadExpectation(str(error), hint=error.hint) from error
        raise BadExpectation(
            f"can't parse the expectation `{text}`",
            hint="write `--expect 'exit 0'`, `--expect KeyError`, `--expect timeout`,"
            " `--expect good`, `--expect 'seconds < 2'` or `--expect 'peak ~ 2G'`",
        ) from error
