"""The system calls of one more run: which file the failure is about, if no message names it."""

import re
from dataclasses import replace

from whet.core.failure import Failure, FailureKind
from whet.core.observations.system_call import FailedCall, PathFacts
from whet.core.outcome import Outcome
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.core.verdict import Verdict
from whet.evidence.calls.call_words import failed_words
from whet.evidence.calls.telling_calls import errors_of, explains, is_named, is_question
from whet.workbench.inspect.syscalls import FOLLOWED, calls_in, last_words, report_of
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Place, Session

_KINDS = frozenset(
    {
        FailureKind.EXCEPTION,
        FailureKind.EXIT,
        FailureKind.NO_SPACE_LEFT,
        FailureKind.USAGE_ERROR,
        FailureKind.TEST_FAILURE,
    }
)
_OF_FILES = re.compile(
    r"not found|no such|cannot (open|read|write|find|load|create)|could ?n[o']t (open|read|write|find"
    r"|load|connect)|unable to|failed to|permission|denied|does not exist|missing|refused|read-only",
    re.IGNORECASE,
)
_LONGEST_SECONDS = 120.0
_MOST_BEFORE = 3


@value_class(kw_only=True)
class CallFinding:
    """What the calls tell.

    Attributes:
        says: in a sentence; empty: nothing that the failure doesn't say itself.
        path: the file that it is about; empty: none is known.
        facts: what was true of that at the moment; None: that isn't known.
    """

    says: str = ""
    path: str = ""
    facts: PathFacts | None = None


def is_worth_a_look(failure: Failure | None, outcome: Outcome, seconds: float) -> bool:
    """Whether the calls of a run may tell more than a failure says: it speaks of files, or is silent."""
    if failure is None or failure.limit or failure.kind not in _KINDS or seconds > _LONGEST_SECONDS:
        return False
    text = f"{failure.summary}\n{last_words(outcome)}"
    says_nothing = failure.kind is FailureKind.EXIT and not failure.frames
    speaks_of_files = (
        bool(errors_of(failure, text)) or _OF_FILES.search(failure.summary) is not None
    )
    return says_nothing or speaks_of_files


def look_at_calls(
    session: Session,
    trial: Trial,
    baseline: Baseline,
    *,
    place: Place | None = None,
) -> CallFinding:
    """Run a trial once more with its calls followed, and return what they add.

    Args:
        session: runs it.
        trial: what fails.
        baseline: how it fails.
        place: where it runs.
    """
    followed = replace(session, tasks=replace(session.tasks, follows=FOLLOWED.follows))
    ran = followed.run(trial, baseline.oracle, "calls followed", place=place)
    outcome, calls = ran.outcome, calls_in(ran.outcome.evidence)
    if calls is None or ran.verdict is not Verdict.BAD:
        return CallFinding()  # slowed down as it is, it did something else
    return finding_in(report_of(calls, outcome).telling, outcome)


def finding_in(likeliest_first: tuple[FailedCall, ...], outcome: Outcome) -> CallFinding:
    """Return what failing calls add to what an outcome says itself."""
    failure, words = outcome.failure, last_words(outcome)
    cause = next((call for call in likeliest_first if explains(call, failure, words)), None)
    text = f"{failure.summary if failure else ''}\n{words}"
    if cause is not None:
        says = failed_words(cause) if _adds(cause, text) else ""
        if not cause.path.startswith("/"):
            return CallFinding(says=says)
        return CallFinding(says=says, path=cause.path, facts=cause.facts)
    others = [call for call in likeliest_first if _may_matter(call)][:_MOST_BEFORE]
    if not others:
        return CallFinding()
    return CallFinding(says="before it failed: " + "; ".join(failed_words(call) for call in others))


def _adds(call: FailedCall, text: str) -> bool:
    """Whether more is known of a call than a text says that names its path."""
    if not is_named(call, text):
        return True
    facts = call.facts
    is_elsewhere = facts is not None and bool(facts.near)
    has_reason = call.error not in {"ENOENT", "EEXIST", "EISDIR", "ENOTDIR"}
    is_relative = bool(call.given)
    return has_reason or is_elsewhere or is_relative


def _may_matter(call: FailedCall) -> bool:
    """Whether a call that no message speaks of was more than a question or a search."""
    if is_question(call) or call.looked_in or call.error in {"EEXIST", "EINVAL", "EBADF"}:
        return False
    return any(frame.in_user_code for frame in (*call.frames, *call.started_by))
