"""``whet bisect --packages``: which of many packages, and with which release."""

import click

from whet.cli.console import answer, answer_json, answer_lines
from whet.cli.display.delta import delta_json, show_delta
from whet.cli.display.progress import Progress
from whet.core.budget import Budget
from whet.core.errors import INCOMPLETE, BadUsage
from whet.report.facts import history_facts
from whet.workbench.bisect.packages import NOW, CulpritPackages, PackageOptions, bisect_packages
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.request import TrialRequest
from whet.workbench.versions.history_sentence import history_sentence


def search_packages(ctx: click.Context, ends: tuple[str, ...], request: TrialRequest) -> int:
    """Search and show; return the exit code.

    Args:
        ctx: the options of the verb.
        ends: one set or two; of one the other is as it is now.
        request: the command.

    Raises:
        BadUsage: if there are more ends.
    """
    if len(ends) not in {1, 2}:
        raise BadUsage(
            f"`{' '.join(ends)}` doesn't name two sets of packages",
            hint="write `whet bisect --packages GOOD BAD -- COMMAND`: files that `pip freeze`"
            " wrote, lock files, `now`, or a date such as 2024-05-01",
        )
    good, bad = (*ends, NOW)[:2]
    options = PackageOptions(
        good=good,
        bad=bad,
        with_prereleases=ctx.params["pre"],
        budget=Budget(wall_seconds=ctx.params["budget"]),
        jobs=ctx.params["jobs"],
    )
    as_json: bool = ctx.params["as_json"]
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        culprits = bisect_packages(bench, request, options)
    if as_json:
        searches = [history_facts(search) for search in culprits.releases]
        answer_json({**delta_json(culprits.delta), "releases": searches})
    else:
        _show(culprits)
    reasons = [culprits.delta.stopped, *(search.stopped for search in culprits.releases)]
    return 0 if all(reason.is_answer for reason in reasons) else INCOMPLETE


def _show(culprits: CulpritPackages) -> None:
    show_delta(culprits.delta)
    for search in culprits.releases:
        answer("")
        if search.picture:
            answer_lines(search.picture)
            answer("")
        answer(history_sentence(search))
