"""``whet starve``: a command with little of something, or the least with which it succeeds."""

import sys

import click

from whet.cli.console import answer, answer_json, styled
from whet.cli.display.progress import Progress
from whet.cli.display.starved import least_json, least_lines
from whet.cli.options.trial import (
    TrialCommand,
    budget_option,
    check_picture,
    json_option,
    trial_options,
    trial_request,
)
from whet.cli.verbs.trials.run import show
from whet.core.budget import Budget
from whet.core.errors import INCOMPLETE, BadUsage
from whet.host.files.files import write_atomically
from whet.host.process.console import Console
from whet.workbench.files.asked_files import asked_file
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.request import TrialRequest

_FOUND = ("memory", "disk", "gpu", "files", "processes", "cpus")


@click.command(cls=TrialCommand, options_metavar="[OPTIONS] -- [COMMAND...]")
@trial_options
@click.option(
    "--find",
    type=click.Choice(_FOUND),
    help="Find the smallest amount with which the command succeeds.",
)
@click.option(
    "--times",
    type=click.IntRange(1),
    default=1,
    help="With --find: how many times each amount must succeed.",
)
@click.option(
    "--picture",
    type=click.Path(dir_okay=False),
    help="With --find: draw time against amount, as an SVG file.",
)
@budget_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    find: str | None,
    times: int,
    picture: str | None,
    budget: float | None,
    as_json: bool,
    **_: object,
) -> int:
    """Run a command with little memory, few files, few processes or few CPUs, on purpose.

    Each limit applies to the whole trial. A probe tests it before the command starts, and whet
    names the limit when it ends the command. Without a command, whet opens a shell with these
    limits: a program that reaches the memory limit dies, and the shell lives on. --find searches
    for the least with which the command still succeeds.
    """
    request = trial_request(ctx)
    if find is not None:
        return _find(request, find, times, budget, picture, as_json=as_json)
    if not request.limits.starve and not request.limit_set:
        raise BadUsage(
            "`whet starve` needs something to limit",
            hint="write `whet starve --memory 500M -- COMMAND`, or `--find memory` for the smallest amount that works",
        )
    from whet.workbench.starve.limited_shell import in_shell
    from whet.workbench.trials.run import run

    with open_workbench() as bench:
        if not request.command:
            request = in_shell(bench, request, is_typed=sys.stdin.isatty())
        result = run(bench, request, None if as_json else Console(), verb="starve")
    return show(result, as_json=as_json)


def _find(
    request: TrialRequest,
    name: str,
    times: int,
    budget: float | None,
    picture: str | None,
    *,
    as_json: bool,
) -> int:
    from whet.workbench.starve.starve import FindOptions, find_least

    check_picture(picture or "")
    options = FindOptions(name=name, repeats=times, budget=Budget(wall_seconds=budget))
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        least = find_least(bench, request, options)
    if picture:
        from whet.report.curve import amount_curve

        write_atomically(asked_file("--picture", picture), amount_curve(least).encode("utf-8"))
    if as_json:
        answer_json(least_json(least))
    else:
        for line in least_lines(least):
            answer(line)
        if picture:
            answer(styled(f"picture: {picture}", "dim", sys.stdout))
    return 0 if least.stopped.is_complete else INCOMPLETE
