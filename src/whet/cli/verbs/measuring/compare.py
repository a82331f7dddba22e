"""``whet compare``: is B really different from A?"""

import os

import click

from whet.cli.console import answer, answer_json
from whet.cli.display.comparison import comparison_json, comparison_lines
from whet.cli.display.progress import Progress
from whet.cli.options.checkout import carry_option, repo_option
from whet.cli.options.trial import (
    Share,
    TrialCommand,
    budget_option,
    json_option,
    trial_options,
    trial_request,
)
from whet.core.budget import Budget
from whet.core.errors import INCOMPLETE, BadUsage
from whet.workbench.compare.arms import ArmWords, arms_of
from whet.workbench.compare.compare import CompareOptions, compare
from whet.workbench.trials.bench import open_workbench
from whet.workbench.versions.setups import Setup

_MOST_SECONDS = 600.0
_MOST_RUNS = 200
_LEAST_CONFIDENCE = 0.5


@click.command(cls=TrialCommand, options_metavar="[OPTIONS]", epilog="A B [-- COMMAND...]")
@click.argument("arms", nargs=-1, metavar="A B")
@click.option(
    "--baseline",
    default="",
    metavar="REVISION",
    help="Let A be the command on this revision or release (`NAME==VERSION`), and B as it stands.",
)
@click.option(
    "--by",
    default="",
    metavar="WHAT",
    help="Let this decide: wall, cpu, memory, instructions, or the NAME of a number. [time]",
)
@click.option(
    "--smallest",
    type=Share(),
    default=0.01,
    metavar="SHARE",
    help="Stop when the difference is surely smaller than this. [1%]",
)
@click.option(
    "--confidence",
    type=Share(),
    default=0.95,
    metavar="SHARE",
    help="Be this sure of the answer. [95%]",
)
@click.option(
    "--runs",
    type=click.IntRange(7),
    default=_MOST_RUNS,
    metavar="N",
    help="Run each of them at most this often. [200]",
)
@click.option(
    "--any-output",
    is_flag=True,
    help="Compare them even if they print different things, or fail.",
)
@click.option(
    "--where",
    is_flag=True,
    help="If they differ, profile both and show which of your functions differ, in time or memory.",
)
@click.option(
    "--warm",
    is_flag=True,
    help="Resume both from one frozen copy, from before a Python program looks at its arguments.",
)
@click.option(
    "--seed",
    type=click.IntRange(0),
    default=None,
    metavar="N",
    help="Run them in the order of an earlier comparison. [a new order]",
)
@repo_option
@click.option(
    "--setup",
    default="",
    metavar="CMD",
    help="Run this shell command at the top of each checkout first (install, build).",
)
@carry_option
@trial_options
@budget_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    arms: tuple[str, ...],
    *,
    budget: float | None,
    as_json: bool,
    **_: object,
) -> int:
    """Find out whether B is really faster or smaller than A.

    A and B are two commands, each quoted as one word; recorded trials; or revisions or releases
    (`numpy==2.1.0`) of one COMMAND. With `--env NAME=VALUE` and a COMMAND alone, A is the command
    without the variable.

    whet first checks that both print the same. Then it runs them in turns, in random order, and stops
    as soon as it is sure that they differ, or that they don't differ by more than `--smallest`. It
    takes at most 10 minutes; `--budget` changes that.
    """
    values = ctx.params
    names = _bare_measures(ctx)
    options = CompareOptions(
        by=values["by"],
        measures=(*names, *(word.partition("=")[0] for word in values["measure"])),
        smallest=_above_zero(values["smallest"]),
        confidence=_possible(values["confidence"]),
        runs=values["runs"],
        any_output=values["any_output"],
        where=values["where"],
        warm=values["warm"],
        seed=int.from_bytes(os.urandom(4)) if values["seed"] is None else values["seed"],
        budget=Budget(wall_seconds=_MOST_SECONDS if budget is None else budget),
    )
    said = ArmWords(
        words=arms,
        baseline=values["baseline"],
        setup=Setup(command=values["setup"], carried=values["carry"]),
        repository=values["repo"],
    )
    request = trial_request(ctx)
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        comparison = compare(bench, request, arms_of(bench, request, said), options)
    if as_json:
        answer_json(comparison_json(comparison))
    else:
        for line in comparison_lines(comparison):
            answer(line)
    return 0 if comparison.is_complete else INCOMPLETE


def _bare_measures(ctx: click.Context) -> tuple[str, ...]:
    """Take `--measure train.seconds`: a name alone is a number that the program reports by itself."""
    words: tuple[str, ...] = ctx.params["measure"]
    ctx.params["measure"] = tuple(word for word in words if "=" in word)
    return tuple(word for word in words if "=" not in word)


def _above_zero(share: float) -> float:
    if share <= 0:
        raise BadUsage(
            f"`--smallest {share:g}`: no number of runs shows that two programs are exactly alike",
            hint="write a share above zero, such as 1% or 0.2%",
        )
    return share


def _possible(confidence: float) -> float:
    if not _LEAST_CONFIDENCE <= confidence < 1:
        raise BadUsage(
            f"`--confidence {confidence:g}`: no comparison can reach that",
            hint="write a share from 50% to below 100%, such as 95% or 0.99",
        )
    return confidence
