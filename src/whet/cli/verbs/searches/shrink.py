"""``whet shrink``: the smallest file that still fails the same way."""

from collections.abc import Sequence

import click

from whet.cli.console import answer_json
from whet.cli.display.progress import Progress
from whet.cli.display.shrinking_events import answer_event
from whet.cli.display.shrunk import payload_json, show_shrunk
from whet.cli.options.cost_bound import cost_options
from whet.cli.options.reader_question import offer_readers
from whet.cli.options.trial import (
    TrialCommand,
    budget_option,
    check_picture,
    cold_option,
    jobs_option,
    trial_options,
    trial_request,
)
from whet.cli.verbs.searches.shrink_command import check_words, one_kind, shrink_command
from whet.core.budget import Budget
from whet.core.errors import INCOMPLETE, BadUsage
from whet.host.files.files import write_atomically
from whet.report.curve import size_curve
from whet.workbench.files.asked_files import asked_file
from whet.workbench.shrink.defaults import shrink_towards
from whet.workbench.shrink.goals import Goals
from whet.workbench.shrink.shrink import ShrinkOptions, shrink
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.command_search import CommandOptions
from whet.workbench.trials.investigation import ShrunkPayload


@click.command(cls=TrialCommand, options_metavar="[OPTIONS]", epilog="FILE... -- COMMAND...")
@click.argument("files", nargs=-1, metavar="FILE...")
@cost_options
@trial_options
@click.option(
    "-o",
    "--output",
    default="",
    metavar="OUT",
    help="Write the smaller file here: a file or a folder.",
)
@click.option(
    "--arguments",
    "kinds",
    flag_value="arguments",
    multiple=True,
    help="Shrink the command's arguments.",
)
@click.option(
    "--environment",
    "kinds",
    flag_value="environment",
    multiple=True,
    help="Shrink the environment.",
)
@click.option(
    "--tests",
    "kinds",
    flag_value="tests",
    multiple=True,
    help="Shrink the tests that pytest runs before one fails.",
)
@click.option(
    "--towards",
    default="",
    metavar="DEFAULTS",
    help="Set everything in FILE to its default, except the settings that matter.",
)
@click.option(
    "--also-interesting",
    type=click.IntRange(1, 255),
    default=None,
    metavar="CODE",
    help="Also watch for this exit code of the `--interesting` script: whet names the smallest such file at the end.",
)
@click.option(
    "--rate-at-least",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=None,
    metavar="RATE",
    help="Accept only what fails at least this often; each candidate runs until that is clear. [half the rate of a flaky command; otherwise one run decides]",
)
@click.option(
    "--objective",
    default="",
    metavar="WHAT",
    help="Minimize bytes, lines or tokens; or seconds or the NAME of a `--measure`, which no step may increase. [what reads best]",
)
@click.option(
    "--keep",
    multiple=True,
    metavar="REGEX",
    help="Keep a match of this pattern; whet doesn't run candidates without one.",
)
@click.option(
    "--no-pretty", is_flag=True, help="Don't reformat the result, even if it is a single line."
)
@click.option("--resume", is_flag=True, help="Continue from the best result of an earlier shrink.")
@click.option(
    "--picture", default="", metavar="FILE", help="Draw size against time, as an SVG file."
)
@jobs_option
@budget_option
@cold_option
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per event, each on its own line."
)
@click.pass_context
def command(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    *,
    output: str,
    kinds: tuple[str, ...],
    towards: str,
    rate_at_least: float | None,
    objective: str,
    keep: tuple[str, ...],
    no_pretty: bool,
    resume: bool,
    picture: str,
    jobs: int | None,
    budget: float | None,
    cold: bool,
    as_json: bool,
    **_: object,
) -> int:
    """Find the smallest file that still fails the same way.

    FILE (or a folder) is one of the command's arguments, or `{}` marks its place. whet never
    changes it: the result goes next to it (`data.shrunk.csv`), and is the best so far at any
    moment. Stop with Ctrl-C; `--resume` continues from there.

    `--arguments`, `--environment` and `--tests [TEST]` make the command itself smaller: the result is
    a line to paste into a shell.
    """
    request = trial_request(ctx)
    limit = Budget(wall_seconds=budget)
    what = one_kind(kinds)
    if what is not None:
        check_words(what, files, ctx.params)
        command_options = CommandOptions(budget=limit, jobs=jobs, cold=cold)
        return shrink_command(
            what, files, request, command_options, is_resumed=resume, as_json=as_json
        )
    if not files:
        raise BadUsage(
            "give the file to shrink",
            hint="`whet shrink FILE -- COMMAND`, or one of `--arguments`, `--environment`, `--tests`",
        )
    check_picture(picture, files, output)
    offer_readers(request.cwd, files, as_json=as_json)
    options = ShrinkOptions(
        files=files, result=output, budget=limit, jobs=jobs, cold=cold,
        wishes=Goals(
            objective=objective, keep=keep, rate_at_least=rate_at_least, pretty=not no_pretty,
            resume=resume,
        ),
    )  # fmt: skip
    progress = Progress(quiet=as_json)
    with progress, open_workbench(observer=answer_event if as_json else progress) as bench:
        results = (
            shrink_towards(bench, request, options, towards)
            if towards
            else shrink(bench, request, options)
        )
    if picture:
        _draw(results, picture)
    if as_json:
        facts = {"event": "result", "payloads": [payload_json(result) for result in results]}
        answer_json(facts, on_one_line=True)
    else:
        for result in results:
            show_shrunk(result, budget)
    return 0 if all(result.stopped.is_complete for result in results) else INCOMPLETE


def _draw(results: Sequence[ShrunkPayload], picture: str) -> None:
    """Draw each curve into a file: the second file's is `NAME-2.svg`."""
    for number, result in enumerate(results, 1):
        path = asked_file("--picture", picture)
        path = path.with_name(f"{path.stem}-{number}{path.suffix}") if number > 1 else path
        write_atomically(path, f"{size_curve(result.sizes, result.wall_seconds)}\n".encode())
