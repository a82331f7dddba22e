"""``whet expect``: how good your guesses are, and what each line takes beside what you expect of it."""

from pathlib import Path

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.options.trial import TrialCommand, json_option, trial_options, trial_request
from whet.core.errors import BadUsage
from whet.workbench.trials.bench import open_workbench


@click.command(cls=TrialCommand, options_metavar="[OPTIONS] [-- COMMAND...]")
@click.option(
    "--lines",
    default="",
    metavar="FILE.py[:FUNCTION]",
    help="Run the command, and show what each line takes, next to its `# expect: 40 ms`.",
)
@click.option("--all", "is_whole", is_flag=True, help="With --lines: show every line that can run.")
@click.option(
    "--estimate",
    default="",
    metavar="FILE.py:FUNCTION",
    help="Say what a step of a torch or JAX model takes at least here, before it runs.",
)
@click.option("--timed", is_flag=True, help="With --estimate: run the step too, and compare.")
@click.option(
    "--remeasure", is_flag=True, help="With --estimate: measure again what this machine reaches."
)
@click.option(
    "--python",
    default="",
    metavar="PATH",
    help="With --estimate: use this Python. [your program's]",
)
@click.option("--here", is_flag=True, help="Count only the guesses in this project.")
@trial_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    lines: str,
    is_whole: bool,
    estimate: str,
    timed: bool,
    here: bool,
    as_json: bool,
    **_: object,
) -> int:
    """Show how good your guesses are, or what each line of a file takes.

    State what you expect with `whet run --expect 'seconds ~ 3s' -- COMMAND`. Without options, whet
    compares all such statements with what came: by which factor your times, memory and numbers
    are off, and how often they were in the range that you gave. A statement that you repeat about
    the same command counts once.

    --lines counts and times each statement of one file while the command runs. A comment states what
    you expect of one run of a statement, behind it or above it: `# expect: 40 ms`, `# expect: 2s..4s
    total`, `# expect: < 100 MB`, `# expect: 10 calls`. Above a loop, a `with` or a function it is about
    everything inside it.

    --estimate calls a function that does one step, with tensors that have shapes but no data. From its
    operators it says how much arithmetic, how many bytes and how much memory the step takes, and
    the least time that this machine needs for that. whet measures once what the machine reaches.
    """
    request = trial_request(ctx)
    if lines:
        return _count(ctx, lines, is_whole=is_whole, as_json=as_json)
    if estimate:
        _estimate(ctx, estimate, is_timed=timed, as_json=as_json)
        return 0
    if request.command:
        raise BadUsage(
            "`whet expect -- COMMAND` needs `--lines FILE.py` or `--estimate FILE.py:step`",
            hint="to state what you expect of a run: `whet run --expect 'seconds ~ 3s' -- COMMAND`",
        )
    _score(here=here, as_json=as_json)
    return 0


def _score(*, here: bool, as_json: bool) -> None:
    from whet.cli.display.calibrated import record_json, record_lines
    from whet.workbench.expect.record import record_of

    with open_workbench() as bench:
        record = record_of(bench, only_here=here)
    if as_json:
        answer_json(record_json(record))
        return
    if not record.calibrations:
        say("no guesses yet; state one: `whet run --expect 'seconds ~ 3s' -- COMMAND`")
    for line in record_lines(record):
        answer(line)


def _estimate(ctx: click.Context, words: str, *, is_timed: bool, as_json: bool) -> None:
    from whet.cli.display.estimate import estimate_json, estimate_lines
    from whet.workbench.expect.estimate import estimate_step, find_step

    request = trial_request(ctx)
    target = find_step(words, Path(request.cwd or ".").absolute())
    with open_workbench() as bench:
        found = estimate_step(
            bench, request, target, python=ctx.params["python"], is_timed=is_timed,
            measures_again=ctx.params["remeasure"],
        )  # fmt: skip
    if as_json:
        answer_json(estimate_json(found))
        return
    for line in estimate_lines(found):
        answer(line)


def _count(ctx: click.Context, words: str, *, is_whole: bool, as_json: bool) -> int:
    from whet.cli.display.lines import lines_json, report_lines
    from whet.cli.display.summary import entry_json, run_line
    from whet.host.process.console import Console
    from whet.workbench.expect.lines import count_lines, find_target

    request = trial_request(ctx)
    target = find_target(words, Path(request.cwd or ".").absolute())
    with open_workbench() as bench:
        report = count_lines(bench, request, target, None if as_json else Console())
    entry = report.result.entry
    assert entry.outcome is not None
    if as_json:
        notes = list(report.result.notes)
        answer_json({**entry_json(entry), "notes": notes, **lines_json(report)})
        return entry.outcome.shell_exit_code
    for note in dict.fromkeys(report.result.notes):
        say(f"whet: note: {note}")
    for line in report_lines(report, is_whole=is_whole):
        say(line)
    say(run_line(entry, report.result.previous, is_same_failure=report.result.is_same_failure))
    return entry.outcome.shell_exit_code
