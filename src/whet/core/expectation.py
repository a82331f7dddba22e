"""What the author of a trial expects of it, written down before it runs."""

import re
from collections.abc import Callable
from typing import TypeAlias

from whet.core.condition import Condition
from whet.core.errors import BadCondition, BadExpectation
from whet.core.failure import FailureKind
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


@value_class
class Expectation:
    """A statement about a trial that comes true, doesn't, or can't be told.

    Attributes:
        text: as its author wrote it.
        condition: the condition that it is; None: it is of another kind.
    """

    text: str
    _test: _Test
    condition: Condition | None = None

    @classmethod
    def parse(cls, text: str) -> "Expectation":
        """Read what stands after ``--expect``.

        One of: ``exit 0``; a verdict, ``good``, ``bad`` or ``skip``; a kind of failure, such
        as ``timeout`` or ``out of memory``; a signal, ``SIGSEGV``; an exception, with or
        without its module; a condition as of ``--bad-if``, such as ``seconds < 2``.

        Raises:
            BadExpectation: if it is none of these.
        """
        plain = " ".join(text.split())
        named = _named(plain)
        if named is not None:
            return cls(text, named)
        condition = _condition(text)
        return cls(text, lambda outcome, _: condition.holds(outcome), condition)

    def met(self, outcome: Outcome, verdict: Verdict) -> bool | None:
        """Say whether it came true; None if that can't be told."""
        return None if says_nothing(outcome) else self._test(outcome, verdict)


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


def _condition(text: str) -> Condition:
    try:
        return Condition.parse(text)
    except BadCondition as error:
        if _OPERATOR.search(text):
            raise BadExpectation(str(error), hint=error.hint) from error
        raise BadExpectation(
            f"can't parse the expectation `{text}`",
            hint="write `--expect 'exit 0'`, `--expect KeyError`, `--expect timeout`,"
            " `--expect good` or `--expect 'seconds < 2'`",
        ) from error
