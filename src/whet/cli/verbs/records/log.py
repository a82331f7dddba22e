"""``whet log``: the recorded trials and searches."""

from collections.abc import Iterable, Iterator
from itertools import groupby, islice

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.display.summary import (
    entry_json,
    entry_line,
    search_json,
    search_line,
    unfinished_line,
)
from whet.cli.options.log_filter import LogFilter, Since
from whet.cli.options.trial import json_option
from whet.core.errors import BadUsage
from whet.notebook.entry import Entry, SearchEntry
from whet.workbench.trials.bench import Workbench, open_workbench

_HELP = """List the recorded trials and searches, newest first.

A search (shrink, bisect, repeat …) is one line.

\b
Examples:
  whet log --search 12            the trials of the search that trial 12 belongs to
  whet log --failed --since 1d    what failed in the last 24 hours
  whet log --failure KeyError     trials with this failure
"""


@click.command(help=_HELP)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1),
    default=20,
    show_default=True,
    help="Show at most this many.",
)
@click.option("--all", "with_searches", is_flag=True, help="List each trial of a search, too.")
@click.option(
    "--search",
    type=click.IntRange(1),
    help="List the trials of the search that this trial belongs to.",
)
@click.option("--failed", is_flag=True, help="List only BAD trials.")
@click.option(
    "--failure", default="", metavar="TEXT", help="List only trials whose failure contains TEXT."
)
@click.option(
    "--file",
    default="",
    metavar="NAME",
    help="List only trials that name this file in the command or the traceback.",
)
@click.option(
    "--text",
    default="",
    metavar="TEXT",
    help="List only trials with TEXT in the command, note, name or failure.",
)
@click.option(
    "--since", default="", type=Since(), help="List only trials since this time: 2h, 2026-11-25."
)
@json_option
def command(
    *,
    limit: int,
    with_searches: bool,
    search: int | None,
    failed: bool,
    as_json: bool,
    **filters: str,
) -> None:
    """List trials and searches; `_HELP` is what a user reads."""
    log_filter = LogFilter(**filters)
    with open_workbench() as bench:
        each_trial = with_searches or search is not None
        trials = bench.notebook.entries(
            with_searches=each_trial, only_bad=failed, investigation=_search_of(bench, search)
        )
        entries = list(islice(filter(log_filter.takes, trials), limit + 1))
        searches: list[SearchEntry] = []
        if not (each_trial or failed):
            all_searches = bench.notebook.searches(None if log_filter else limit + 1)
            searches = [*filter(log_filter.takes_search, all_searches)]
        foreign = bench.foreign
        are_others = bool(entries or searches) or any(bench.notebook.entries(1))
    both: list[Entry | SearchEntry] = [*entries, *searches]
    rows = sorted(both, key=_place, reverse=True)[:limit]
    if as_json:
        trials_shown = [entry_json(row) for row in rows if isinstance(row, Entry)]
        answer_json(
            {
                "trials": trials_shown,
                "searches": [search_json(row) for row in rows if isinstance(row, SearchEntry)],
                "has_more": len(both) > limit,
            }
        )
        return
    if not are_others:
        say("no trials here yet; start with `whet run -- COMMAND`")
        if foreign:
            say(foreign)
    elif not rows:
        say("no trial here matches; `whet log --all` includes the trials of searches")
    for line in _lines(rows, are_folded=not each_trial):
        answer(line)
    first_search = next((row for row in rows if isinstance(row, SearchEntry)), None)
    if first_search is not None:
        say(f"`whet log --search {first_search.first}` lists the trials of that search")
    if len(both) > limit:
        say(f"there are more than these {limit}: `-n` sets how many are listed")


def _search_of(bench: Workbench, number: int | None) -> int | None:
    """Return the search that ran a trial."""
    if number is None:
        return None
    search = bench.notebook.trial(number).investigation
    if search is None:
        raise BadUsage(
            f"trial {number} doesn't belong to a search",
            hint=f"`whet show {number}` shows the trial itself",
        )
    return search


def _place(row: Entry | SearchEntry) -> int:
    return row.number if isinstance(row, Entry) else row.first


def _lines(rows: Iterable[Entry | SearchEntry], *, are_folded: bool) -> Iterator[str]:
    """Yield a line for each row; trials that were interrupted one after the other share theirs."""
    for is_unfinished, group in groupby(
        rows, lambda row: isinstance(row, Entry) and row.outcome is None
    ):
        alike = list(group)
        unfinished = [row for row in alike if isinstance(row, Entry)]
        if is_unfinished and are_folded and len(unfinished) > 1:
            yield unfinished_line(unfinished)
        else:
            for row in alike:
                yield entry_line(row) if isinstance(row, Entry) else search_line(row)
