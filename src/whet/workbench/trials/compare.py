"""`whet diff`: the differences between two recorded trials."""

from whet.core.difference import (
    Difference,
    Inheritance,
    OutcomeDifference,
    compare,
    compare_outcomes,
)
from whet.core.value_class import value_class
from whet.host.code.code_changes import diff_text
from whet.host.process.git import GitFailedError
from whet.notebook.entry import Entry
from whet.workbench.trials.bench import Workbench


@value_class(kw_only=True)
class TrialDifference:
    """In what two trials differ, and what that did.

    Attributes:
        before: the first one.
        after: the second one.
        difference: what was asked for and inherited.
        outcome: what came; None if one of them was cut off.
        code: the change of the code as a unified diff; empty if there is none.
    """

    before: Entry
    after: Entry
    difference: Difference
    outcome: OutcomeDifference | None
    code: str


def compare_trials(bench: Workbench, first: int, second: int) -> TrialDifference:
    """Compare two recorded trials.

    Raises:
        UnknownTrial: if one of them doesn't exist.
    """
    before, after = bench.notebook.trial(first), bench.notebook.trial(second)
    outcome = None
    if before.outcome is not None and after.outcome is not None:
        outcome = compare_outcomes(before.outcome, after.outcome)
    return TrialDifference(
        before=before,
        after=after,
        difference=compare(
            before.trial, after.trial, inherited_by(bench, before), inherited_by(bench, after)
        ),
        outcome=outcome,
        code=_code(before, after),
    )


def inherited_by(bench: Workbench, entry: Entry) -> Inheritance:
    """Return what stands behind the digests of a trial's surroundings, where it was kept."""
    surroundings = entry.trial.surroundings
    return Inheritance(
        environment=_kept(bench, surroundings.environment_digest),
        packages=_kept(bench, surroundings.packages_digest),
    )


def _kept(bench: Workbench, digest: str) -> dict[str, str]:
    try:
        return bench.notebook.environment(digest)
    except KeyError:
        return {}


def _code(before: Entry, after: Entry) -> str:
    if before.trial.code is None or after.trial.code is None:
        return ""
    try:
        return diff_text(before.trial.code, after.trial.code)
    except GitFailedError as error:
        return f"whet can't compare the code: {error}"
