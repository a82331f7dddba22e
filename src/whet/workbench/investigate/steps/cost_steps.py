"""The steps of an investigation in which BAD means that the command costs more than a bound."""

from contextlib import ExitStack
from dataclasses import replace

from whet.core.cost_bound import change_in_words
from whet.core.errors import WhetError
from whet.core.text.shell_words import joined
from whet.host.process.own_command import own_words
from whet.host.trial.trial_secrets import masked_words
from whet.workbench.compare.weighing import weighing_for
from whet.workbench.files.named_files import payload_names
from whet.workbench.investigate.progress.investigating import Work
from whet.workbench.investigate.steps.costs import (
    look_at_busy_lines,
    look_at_memory,
    look_at_slower_lines,
)
from whet.workbench.investigate.steps.investigated_changes import search_history
from whet.workbench.investigate.steps.so_far import Known
from whet.workbench.trials.reproduce import Baseline
from whet.workbench.trials.session import Session


def weighed(work: Work, stack: ExitStack) -> Session:
    """Return the session that answers each trial by what several runs cost, if there is a bound.

    Args:
        work: the investigation.
        stack: keeps the places of the versions that are compared.

    Raises:
        BadUsage: if the bound is a share, and no good version is there to compare with.
    """
    bound, versions = work.request.judging.bound, work.history.versions
    reference = None
    if work.is_relative and versions is not None and versions.old is not None:
        reference = versions.on(work.trial, versions.old)
    try:
        weighing = weighing_for(work.bench, bound, reference, stack)
    except WhetError:
        work.report.remove_if_empty()
        raise
    return replace(work.session, weighing=weighing)


def cost_in_words(work: Work, baseline: Baseline) -> str:
    """Return what the command costs, in a sentence."""
    bound = work.request.judging.bound
    assert bound is not None
    than = "the good end" if work.is_relative else bound.text
    said = change_in_words(baseline.outcome.measurements, than)
    return f"it {said}; several runs decide each verdict"


def find_cost(work: Work, facts: Known, baseline: Baseline) -> None:
    """Name the line that costs most, and the version that made it so; no value of the program is wrong."""
    facts.clues += work.attempt(lambda: look_at_memory(work, baseline, ()), ())
    facts.clues += work.attempt(lambda: look_at_busy_lines(work, baseline), ())
    options = work.options
    is_named = bool(options.package or options.good or options.bad)
    work.attempt(lambda: search_history(work, baseline), None, is_asked=is_named)
    work.attempt(lambda: look_at_slower_lines(work, baseline), None)
    names, bound = payload_names(work.trial, work.request.stdin), work.request.judging.bound
    if names and bound is not None and bound.share is None:
        command = joined(masked_words(work.request.command))
        words = joined([*own_words(), "shrink", bound.option, bound.text, *names])
        line = f"{words} -- {command}"
        facts.conclusions.append(f"The smallest input that costs as much: `{line}` looks for it.")
