"""The first NaN of a run: of a long one, a sparse look tells where to follow each line."""

from collections.abc import Callable, Sequence

from whet.core.text.record import JsonObject, text
from whet.evidence.clues.closer_look import of_kind
from whet.evidence.clues.not_a_number import first_seen, holds_it, speaks_of_it
from whet.workbench.inspect.post_mortem import dead_in, likeliest
from whet.workbench.trials.reproduce import Baseline

SLOW_SECONDS = 3.0
"""A run that takes longer is looked at sparsely first: to follow each of its lines takes too long."""


def libraries_of_numbers(baseline: Baseline) -> set[str] | None:
    """Return whose a number may be that is none; None: the failure is about no such thing."""
    outcome = baseline.outcome
    dead = dead_in(outcome.evidence)
    process = dead[likeliest(outcome, dead)] if dead else None
    message = baseline.oracle.description if outcome.failure is None else outcome.failure.summary
    is_held = process is not None and holds_it(process.error)
    if not is_held and not speaks_of_it(message):
        return None
    modules = () if process is None else process.failure.modules
    return {name.partition(".")[0] for name in modules} & {"torch", "jax"}


def watched_numbers(
    look: Callable[[str], Sequence[JsonObject]], usual_seconds: float
) -> Sequence[JsonObject]:
    """Return what runs report of numbers that are none.

    Args:
        look: runs the command with a closer look by its name.
        usual_seconds: what a plain run takes.
    """
    if usual_seconds > SLOW_SECONDS:
        reports = look("numbers:sparse")
        clean = first_seen(reports)
        if not _has_nan(reports) and clean is not None:
            reports = look(f"numbers:from={clean}")
        if _has_nan(reports):
            return reports
    return look("numbers")


def _has_nan(reports: Sequence[JsonObject]) -> bool:
    return any(text(each, "what") == "NaN" for each in of_kind(reports, "number"))
