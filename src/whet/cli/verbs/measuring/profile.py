"""``whet profile``: where the time and the memory of a program went."""

from collections.abc import Sequence

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.display.profile_lines import profile_json, profile_lines
from whet.cli.display.progress import Progress
from whet.cli.display.summary import entry_json, run_line
from whet.cli.options.trial import TrialCommand, json_option, trial_options, trial_request
from whet.cli.options.trial_name import TrialName
from whet.core.errors import BadUsage
from whet.host.process.console import Console
from whet.workbench.profile.profile import (
    ProfileReport,
    Wish,
    profile_command,
    recorded_profiles,
)
from whet.workbench.trials.bench import open_workbench

_MOST_RATE = 1000


@click.command(cls=TrialCommand, options_metavar="[OPTIONS] -- COMMAND...")
@trial_options
@click.option(
    "--show",
    type=TrialName(),
    metavar="TRIAL",
    help="Show the profile that is kept with a trial, without running anything.",
)
@click.option(
    "--rate",
    type=click.IntRange(1, _MOST_RATE),
    default=100,
    metavar="N",
    help="Look N times a second. [100]",
)
@click.option(
    "--native",
    is_flag=True,
    help="Show functions of C, C++ and Rust too, which slows the program down.",
)
@click.option(
    "--once", is_flag=True, help="Run a short program once, even if that gives too few samples."
)
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    show: int | str | None,
    rate: int,
    native: bool,
    once: bool,
    as_json: bool,
    **_: object,
) -> int:
    """Profile a command, and show which lines its time went to.

    The trial is recorded and judged like any other, and the program's exit code passes through.
    The table names your own lines first, each with what it calls in libraries. The profile is
    kept with the trial. A program that is too short for a profile runs again until there are
    enough samples.
    """
    request = trial_request(ctx)
    if show is not None:
        if request.command:
            raise BadUsage("`--show` and a command exclude each other", hint="leave one out")
        with open_workbench() as bench:
            reports = recorded_profiles(bench, show)
        _show(reports, as_json=as_json)
        return 0
    wish = Wish(rate=rate, native=native, once=once)
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        report = profile_command(bench, request, None if as_json else Console(), wish)
    _show([report], as_json=as_json)
    outcome = report.entry.outcome
    return 0 if outcome is None else outcome.shell_exit_code


def _show(reports: Sequence[ProfileReport], *, as_json: bool) -> None:
    if as_json:
        answer_json(
            {
                "trial": entry_json(reports[0].entry),
                "trials": list(reports[0].trials),
                "profiles": [profile_json(each.profile, each.measured) for each in reports],
            }
        )
        return
    for report in reports:
        if report.result is not None:
            for note in dict.fromkeys(report.result.notes):
                say(f"whet: note: {note}")
            result = report.result
            say(run_line(result.entry, result.previous, is_same_failure=result.is_same_failure))
        for line in profile_lines(report.profile, report.measured):
            answer(line)
