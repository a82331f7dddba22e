"""``whet delta``: what decides between a case that passes and one that fails."""

import click

from whet.cli.console import answer_json
from whet.cli.display.delta import delta_json, show_delta
from whet.cli.display.progress import Progress
from whet.cli.options.cost_bound import cost_options
from whet.cli.options.trial import (
    TrialCommand,
    budget_option,
    jobs_option,
    json_option,
    trial_options,
    trial_request,
)
from whet.core.budget import Budget
from whet.core.errors import INCOMPLETE, BadUsage
from whet.workbench.delta.delta import delta
from whet.workbench.delta.delta_cases import ARGUMENTS, ENVIRONMENT, cases_of
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.command_search import CommandOptions

_ENDS = 2


@click.command(cls=TrialCommand, options_metavar="[OPTIONS]", epilog="GOOD BAD -- COMMAND...")
@click.argument("ends", nargs=-1, metavar="GOOD BAD")
@click.option(
    "--environment",
    is_flag=True,
    help="Compare two environments: the output of `env`, or .env files.",
)
@click.option(
    "--arguments",
    nargs=2,
    default=None,
    metavar="GOOD BAD",
    help="Compare two lists of arguments, each quoted as one word.",
)
@click.option("-o", "--output", default="", metavar="DIR", help="Write the results here.")
@cost_options
@trial_options
@budget_option
@jobs_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    ends: tuple[str, ...],
    *,
    environment: bool,
    arguments: tuple[str, str] | None,
    output: str,
    budget: float | None,
    jobs: int | None,
    as_json: bool,
    **_: object,
) -> int:
    """Find the differences between GOOD and BAD that matter.

    The two are configurations (JSON, YAML, TOML, INI, .env, Python literals, or any text), where the
    command names one of them or has `{}`; folders; with `--env`, environments; with `--arguments`,
    arguments that replace `{}` or end the command; or, without a command, recorded trials.

    The result is two smallest sets: the differences that make GOOD fail, and those without which BAD
    passes. whet runs both, and writes the two configurations next to BAD.
    """
    ends, is_environment = _environment_files(ctx, ends)
    ends = (*(arguments or ()), *ends)
    request = trial_request(ctx)
    if len(ends) != _ENDS:
        raise BadUsage(
            f"`{' '.join(ends)}` doesn't name two cases" if ends else "two cases are missing",
            hint="write `whet delta GOOD BAD -- COMMAND {}`; the command follows `--`",
        )
    kind = ENVIRONMENT if environment or is_environment else ARGUMENTS if arguments else ""
    options = CommandOptions(budget=Budget(wall_seconds=budget), jobs=jobs)
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        cases = cases_of(bench, request, *ends, kind=kind, output=output)
        result = delta(bench, request, cases, options)
    if as_json:
        answer_json(delta_json(result))
    else:
        show_delta(result)
    return 0 if result.stopped.is_complete else INCOMPLETE


def _environment_files(ctx: click.Context, ends: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """Take `--env a.env b.env` for two environments: a value that is no `NAME=VALUE` is a file."""
    words: tuple[str, ...] = ctx.params["env"]
    files = tuple(word for word in words if "=" not in word)
    ctx.params["env"] = tuple(word for word in words if "=" in word)
    return (*files, *ends), bool(files)
