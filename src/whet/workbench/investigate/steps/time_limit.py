"""A limit of time for a program that has none: it may never end."""

from dataclasses import replace

from whet.core.event import Notice
from whet.core.text.quantity import shown_seconds
from whet.core.trial import Trial
from whet.workbench.investigate.progress.investigating import Work
from whet.workbench.trials.reproduce import HUNG_SECONDS, Baseline

_OF_A_HANG = 0.25
"""How much of the time the first run of a program may take that has no limit."""


def limited(work: Work) -> Trial:
    """Return the command with a limit of time, if it has none: it may never end.

    It is long, for many a program takes its time before it fails. In a short time, nothing shows that
    a program doesn't end.
    """
    trial, seconds = work.trial, work.most_seconds * _OF_A_HANG
    if work.session.weighing is not None:
        return trial  # its runs have a limit that follows from the bound
    if trial.limits.wall_seconds is not None or seconds < HUNG_SECONDS:
        return trial
    return replace(trial, limits=replace(trial.limits, wall_seconds=seconds))


def as_asked(work: Work, baseline: Baseline, asked: float | None) -> Trial:
    """Return the command with the limit of the user's; one that never ends has its later runs' limit."""
    seconds = asked
    if asked is None and work.session.weighing is None and baseline.outcome.timed_out:
        took = shown_seconds(baseline.outcome.wall_seconds)
        words = f"it still ran after {took}, and whet ended it; `--timeout 10m` lets it run longer"
        work.bench.emit(Notice(text=words))
        seconds = HUNG_SECONDS
    return replace(work.trial, limits=replace(work.trial.limits, wall_seconds=seconds))
