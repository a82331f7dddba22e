"""``whet investigate``: the main job."""

from pathlib import Path

import click

from whet.cli.console import answer, answer_json, styled
from whet.cli.options import (
    TrialCommand,
    budget_option,
    cold_option,
    jobs_option,
    json_option,
    trial_options,
    trial_request,
)
from whet.cli.progress import Progress
from whet.core.budget import Budget
from whet.core.errors import INCOMPLETE, ReproductionFailed
from whet.core.quantity import shown_bytes, shown_seconds
from whet.report.facts import facts_of
from whet.report.pages import headline, shown_payload, write_report
from whet.report.wording import one_line
from whet.workbench.bench import open_workbench
from whet.workbench.guilty_part import part_sentence
from whet.workbench.histories import history_of
from whet.workbench.history_sentence import history_sentence
from whet.workbench.investigate import investigate
from whet.workbench.investigating import InvestigateOptions
from whet.workbench.investigation import Investigation

_SHOWN_BYTES = 600


@click.command(cls=TrialCommand, options_metavar="[OPTIONS] -- COMMAND...")
@click.option("--package", default="", metavar="NAME", help="Search the releases of a package.")
@click.option("--good", default="", metavar="X", help="A good revision or release.")
@click.option("--bad", default="", metavar="Y", help="A bad one (what is there now).")
@click.option(
    "--good-trial",
    type=int,
    metavar="TRIAL",
    help="A recorded trial that passed (the last one of this command).",
)
@click.option(
    "--good-config",
    default="",
    metavar="FILE",
    help="A configuration with which it passes, to compare with the one that it names.",
)
@click.option(
    "--good-packages",
    default="",
    metavar="SET",
    help="Packages with which it passes, to compare with those of now: a file of pins, or a day.",
)
@click.option(
    "-o", "--output", default="", metavar="DIR", help="Where the report goes (whet-report)."
)
@click.option(
    "--no-releases",
    is_flag=True,
    help="Try no other releases of the packages in which it fails.",
)
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
    good_trial: int | None,
    good_config: str,
    good_packages: str,
    output: str,
    no_releases: bool,
    jobs: int | None,
    budget: float | None,
    cold: bool,
    as_json: bool,
    **_: object,
) -> int:
    """Find out why a command fails, and write a report.

    Runs it again to see whether it always fails, says which bug it is, compares it with what is
    known to pass, finds the first bad release or commit and the part of it that matters, or which
    of your uncommitted edits it is, shrinks the files that the command names, makes a line that
    reproduces it, and checks that line elsewhere.
    """
    request = trial_request(ctx)
    options = InvestigateOptions(
        package=package,
        good=good,
        bad=bad,
        good_trial=good_trial,
        good_config=good_config,
        good_packages=good_packages,
        folder=output,
        budget=Budget(wall_seconds=budget),
        jobs=jobs,
        cold=cold,
        tries_releases=not no_releases,
    )
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        found = investigate(bench, request, options, history_of)
    write_report(found, Path(found.folder))
    if as_json:
        answer_json(facts_of(found))
    else:
        _show(found)
    if found.reproducer is not None and not found.reproducer.is_verified:
        raise ReproductionFailed(
            f"`{found.reproducer.script}` did not fail in the same way when it was run elsewhere",
            hint=f"`{found.folder}/report.md` says what was found all the same",
        )
    return 0 if found.stopped.is_complete else INCOMPLETE


def _show(found: Investigation) -> None:
    import sys

    answer("")
    answer(styled(headline(found), "bold", sys.stdout))
    for clue in found.clues:
        answer(f"  {one_line(clue.says)}")
    if found.history is not None:
        answer(f"  {history_sentence(found.history)}")
    elif found.history_remark:
        answer(f"  {found.history_remark}")
    if found.part is not None:
        answer(f"  {part_sentence(found.part)}")
    for payload in found.payloads:
        before, after = shown_bytes(payload.before_bytes), shown_bytes(payload.after_bytes)
        answer(f"  {payload.original}: {before} → {after}")
        if payload.after_bytes <= _SHOWN_BYTES:
            for line in shown_payload(payload.content).splitlines():
                answer(f"      {line}")
    if found.reproducer is not None:
        answer("\nreproduce it with\n")
        answer(f"  {found.reproducer.line}")
    answer(f"\nreport: {found.folder}/report.html  ({shown_seconds(found.wall_seconds)})")
