"""Two environments as cases: the variables that differ."""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from whet.core.difference import Change
from whet.core.errors import NothingDiffers, SettingsUnreadable
from whet.core.trial import Trial
from whet.core.value_class import value_class
from whet.host.files.files import write_atomically
from whet.host.trial.kept_environment import changes_by_itself, environment_to_keep
from whet.reduction.between import Between
from whet.reduction.settings.assignments import is_environment_name, write_env_file
from whet.reduction.settings.documents import UnreadableError
from whet.reduction.settings.environments import is_whole, read_environment
from whet.search.subsets.hierarchy import Numbers
from whet.workbench.delta.cases import Cases, Result, result_places
from whet.workbench.files.results import place_beside
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.payload import read_payload
from whet.workbench.trials.request import TrialRequest

_SOURCED = 'set -a; . "$0"; set +a; exec "$@"'
_PRIVATE = 0o600
"""The mode of a file that can hold secrets."""


@value_class(kw_only=True)
class Environment:
    """Variables of a trial.

    Attributes:
        shown: its name for the user.
        variables: those that don't change on their own.
        marks: each value to read: a secret is there as a mark.
        path: the file that holds it.
    """

    shown: str
    variables: Mapping[str, str]
    marks: Mapping[str, str]
    path: Path


def cases_of_environments(bench: Workbench, request: TrialRequest, good: str, bad: str) -> Cases:
    """Return two environments and the variables that differ.

    Where both files name `PATH` and `HOME` they are all that the command gets; else they are set
    beside what whet itself was given.

    Args:
        bench: the workbench.
        request: the command.
        good: the file with the environment in which it passes.
        bad: the file with the one in which it fails.

    Raises:
        PayloadMissing, PayloadIsFolder, PayloadUnreadable: for a file.
        SettingsUnreadable: if a line names no variable.
        NothingDiffers: if no variable differs.
    """
    folder = Path(os.path.abspath(request.cwd or bench.project.folder))
    old, new = _read(bench, folder, good), _read(bench, folder, bad)
    results = result_places(bench, [old.path, new.path])
    trial = bench.for_search(bench.build_trial(request), results)
    return _cases(bench, trial, old, new)


def _read(bench: Workbench, folder: Path, shown_path: str) -> Environment:
    path = Path(os.path.abspath(folder / shown_path))
    content = read_payload(path, shown_path, may_be_empty=True)
    try:
        parsed_variables = read_environment(content)
    except UnreadableError as error:
        raise SettingsUnreadable(
            f"`{shown_path}` isn't an environment: {error}",
            hint=f"write it with `env -0 > {shown_path}`, or one `NAME=value` a line",
        ) from error
    variables = {
        name: parsed_variables[name]
        for name in sorted(parsed_variables)
        if not changes_by_itself(name)
    }
    marks = environment_to_keep(variables, state=bench.project.state)
    return Environment(shown=shown_path, variables=variables, marks=marks, path=path)


def _cases(bench: Workbench, trial: Trial, good: Environment, bad: Environment) -> Cases:
    between = Between(dict(good.variables), dict(bad.variables))
    if not between.leaves:
        raise NothingDiffers(
            f"`{good.shown}` and `{bad.shown}` set the same variables",
            hint="so neither decides: compare what else differs, such as two configurations",
        )
    whole = is_whole(good.variables) and is_whole(bad.variables)
    inherited = bench.environment

    def result(numbers: Numbers, word: str) -> Result:
        return _result(bench, trial, bad, between.texts(numbers), word, is_whole=whole)

    return Cases(
        what="variables", good=good.shown, bad=bad.shown, paths=between.paths, result=result,
        changes=changed_variables(between, good.marks, bad.marks),
        trial=lambda numbers: in_environment(
            trial, between.texts(numbers), inherited, is_whole=whole
        ),
        turned=lambda: _cases(bench, trial, bad, good),
        remarks=() if whole else ("this adds the variables to the shell's own",),
    )  # fmt: skip


def changed_variables(
    between: Between, before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[Change, ...]:
    """Return the variables that differ, to be shown."""
    names = [str(leaf.path[0]) for leaf in between.leaves]
    return tuple(
        Change(what="variable", name=name, before=before.get(name), after=after.get(name))
        for name in names
    )


def in_environment(
    trial: Trial, variables: Mapping[str, str], inherited: Mapping[str, str], *, is_whole: bool
) -> Trial:
    """Return the trial with these variables; what it sets itself comes first.

    Args:
        trial: the trial.
        variables: what it gets.
        inherited: what trials inherit.
        is_whole: it gets no others, but those that change on their own.
    """
    dropped_names = {
        name for name in inherited if name not in variables and not changes_by_itself(name)
    }
    own = {name: value for name, value in variables.items() if inherited.get(name) != value}
    return replace(
        trial,
        environment={**own, **trial.environment},
        unset=tuple(sorted(dropped_names - {*trial.environment})) if is_whole else trial.unset,
    )


def _result(
    bench: Workbench,
    trial: Trial,
    bad: Environment,
    variables: Mapping[str, str],
    word: str,
    *,
    is_whole: bool,
) -> Result:
    path = place_beside(bench, bad.path, word)
    valid = {name: value for name, value in variables.items() if is_environment_name(name)}
    content = write_env_file(valid).encode("utf-8", "surrogateescape")
    shown_path = os.path.relpath(path, trial.cwd)
    shown_path = str(path) if shown_path.startswith("..") else shown_path
    own = ("env", *(f"{name}={value}" for name, value in trial.environment.items()))
    start = ("env", "-i") if is_whole else ()
    command = (
        *start, "sh", "-c", _SOURCED, f"./{shown_path}" if not shown_path.startswith("/") else shown_path,
        *(own if trial.environment else ()), *trial.command,
    )  # fmt: skip

    def write() -> None:
        bench.payload_store.keep(content)
        write_atomically(path, content, mode=_PRIVATE)

    return Result(
        path=path,
        shown=shown_path,
        write=write,
        trial=replace(trial, command=command, environment={}),
    )
