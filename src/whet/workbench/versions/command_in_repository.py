"""Whether a command runs the code of a repository, and from where it imports it."""

import os
from pathlib import Path

from whet.core.trial import Trial
from whet.host.code.editable import editable_folders
from whet.host.process.git import Repository
from whet.workbench.trials.bench import Workbench
from whet.workbench.versions.setups import Setup


def outside_of(
    bench: Workbench, trial: Trial, repository: Repository, setup: Setup
) -> tuple[str, ...]:
    """Return a warning if nothing leads the command into the repository."""
    top = os.path.realpath(repository.top)
    variables = {**bench.environment, **trial.environment}
    words = (trial.cwd, *trial.command, *variables.get("PYTHONPATH", "").split(os.pathsep))
    leads = any(os.path.realpath(Path(trial.cwd, word)).startswith(top) for word in words)
    if leads or setup.command or editable_of(bench, trial, repository, setup):
        return ()
    text = (
        f"the command starts outside of `{top}` and does not name it: it may run the same code on"
        " each commit (`--setup 'pip install -e .'` installs each, `--env PYTHONPATH=` names it)"
    )
    return (text,)


def editable_of(
    bench: Workbench, trial: Trial, repository: Repository, setup: Setup
) -> tuple[str, ...]:
    """Return what an editable installation leads to; a setup has an environment without one."""
    if setup.command:
        return ()
    inherited = {**bench.environment, **trial.environment}
    state, top = bench.project.state, repository.top
    return editable_folders(trial.command, Path(trial.cwd), inherited, state=state, top=top)
