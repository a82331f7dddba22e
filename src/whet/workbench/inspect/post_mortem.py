"""`whet post-mortem`: a debugger on the frames that were kept of a failure."""

from collections.abc import Iterator, Sequence

from whet.core.errors import NoFailureKept
from whet.core.observations.evidence import FAILURES, Evidence
from whet.core.outcome import Outcome
from whet.core.text.shell_words import joined
from whet.core.value_class import value_class
from whet.evidence.variables.kept_failure import KeptError, KeptFailure, kept_failures
from whet.host.trial.trial_secrets import masked_words
from whet.notebook.entry import Entry
from whet.workbench.trials.bench import Workbench


@value_class(kw_only=True)
class Dead:
    """One error that can be looked at.

    Attributes:
        failure: what it is of.
        error: the error itself, or one that it came from.
    """

    failure: KeptFailure
    error: KeptError


def dead_of(bench: Workbench, entry: Entry) -> tuple[Dead, ...]:
    """Return the errors that were kept of a trial, each before the ones that it came from.

    Raises:
        NoFailureKept: if there are none.
    """
    dead = dead_in(bench.notebook.evidence_of(entry.number, FAILURES))
    if not dead:
        command = joined(masked_words(entry.trial.command))
        raise NoFailureKept(
            f"trial {entry.number} has no saved frames",
            hint=f"run it again to save them: `whet run --locals -- {command[:100]}`",
        )
    return dead


def dead_in(evidence: Sequence[Evidence]) -> tuple[Dead, ...]:
    """Return the errors that were kept, each before the ones that it came from."""
    return tuple(
        Dead(failure=failure, error=error)
        for each in evidence
        if each.kind == FAILURES
        for failure in kept_failures(each.data)
        for error in _all_of(failure.error)
        if error.frames
    )


def likeliest(outcome: Outcome | None, dead: tuple[Dead, ...]) -> int:
    """Return which of the errors the trial is said to have failed with; else the last one."""
    failure = None if outcome is None else outcome.failure
    if failure is not None and failure.place is not None:
        at = (failure.place.path, failure.place.line)
        for number, each in enumerate(dead):
            place = each.error.place
            if place is not None and (place.frame.path, place.frame.line) == at:
                return number
    whole = [number for number, each in enumerate(dead) if each.error is each.failure.error]
    return whole[-1] if whole else 0


def look_at(dead: Dead) -> None:
    """Open pdb where it failed, in the innermost frame of the user's own."""
    from whet.evidence.variables.kept_frames import traceback_of, user_depth
    from whet.host.inspect.post_mortem import open_pdb

    trace = traceback_of(dead.error)
    assert trace is not None, "whet leaves out errors without frames"
    open_pdb(trace, user_depth(dead.error), dead.failure.sources)


def _all_of(error: KeptError) -> Iterator[KeptError]:
    yield error
    for member in error.members:
        yield from _all_of(member)
    if error.earlier is not None:
        yield from _all_of(error.earlier)
