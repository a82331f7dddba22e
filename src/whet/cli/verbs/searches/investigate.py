"""``whet investigate``: the main job."""

from dataclasses import replace
from pathlib import Path

import click

from whet.cli.console import answer, answer_json, answer_lines, styled
from whet.cli.display.progress import Progress
from whet.cli.options.cost_bound import cost_options
from whet.cli.options.reader_question import offer_readers
from whet.cli.options.trial import (
    TrialCommand,
    budget_option,
    cold_option,
    jobs_option,
    json_option,
    trial_options,
    trial_request,
)
from whet.cli.options.trial_name import TrialName
from whet.core.budget import Budget, StopReason
from whet.core.errors import INCOMPLETE, ReproductionFailed
from whet.core.text.quantity import shown_bytes, shown_seconds
from whet.core.text.shown_text import visible
from whet.core.trial import Trial
from whet.host.process.process_identity import begun_at
from whet.report.answer import Answer, Evidence, answer_of, shown_trials
from whet.report.facts import facts_of
from whet.report.pages import headline, report_files, shown_payload
from whet.report.wording import one_line, unbroken
from whet.workbench.files.named_files import payload_names
from whet.workbench.investigate.investigate import investigate
from whet.workbench.investigate.progress.investigating import InvestigateOptions
from whet.workbench.investigate.steps.histories import history_of
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.investigation import Investigation
from whet.workbench.versions.history_sentence import history_sentence

_SHOWN_BYTES = 600
_COLUMNS = 80


@click.command(cls=TrialCommand, options_metavar="[OPTIONS] -- COMMAND...")
@click.option("--package", default="", metavar="NAME", help="Search the releases of this package.")
@click.option("--good", default="", metavar="X", help="Name a revision or release that passes.")
@click.option(
    "--bad", default="", metavar="Y", help="Name one that fails. [the current code or release]"
)
@click.option(
    "--good-trial",
    type=TrialName(),
    metavar="TRIAL",
    help="Name a recorded trial that passed. [the last one of this command]",
)
@click.option(
    "--good-config",
    default="",
    metavar="FILE",
    help="Compare the configuration in the command with this one, which passes.",
)
@click.option(
    "--good-packages",
    default="",
    metavar="SET",
    help="Compare today's packages with these, which pass: a file of pins, or a date.",
)
@click.option(
    "-o", "--output", default="", metavar="DIR", help="Write the report here. [whet-report]"
)
@click.option(
    "--no-releases",
    is_flag=True,
    help="Don't try other releases of the packages that it fails in.",
)
@click.option(
    "--no-changes",
    is_flag=True,
    help="Don't try small changes of the program's text.",
)
@cost_options
@trial_options
@jobs_option
@budget_option
@cold_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    package: str,
    good: str,
    bad: str,
    good_trial: int | str | None,
    good_config: str,
    good_packages: str,
    output: str,
    no_releases: bool,
    no_changes: bool,
    jobs: int | None,
    budget: float | None,
    cold: bool,
    as_json: bool,
    **_: object,
) -> int:
    """Find out why a command fails, and write a report.

    It runs the command again to see whether it always fails, names the bug, compares the failure with
    what passes, finds the first bad release or commit and the part of it that matters (or which of
    your uncommitted edits it is), shrinks the files on the command line, makes a line that reproduces
    the failure, and tests that line elsewhere.
    """
    request = trial_request(ctx)
    options = InvestigateOptions(
        package=package,
        good=good,
        bad=bad,
        good_config=good_config,
        good_packages=good_packages,
        folder=output,
        budget=Budget(wall_seconds=budget),
        jobs=1 if request.judging.bound else jobs,  # two at once would measure each other
        cold=cold,
        tries_releases=not no_releases,
        tries_changes=not no_changes,
        words=_words(),
        began=begun_at(),
    )
    command = Trial(command=request.command, cwd=request.cwd or str(Path.cwd()))
    files = payload_names(command, request.stdin)
    offer_readers(request.cwd, files, as_json=as_json, says_it=True)
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        if good_trial is not None:  # before other trials are run: `last` is one that was there
            options = replace(options, good_trial=bench.notebook.find(good_trial).number)
        investigation = investigate(bench, request, options, history_of, pages=report_files)
    if as_json:
        answer_json(facts_of(investigation))
    else:
        show(investigation)
    if investigation.reproducer is not None and not investigation.reproducer.is_verified:
        raise ReproductionFailed(
            f"`{investigation.reproducer.script}` didn't fail the same way in another folder",
            hint=f"`{investigation.folder}/report.md` has the other results",
        )
    return 0 if investigation.stopped.is_complete else INCOMPLETE


def _words() -> tuple[str, ...]:
    """Return the options of this command line as they were typed, without the budget."""
    import sys

    words = sys.argv[1:]
    if "investigate" not in words or "--" not in words:
        return ()
    options = words[words.index("investigate") + 1 : words.index("--")]
    result: list[str] = []
    is_budget = False
    for each in options:
        if not is_budget and not each.startswith("--budget"):
            result.append(each)
        is_budget = each == "--budget"
    return tuple(result)


def show(investigation: Investigation) -> None:
    """Write an investigation to the terminal, the answer first."""
    import sys

    answer("")
    answer(styled(headline(investigation), "bold", sys.stdout))
    _show_answer(answer_of(investigation))
    if investigation.history is None and investigation.history_remark:
        answer(f"  {investigation.history_remark}")
    elif investigation.history is not None and investigation.history.first_bad is None:
        answer(f"  {history_sentence(investigation.history)}")
    for payload in investigation.payloads:
        if payload.after_bytes >= payload.before_bytes:
            continue  # it is the user's own file
        before, after = shown_bytes(payload.before_bytes), shown_bytes(payload.after_bytes)
        answer(f"  {payload.original}: {before} → {after}")
        if payload.after_bytes <= _SHOWN_BYTES:
            for line in shown_payload(payload.content).splitlines():
                answer(f"      {line}")
    if investigation.reproducer is not None:
        answer_lines("\nreproduce it with\n")
        answer(f"  {investigation.reproducer.line}")
    answer("")
    answer(
        f"report: {investigation.folder}/report.html  ({shown_seconds(investigation.wall_seconds)})"
    )
    left = answer_of(investigation)
    if left.left:
        answer_lines(f"\nthere was {left.left}; continue with\n")
        answer(f"  {visible(left.resume_line)}")
        answer("")
    stopped = investigation.stopped
    if not stopped.is_complete:
        is_said = bool(left.left) and stopped is StopReason.OUT_OF_TIME
        because = "" if is_said else f" ({stopped.value})"
        answer(f"exit code {INCOMPLETE}: not every step came to its end{because}")


def _show_answer(conclusion: Answer) -> None:
    import sys

    def print_evidence(list_of: tuple[Evidence, ...]) -> None:
        for each in list_of:
            rests = f" ({shown_trials(each.trials)})" if each.trials else ""
            _paragraph(f"- {unbroken(each.says)}{rests}", "    ")
            for number, step in enumerate(each.trail, 1):
                _paragraph(f"{number}. {unbroken(step.in_words)}", "      ")

    if conclusion.cause is not None:
        _paragraph(f"{conclusion.heading}: {unbroken(conclusion.title)}", "  ", style="bold")
        _paragraph(f"how sure: {conclusion.sure}", "  ")
        print_evidence(conclusion.evidence)
    else:
        _paragraph(f"{unbroken(conclusion.title)}.", "  ", style="bold")
    if conclusion.possible:
        _paragraph("possible causes (whet has no proof):", "  ")
        print_evidence(conclusion.possible)
    if conclusion.ruled_out:
        _paragraph("ruled out:", "  ")
        print_evidence(conclusion.ruled_out)
    if conclusion.source is not None:
        _paragraph(one_line(conclusion.source_title), "  ")
        for line, (_, _, is_it) in zip(
            conclusion.source_text.splitlines(), conclusion.source_lines, strict=True
        ):
            source_line = visible(line)
            answer(f"    {styled(source_line, 'red', sys.stdout) if is_it else source_line}")
    _paragraph(f"next: {one_line(conclusion.next_step)}", "  ")


def _paragraph(text: str, indent: str, *, style: str = "") -> None:
    import sys
    import textwrap

    lines = textwrap.wrap(
        text,
        width=_COLUMNS,
        initial_indent=indent,
        subsequent_indent=f"{indent}  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    for line in lines:
        answer(styled(line, style, sys.stdout) if style else line)
