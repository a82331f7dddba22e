"""``whet grow``: the smallest number with which a command fails, and the law of what it costs."""

import click

from whet.cli.console import answer, answer_json
from whet.cli.display.grown import growth_json, growth_lines
from whet.cli.display.pasted import show_line
from whet.cli.display.progress import Progress
from whet.cli.options.trial import (
    TrialCommand,
    budget_option,
    json_option,
    trial_options,
    trial_request,
)
from whet.core.budget import Budget
from whet.core.errors import INCOMPLETE
from whet.workbench.grow.dimension import parse_dimension
from whet.workbench.grow.grow import GrowOptions, grow
from whet.workbench.trials.bench import open_workbench

_MOST_SECONDS = 600.0
"""The next number of a program whose cost doubles with each may take hours."""


@click.command(cls=TrialCommand, options_metavar="[OPTIONS] -- COMMAND...")
@click.option(
    "--dimension",
    "-d",
    "dimensions",
    multiple=True,
    required=True,
    metavar="NAME=FROM..TO",
    help="Grow this number: `{NAME}` in the command, `env:VARIABLE`, or `FILE:KEY` of a JSON, TOML, YAML or INI file. Several: one after the other.",
)
@click.option(
    "--predict",
    type=click.IntRange(1),
    multiple=True,
    metavar="N",
    help="Say what this number would cost. [the last; ten times that if it was run]",
)
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=None,
    metavar="N",
    help="Run each number this often. [once; more for a flaky failure]",
)
@trial_options
@budget_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    dimensions: tuple[str, ...],
    predict: tuple[int, ...],
    repeats: int | None,
    budget: float | None,
    as_json: bool,
    **_: object,
) -> int:
    """Find the smallest number of rows, layers, processes … with which a command fails.

    whet doubles the number until the command fails, and halves what lies between. It measures time
    and memory at each number, fits the law (constant, n, n log n, n² …) with its uncertainty, and
    says what a number costs that doesn't fit on this machine. Without a failure, whet still finds
    the law. It takes at most 10 minutes; `--budget` changes that.
    """
    options = GrowOptions(
        dimensions=tuple(map(parse_dimension, dimensions)),
        predict=predict,
        repeats=repeats,
        budget=Budget(wall_seconds=_MOST_SECONDS if budget is None else budget),
    )
    request = trial_request(ctx)
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        grown = grow(bench, request, options)
    if as_json:
        answer_json({"dimensions": [growth_json(each) for each in grown]})
    else:
        for place, growth in enumerate(grown):
            if place:
                answer("")
            for line in growth_lines(growth):
                answer(line)
            if growth.line is not None:
                show_line(growth.line)
    return 0 if all(each.stopped.is_complete for each in grown) else INCOMPLETE
