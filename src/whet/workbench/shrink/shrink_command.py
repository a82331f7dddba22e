"""`whet shrink --arguments` and `--environment`: the smallest command that still fails the same way."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

from whet.core.errors import BadUsage
from whet.core.trial import Trial
from whet.desk.one_liner import quote_word
from whet.execution.warm_search import WarmSearch
from whet.host.trial.clean_environment import clean_environment
from whet.host.trial.kept_environment import environment_to_keep
from whet.host.trial.trial_secrets import masked_words
from whet.reduction.commands.arguments import Words, reduce_arguments
from whet.reduction.commands.variables import Variables, as_variables, reduce_variables
from whet.workbench.files.named_files import first_argument
from whet.workbench.files.pasted_line import stored_line
from whet.workbench.shrink.goals import Goals
from whet.workbench.shrink.shrink import why_not_warm
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.command_search import CommandOptions, CommandSearch, ShrunkCommand
from whet.workbench.trials.reproduce import Baseline, held_to_site, reproduce, with_patience
from whet.workbench.trials.request import TrialRequest
from whet.workbench.trials.session import Session, open_session


def shrink_arguments(
    bench: Workbench, request: TrialRequest, options: CommandOptions
) -> ShrunkCommand:
    """Find the fewest and plainest arguments with which a command still fails the same way.

    Raises:
        BadUsage: if the command has none.
        BaselineDoesNotFail: if it passes.
    """
    trial = bench.for_search(bench.build_trial(request))
    first = first_argument(trial.command, Path(trial.cwd))
    if request.judging.script:
        first = 1 + first_argument(trial.command[1:], Path(trial.cwd))
    if first >= len(trial.command):
        raise BadUsage(
            f"`{' '.join(masked_words(trial.command))}` has no arguments after the program",
            hint="whet has nothing to leave out; `whet shrink FILE -- …` makes a file smaller",
        )
    with open_session(bench, "shrink", request, trial) as session:
        search = _fewest_arguments(session, trial, first, options)
        session.conclude(search.stopped, search.facts)
    return search


def _fewest_arguments(
    session: Session, trial: Trial, first: int, options: CommandOptions
) -> ShrunkCommand:
    bench, baseline = session.bench, reproduce(session, trial)
    patient = with_patience(trial, baseline.reproduction.wall_seconds)
    oracle = held_to_site(baseline, trial)
    why_cold = why_cold_arguments(baseline, trial, options)
    search: CommandSearch[Words] = CommandSearch(
        session=session, oracle=oracle, repeats=baseline.repeats, options=options,
        best=trial.command,
        begin=lambda command: reduce_arguments(command, first),
        as_trial=lambda command: replace(patient, command=command),
        label=lambda command: f"{len(command) - first} words", why_cold=why_cold,
        warm=None if why_cold
        else WarmSearch(bench.cleanup_journal, judge=oracle.judge, first_word=first),
    )  # fmt: skip
    stopped = search.run()
    smaller = replace(trial, command=search.best)
    return ShrunkCommand(
        what="arguments", before=len(trial.command) - first, kept=search.best[first:],
        line=stored_line(session, smaller, baseline, oracle), trial=smaller, stopped=stopped, trials=search.trials,
        cached=search.cached, wall_seconds=search.wall_seconds,
        remark="" if len(search.best) > first
        else "the failure depends on none of them",
        warm=search.came_warm, cold_because=search.cold_because,
    )  # fmt: skip


def shrink_environment(
    bench: Workbench, request: TrialRequest, options: CommandOptions
) -> ShrunkCommand:
    """Find the fewest and plainest variables with which a command still fails the same way.

    Raises:
        BadUsage: if there are none.
        BaselineDoesNotFail: if it passes.
    """
    whole = {**_inherited(bench), **request.environment}
    if not whole:
        raise BadUsage("the environment is empty", hint="whet has nothing to leave out")
    trial = _named_by_path(bench.for_search(bench.build_trial(request)), whole)
    with open_session(bench, "shrink", request, trial) as session:
        search = _fewest_variables(session, trial, whole, options)
        session.conclude(search.stopped, search.facts)
    return search


def _inherited(bench: Workbench) -> dict[str, str]:
    return {
        name: value for name, value in bench.environment.items() if not name.startswith("WHET_")
    }


def _fewest_variables(
    session: Session, trial: Trial, whole: dict[str, str], options: CommandOptions
) -> ShrunkCommand:
    bench, inherited = session.bench, _inherited(session.bench)
    visible = environment_to_keep(whole, state=bench.project.state)
    secret = {name for name, value in whole.items() if visible.get(name, value) != value}
    baseline = reproduce(session, trial)
    patient = with_patience(trial, baseline.reproduction.wall_seconds)
    oracle = held_to_site(baseline, trial)
    search: CommandSearch[Variables] = CommandSearch(
        session=session, oracle=oracle, repeats=baseline.repeats,
        options=options, best=as_variables(whole),
        begin=lambda variables: reduce_variables(dict(variables), clean_environment(), secret),
        as_trial=lambda variables: _in_environment(patient, dict(variables), inherited),
        label=lambda variables: f"{len(variables)} variables",
    )  # fmt: skip
    stopped = search.run()
    best = dict(search.best)
    smaller = _in_environment(trial, best, inherited)
    # A secret stays in the shell that it is in.
    words = [
        f'{name}="${name}"' if name in secret else quote_word(f"{name}={value}")
        for name, value in best.items()
    ]
    bare = replace(smaller, environment={}, unset=())
    return ShrunkCommand(
        what="variables", before=len(whole),
        kept=tuple(
            f"{name}={visible[name] if name in secret else value}" for name, value in best.items()
        ),
        line=stored_line(session, bare, baseline, oracle, prefix=("env", "-i", *words)),
        trial=smaller, stopped=stopped,
        trials=search.trials, cached=search.cached, wall_seconds=search.wall_seconds,
        remark="" if best else "the failure depends on none of them",
    )  # fmt: skip


def why_cold_arguments(baseline: Baseline, trial: Trial, options: CommandOptions) -> str:
    """Return why no trial of other arguments may run on from a frozen copy; empty if it may."""
    wishes = Goals()
    is_cold = "`--cold`" if options.cold else ""
    return is_cold or why_not_warm(baseline, trial, wishes, wishes.floor(baseline))


def _named_by_path(trial: Trial, environment: dict[str, str]) -> Trial:
    """Return the trial with its program by a whole path: it is found without `PATH` then."""
    program, *words = trial.command
    path = shutil.which(program, path=environment.get("PATH")) if os.sep not in program else None
    return trial if path is None else replace(trial, command=(os.path.abspath(path), *words))


def _in_environment(trial: Trial, variables: dict[str, str], inherited: dict[str, str]) -> Trial:
    return replace(
        trial,
        environment={
            name: value for name, value in variables.items() if inherited.get(name) != value
        },
        unset=tuple(sorted(name for name in inherited if name not in variables)),
    )
