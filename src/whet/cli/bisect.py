"""``whet bisect``: the first bad commit or release."""

import click

from whet.cli.bisect_options import package_options
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
from whet.report.facts import history_facts
from whet.workbench.bench import open_workbench
from whet.workbench.bisect import BisectOptions, bisect
from whet.workbench.investigate import history_sentence
from whet.workbench.investigation import VersionSearch


@click.command(cls=TrialCommand, options_metavar="[OPTIONS]", epilog="[GOOD] BAD -- COMMAND...")
@click.argument("ends", nargs=-1, metavar="[GOOD] BAD")
@click.option(
    "--repo", default="", metavar="DIR", help="The git repository (the current folder's)."
)
@click.option("--path", "paths", multiple=True, help="Only commits that touch this path.")
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
@package_options
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
    package: str,
    pre: bool,
    as_of_release: bool,
    terms: str,
    packages: bool,
    pythons: str,
    budget: float | None,
    jobs: int | None,
    as_json: bool,
    **_: object,
) -> int:
    """Find the first bad commit, or with --package the first bad release.

    The end that fails is run first and the other one beside the first steps, each in a working
    tree of its own (`--jobs 1`: one after the other). Without GOOD whet walks back until it finds a good one. Commits
    are checked out in working trees of whet's own; your checkout is not touched. A version
    that cannot be built, or that fails in another way, is skipped.
    """
    request = trial_request(ctx)
    if packages and not pythons:
        from whet.cli.bisect_packages import search_packages

        return search_packages(ctx, ends, request)
    if len(ends) not in ({0, 1} if pythons else {1, 2}):
        raise BadUsage(
            f"`{' '.join(ends)}` does not name one or two ends",
            hint="write `whet bisect [GOOD] BAD -- COMMAND`; the command stands behind `--`",
        )
    *older, bad = ends or ("",)
    good = older[0] if older else ""
    options = BisectOptions(
        good=good,
        bad=bad,
        repository=repo,
        paths=paths,
        package=package,
        pythons=pythons,
        terms=terms,
        with_prereleases=pre,
        as_of_release=as_of_release,
        budget=Budget(wall_seconds=budget),
        jobs=jobs,
    )
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        found = bisect(bench, request, options)
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
    trials = shown_count(found.trials, "trial")
    why = "" if found.stopped is StopReason.FOUND else f"; {found.stopped.value}"
    answer(f"\n{trials} in {shown_seconds(found.wall_seconds)}{why}")
