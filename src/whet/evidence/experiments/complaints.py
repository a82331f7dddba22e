"""Whether a program that passes with a change still complains: then only its exit code is another one."""

import re

from whet.core.failure import FailureKind
from whet.core.outcome import Outcome

_MOST_BYTES = 1 << 20
_TRACEBACK = re.compile(r"^\s*Traceback \(most recent call last\)", re.MULTILINE)
_WARNING = re.compile(r"^(?:.{0,500}:\d+: )?(?P<says>\w{0,60}Warning: .{1,500})$", re.MULTILINE)


def still_complains(failed: Outcome, passed: Outcome) -> bool:
    """Whether all that a failing program said is still said, or a traceback that a handler prints.

    Args:
        failed: the failing run.
        passed: a run with a change that exits with 0.
    """
    now = _said(passed)
    known = len(_TRACEBACK.findall(_said(failed)))
    if len(_TRACEBACK.findall(now)) > max(0, known - _ends_in_one(failed)):
        return True
    failure = failed.failure
    if failure is None or failure.kind is not FailureKind.EXIT or failure.signature.exception:
        return False
    before = [line for line in _said(failed).splitlines() if line.strip()]
    lines = set(now.splitlines())
    return bool(before) and all(line in lines for line in before)


def warns_of_more(failed: Outcome, passed: Outcome) -> bool:
    """Whether a run with a change warns of something that the failing run didn't warn of.

    A library that can't do what the change asks for often says so, and does nothing.
    """
    return bool(_warnings(passed) - _warnings(failed))


def _warnings(outcome: Outcome) -> set[str]:
    text = outcome.stderr.tail(_MOST_BYTES).decode("utf-8", "replace")
    return {match["says"].strip() for match in _WARNING.finditer(text)}


def _ends_in_one(failed: Outcome) -> int:
    """Return 1 if the failure itself is told by a traceback."""
    failure = failed.failure
    return int(failure is not None and bool(failure.signature.exception))


def _said(outcome: Outcome) -> str:
    streams = (outcome.stdout, outcome.stderr)
    return "\n".join(each.tail(_MOST_BYTES).decode("utf-8", "replace") for each in streams)
