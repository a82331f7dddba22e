"""``whet syscalls``: which system call failed, on which file, and who made it."""

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.display.call_lines import report_lines
from whet.cli.display.summary import entry_json, run_line
from whet.cli.options.trial import Duration, TrialCommand, json_option, trial_options, trial_request
from whet.cli.options.trial_name import TrialName
from whet.core.errors import BadUsage
from whet.host.process.console import Console
from whet.workbench.inspect.syscalls import (
    CallReport,
    Learning,
    follow_again,
    follow_command,
    follow_process,
)
from whet.workbench.trials.bench import open_workbench


@click.command(
    cls=TrialCommand, options_metavar="[OPTIONS]", epilog="[TRIAL] -- COMMAND...  or  --pid PID"
)
@click.argument("trials", nargs=-1, metavar="[TRIAL]")
@trial_options
@click.option("--pid", type=int, metavar="PID", help="Follow a running process and its children.")
@click.option(
    "--for",
    "seconds",
    type=Duration(),
    help="With --pid: stop after this time. [at its end, or at Ctrl-C]",
)
@click.option(
    "--good", default="", metavar="CMD",
    help="Leave out the calls that also fail in this command, which passes.",
)  # fmt: skip
@click.option(
    "--good-trial", type=TrialName(), metavar="TRIAL",
    help="Leave out the calls that also fail in this trial. [the last followed trial of this command that passed]",
)  # fmt: skip
@click.option("--all", "is_whole", is_flag=True, help="Show all calls, not only the first few.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    trials: tuple[str, ...],
    *,
    pid: int | None,
    seconds: float | None,
    good: str,
    good_trial: int | str | None,
    is_whole: bool,
    as_json: bool,
    **_: object,
) -> int:
    """Show which system calls failed, on which file, and which Python line made them.

    It runs the command once; without a command, it runs a trial again (the last one by default).
    The likeliest cause comes first. It follows child processes and resolves descriptors and
    relative paths. For a place that is full or forbidden, it shows how full it is or who owns it.
    It leaves out searches for modules and libraries, and calls that also fail in a run that passes.
    It also shows what the program waited for, its files and its addresses.
    """
    request = trial_request(ctx)
    console = None if as_json else Console()
    trial = _trial(trials)
    learning = Learning(command=good, trial=good_trial)
    _check((request.command or None, trial, pid), seconds, learning)
    if pid is not None:
        note = f"whet: following process {pid}; Ctrl-C ends that, not the process"
        followed = follow_process(pid, seconds, lambda: say(note))
        _show(followed, is_whole=is_whole, as_json=as_json)
        return 0
    with open_workbench() as bench:
        if request.command:
            report = follow_command(bench, request, console, learning)
        else:
            report = follow_again(bench, trial, console, learning)
    _show(report, is_whole=is_whole, as_json=as_json)
    outcome = None if report.result is None else report.result.entry.outcome
    return 0 if outcome is None else outcome.shell_exit_code


def _trial(words: tuple[str, ...]) -> int | str | None:
    if len(words) > 1:
        raise BadUsage(
            f"`{' '.join(words)}` is not the number of a trial",
            hint=f"a command goes after `--`: `whet syscalls -- {' '.join(words)}`",
        )
    return TrialName().convert(words[0], None, None) if words else None


def _check(
    followed: tuple[tuple[str, ...] | None, int | str | None, int | None],
    seconds: float | None,
    learning: Learning,
) -> None:
    """Check that what is asked for goes together: a command, a trial or a process is followed."""
    *_, pid = followed
    if sum(each is not None for each in followed) > 1:
        raise BadUsage("a command, a trial and `--pid` exclude each other", hint="give one of them")
    if seconds is not None and pid is None:
        raise BadUsage("`--for` needs `--pid`", hint="`--timeout` or `--hang` limits a command")
    if learning.command and learning.trial is not None:
        raise BadUsage("`--good` and `--good-trial` exclude each other", hint="keep one")
    if pid is not None and (learning.command or learning.trial is not None):
        raise BadUsage("`--good` needs a command or a trial", hint="leave it out")


def report_json(report: CallReport) -> dict[str, object]:
    """Return what was seen as JSON data; the failing calls that tell something, most likely first."""
    return {
        **report.calls.to_json(),
        "failures": [each.to_json() for each in report.telling],
        "known": report.known,
        "learnt_from": report.learnt_from,
    }


def _show(report: CallReport, *, is_whole: bool, as_json: bool) -> None:
    result = report.result
    if as_json:
        trial = None if result is None else entry_json(result.entry)
        answer_json({"trial": trial, **report_json(report)})
        return
    if result is not None:
        for note in dict.fromkeys(result.notes):
            say(f"whet: note: {note}")
        say(run_line(result.entry, result.previous, is_same_failure=result.is_same_failure))
    for line in report_lines(report, is_whole=is_whole):
        answer(line)
