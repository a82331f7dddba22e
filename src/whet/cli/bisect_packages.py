"""``whet bisect --packages`` and ``--python``: which of many packages, and on which Python first."""

from collections.abc import Callable
from dataclasses import replace
from typing import ParamSpec, TypeVar

import click

from whet.cli.console import answer, answer_json
from whet.cli.delta import delta_json, show_delta
from whet.cli.progress import Progress
from whet.core.errors import INCOMPLETE, BadUsage
from whet.report.facts import history_facts
from whet.workbench.bench import open_workbench
from whet.workbench.investigate import history_sentence
from whet.workbench.packages import NOW, GuiltyPackages, PackageOptions, bisect_packages
from whet.workbench.request import TrialRequest

P = ParamSpec("P")
R = TypeVar("R")

_OPTIONS = [
    click.option(
        "--packages",
        is_flag=True,
        help="GOOD and BAD are sets of packages: files of pins, `now`, or a day. Which of them is it?",
    ),
    click.option(
        "--python",
        "pythons",
        default="",
        metavar="3.10..3.13",
        help="Search Pythons; a set of packages may be named, to be installed on each.",
    ),
]


def package_options(function: Callable[P, R]) -> Callable[P, R]:
    """Add the options for searches over packages and Pythons to a verb."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def search_packages(
    ends: tuple[str, ...], request: TrialRequest, options: PackageOptions, *, as_json: bool
) -> int:
    """Search and show; return the exit code.

    Args:
        ends: one set or two; of one the other is as it is now.
        request: the command.
        options: all but the ends.
        as_json: print one JSON object.

    Raises:
        BadUsage: if there are more ends.
    """
    if len(ends) not in {1, 2}:
        raise BadUsage(
            f"`{' '.join(ends)}` does not name two sets of packages",
            hint="write `whet bisect --packages GOOD BAD -- COMMAND`: files that `pip freeze`"
            " wrote, lock files, `now`, or a day such as 2024-05-01",
        )
    good, bad = (*ends, NOW)[:2]
    chosen = replace(options, good=good, bad=bad)
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        found = bisect_packages(bench, request, chosen)
    if as_json:
        searches = [history_facts(search) for search in found.releases]
        answer_json({**delta_json(found.delta), "releases": searches})
    else:
        _show(found)
    complete = [found.delta.stopped, *(search.stopped for search in found.releases)]
    return 0 if all(reason.is_complete for reason in complete) else INCOMPLETE


def _show(found: GuiltyPackages) -> None:
    show_delta(found.delta)
    for search in found.releases:
        answer("")
        if search.picture:
            answer(search.picture)
            answer("")
        answer(history_sentence(search))
