"""``whet bisect``: the first bad commit or release."""

from pathlib import Path

import click

from whet.bisection.names import ends_of
from whet.cli.console import answer, answer_json
from whet.cli.options import (
    TrialCommand,
    budget_option,
    jobs_option,
    json_option,
    trial_options,
    trial_request,
)
from whet.cli.progress import Progress
from whet.core.budget import Budget, StopReason
from whet.core.errors import INCOMPLETE, BadUsage
from whet.core.quantity import shown_count, shown_seconds
from whet.host.files import write_atomically
from whet.report.facts import history_facts
from whet.report.history_line import history_line
from whet.report.wording import visible
from whet.workbench.bench import open_workbench
from whet.workbench.bisect import BisectOptions, bisect
from whet.workbench.investigate import history_sentence
from whet.workbench.investigation import VersionSearch
from whet.workbench.setups import Setup


@click.command(cls=TrialCommand, options_metavar="[OPTIONS]", epilog="[GOOD] BAD -- COMMAND...")
@click.argument("ends", nargs=-1, required=True, metavar="[GOOD] BAD")
@click.option(
    "--repo", default="", metavar="DIR", help="The git repository (the current folder's)."
)
@click.option("--path", "paths", multiple=True, help="Only commits that touch this path.")
@click.option(
    "--first-parent", is_flag=True, help="Search the main line, then in the merge that was found."
)
@click.option(
    "--setup",
    default="",
    metavar="CMD",
    help="Shell command at the top of each checkout (install, build); if it fails: skip.",
)
@click.option(
    "--setup-reads",
    multiple=True,
    metavar="GLOB",
    help="The setup runs again only where such files change.",
)
@click.option(
    "--as-of-commit", is_flag=True, help="The setup installs what there was that day (by uv)."
)
@click.option(
    "--carry",
    multiple=True,
    metavar="PATH",
    help="Copy this, which git does not track, into each checkout.",
)
@click.option("--package", default="", metavar="NAME", help="Search the releases of a package.")
@click.option("--pre", is_flag=True, help="Releases such as 2.0rc1 count too.")
@click.option(
    "--as-of-release",
    is_flag=True,
    help="Dependencies as they were when each release came out (needs uv).",
)
@click.option(
    "--terms", default="", metavar="OLD,NEW", help="Words for the sides, such as broken,fixed."
)
@click.option("--log", default="", metavar="FILE", help="Write what `git bisect replay` reads.")
@click.option("--picture", default="", metavar="FILE", help="Draw the search into this SVG file.")
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
    repo: str,
    paths: tuple[str, ...],
    first_parent: bool,
    setup: str,
    setup_reads: tuple[str, ...],
    as_of_commit: bool,
    carry: tuple[str, ...],
    package: str,
    pre: bool,
    as_of_release: bool,
    terms: str,
    log: str,
    picture: str,
    budget: float | None,
    jobs: int | None,
    as_json: bool,
    **_: object,
) -> int:
    """Find the first bad commit, or with --package the first bad release.

    GOOD and BAD are named as git names them (`v4.33`, `release~3`), by a date (`2026-01-05`,
    `'2 weeks ago'`), or both in one word (`v4.33..HEAD`). Without GOOD whet walks back until it
    finds a good one. If it is the old end that fails, what fixed it is searched.

    Commits are checked out in working trees of whet's own, and `--jobs` of them run at once (your
    cores, up to 8); your checkout is not touched. Both ends are run too. A version that cannot be
    built, or that fails in another way, is skipped. A search that was stopped goes on when the
    same line is typed again.
    """
    good, bad = ends_of(ends)
    if package and (log or setup or as_of_commit or carry or first_parent):
        raise BadUsage(
            "`--log`, `--setup`, `--as-of-commit`, `--carry` and `--first-parent` are for commits",
            hint="leave them out, or search a repository without `--package`",
        )
    options = BisectOptions(
        good=good,
        bad=bad,
        repository=repo,
        paths=paths,
        package=package,
        terms=terms,
        with_prereleases=pre,
        as_of_release=as_of_release,
        budget=Budget(wall_seconds=budget),
        jobs=jobs,
        is_line=first_parent,
        setup=Setup(command=setup, reads=setup_reads, as_of_commit=as_of_commit, carried=carry),
    )
    request = trial_request(ctx)
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        found = bisect(bench, request, options)
    for name, text in ((log, found.log), (picture, picture and history_line(found))):
        if name:
            write_atomically(Path(name), f"{text}\n".encode("utf-8", "surrogateescape"))
    if as_json:
        answer_json(history_facts(found))
    else:
        _show(found)
    return 0 if found.stopped.is_complete else INCOMPLETE


def _show(found: VersionSearch) -> None:
    if found.picture:
        answer(found.picture)
        answer("")
    answer(history_sentence(found))
    if found.first_bad_description:
        answer("")
        answer(found.first_bad_description)
    if found.diff:
        answer("")
        answer(visible(found.diff))
    if found.again:
        answer(f"\n{found.again}")
    trials = shown_count(found.trials, "trial")
    why = "" if found.stopped is StopReason.FOUND else f"; {found.stopped.value}"
    answer(f"\n{trials} in {shown_seconds(found.wall_seconds)}{why}")
