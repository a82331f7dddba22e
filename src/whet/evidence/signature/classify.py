"""From an outcome's facts to the failure that they show."""

from collections.abc import Sequence

from whet.core.failure import Failure, FailureKind, FailureSignature
from whet.core.outcome import Outcome
from whet.core.trial import Trial

SUMMARY_CHARACTERS = 200


def classify(trial: Trial, outcome: Outcome, roots: Sequence[str] = ()) -> Failure | None:
    """Return the failure that ``outcome`` shows, or None if the program did not fail.

    Deterministic, never raises, and linear in the size of the output that it reads: at most
    256 KiB of the end of each stream, or 4 MiB if a longer message ends it.

    Args:
        trial: what was run; tells the user's code from libraries.
        outcome: how it ended.
        roots: folders other than the trial's own in which its project stood, such as a worktree,
            so that its files get the names that they have in the project.
    """
    if outcome.interrupted:
        return None
    if outcome.failed_reset is not None:
        return _failed_reset(outcome.failed_reset)
    if (
        not (outcome.timed_out or outcome.overran_output or outcome.signal)
        and not outcome.exit_code
    ):
        return None
    # Most trials of a search end well, and `whet run -- true` should not wait for what reads
    # tracebacks to be imported.
    from whet.evidence.signature.diagnosis import Diagnosis
    from whet.evidence.signature.ownership import Ownership

    diagnosis = Diagnosis(outcome, Ownership.of(trial, roots))
    if not trial.limits.starve:
        return diagnosis.failure()
    from whet.evidence.signature.limit_met import naming_limit

    limits = {each.name for each in outcome.limits_met}
    failure = diagnosis.failure()
    if "fail" in limits:
        from whet.evidence.signature.room_met import naming_fault

        failure = naming_fault(failure, outcome, diagnosis.spoken)
    failure = naming_limit(failure, trial.limits, limits, diagnosis.spoken)
    if trial.limits.room is None or failure.limit:
        return failure
    from whet.evidence.signature.room_met import naming_room

    return naming_room(failure, trial.limits.room, outcome, diagnosis.spoken)


def _failed_reset(step: str) -> Failure:
    words = " ".join(step.split())
    return Failure(
        signature=FailureSignature(kind=FailureKind.RESET, message=words[:SUMMARY_CHARACTERS]),
        summary=f"reset step failed: {words}"[:SUMMARY_CHARACTERS],
    )


def headline(failure: Failure) -> str:
    """Say in one line what failed and where, such as ``KeyError in load.py:parse (line 12)``."""
    signature = failure.signature
    what = signature.exception or signature.signal or failure.kind.value
    if failure.kind is FailureKind.EXIT and not signature.exception:
        code = signature.exit_code
        what = signature.message if code is None else f"exit code {code}"
    elif signature.exception and failure.kind not in {FailureKind.EXCEPTION, FailureKind.ASSERTION}:
        what = f"{failure.kind.value}: {what}"
    where = signature.user_function or signature.library_function
    if not where:
        return what
    # A cycle of a recursion is in more than one place.
    function = where.rsplit(":", 1)[-1]
    lines = [frame.line for frame in failure.frames if frame.function.endswith(function)]
    return (
        f"{what} in {where} (line {lines[-1]})" if function and any(lines) else f"{what} in {where}"
    )
