"""`--like TRIAL`: the options of a recorded trial, for any verb that runs trials."""

from dataclasses import replace

from whet.core.errors import BadUsage
from whet.core.limits import Limits
from whet.core.trial import STDIN_EMPTY, STDIN_INHERITED, Trial
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.request import TrialRequest


def like_trial(request: TrialRequest, name: int | str) -> TrialRequest:
    """Return a request with what an earlier trial ran with, where the user says nothing else.

    That is its command, folder, variables (and with them its switches), reset steps and limits.

    Raises:
        UnknownTrial: if there is no such trial.
        BadUsage: if it ran on files or code of its own, which a request can't say.
    """
    with open_workbench() as bench:
        entry = bench.notebook.find(name)
    number, trial = entry.number, entry.trial
    own = _own(trial)
    if own:
        raise BadUsage(
            f"trial {number} ran {own}, which `--like` can't restore",
            hint=f"`whet again {number}` runs it as it was",
        )
    usual = request.limits == Limits() and not request.limit_set
    limits = replace(trial.limits, wall_seconds=None) if usual else request.limits
    return replace(
        request,
        command=request.command or trial.command,
        cwd=request.cwd or trial.cwd,
        environment={**trial.environment, **request.environment},
        reset=request.reset or trial.reset,
        timeout_seconds=request.timeout_seconds or trial.limits.wall_seconds,
        limits=limits,
        hang_seconds=request.hang_seconds or trial.hang_seconds,
        hangs_if_idle=request.hang_seconds is None and trial.hangs_if_idle,
        measures={**trial.measures, **request.measures},
    )


def _own(trial: Trial) -> str:
    """Return what a trial had of its own, in words."""
    if trial.payloads:
        return "on a copy of a file"
    if trial.revision or trial.packages or trial.setup:
        return "on another version"
    if trial.unset:
        return "without some variables"
    if trial.stdin not in {STDIN_EMPTY, STDIN_INHERITED}:
        return "with an input of its own"
    return ""
