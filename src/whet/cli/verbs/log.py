"""``whet log``: the recorded trials."""

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.options import json_option
from whet.cli.summary import entry_json, entry_line
from whet.workbench.trials.bench import open_workbench


@click.command()
@click.option(
    "-n", "--limit", type=click.IntRange(1), default=20, show_default=True, help="How many."
)
@click.option("--all", "with_searches", is_flag=True, help="Also the trials of searches.")
@click.option("--failed", is_flag=True, help="Only those that were BAD.")
@json_option
def command(*, limit: int, with_searches: bool, failed: bool, as_json: bool) -> None:
    """List the recorded trials, newest first."""
    with open_workbench() as bench:
        entries = list(bench.notebook.entries(limit, with_searches=with_searches, only_bad=failed))
        foreign = bench.foreign
        others = bool(entries) or any(bench.notebook.entries(1, with_searches=True))
    if as_json:
        answer_json({"trials": [entry_json(entry) for entry in entries]})
        return
    if not entries and not others:
        say("no trials here yet; `whet run -- COMMAND` makes one")
        if foreign:
            say(foreign)
    elif not entries:
        say("none of the trials here is of that kind; `whet log --all` shows those of searches too")
    for entry in entries:
        answer(entry_line(entry))
