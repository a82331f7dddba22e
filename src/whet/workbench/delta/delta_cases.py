"""The kinds of cases that `whet delta` compares: configurations, environments, folders, arguments, trials."""

from dataclasses import replace
from pathlib import Path

from whet.core.errors import BadUsage
from whet.workbench.delta.cases import Cases
from whet.workbench.trials.bench import Workbench
from whet.workbench.trials.payload import PLACEHOLDER
from whet.workbench.trials.request import TrialRequest

ENVIRONMENT, ARGUMENTS = "environment", "arguments"


def cases_of(
    bench: Workbench,
    request: TrialRequest,
    good: str,
    bad: str,
    *,
    kind: str = "",
    output: str = "",
) -> Cases:
    """Return the two cases that the user named.

    Args:
        bench: the workbench.
        request: the command; none for two recorded trials.
        good: the one that passes.
        bad: the one that fails.
        kind: what they are; empty: what they look like.
        output: folder for the results.

    Raises:
        BadUsage: if they are of two kinds.
    """
    if kind == ENVIRONMENT:
        from whet.workbench.delta.delta_environment import cases_of_environments

        return cases_of_environments(bench, request, good, bad)
    if kind == ARGUMENTS:
        from whet.workbench.delta.delta_arguments import cases_of_arguments

        return cases_of_arguments(bench, request, good, bad)
    folder = Path(request.cwd or bench.project.folder)
    paths = [folder / word for word in (good, bad)]
    are_numbers = good.isdigit() and bad.isdigit()
    are_named = are_numbers or not any(path.exists() for path in paths)
    if are_named and not request.command and not request.judging.script:
        from whet.workbench.delta.delta_trials import cases_of_trials

        names = [int(each) if are_numbers else each for each in (good, bad)]
        first, second = (bench.notebook.find(each).number for each in names)
        return cases_of_trials(bench, request, first, second)
    if all(path.is_dir() for path in paths):
        from whet.workbench.delta.delta_folders import cases_of_folders

        return cases_of_folders(bench, request, good, bad, output=output)
    if any(path.is_dir() for path in paths):
        name, other = (good, bad) if paths[0].is_dir() else (bad, good)
        raise BadUsage(
            f"`{name}` is a folder, but `{other}` isn't",
            hint="name two files or two folders",
        )
    if not request.command:
        request = replace(request, command=(PLACEHOLDER,))  # a script that judges takes the file
    from whet.workbench.delta.delta_files import cases_of_files

    return cases_of_files(bench, request, good, bad, output=output)
