"""``whet one-liner``: a trial as one line."""

import click

from whet.cli.console import answer, answer_json
from whet.cli.options.trial import json_option
from whet.cli.options.trial_name import TrialCommand, TrialName
from whet.workbench.files.reproducer import line_for
from whet.workbench.trials.bench import open_workbench


@click.command(cls=TrialCommand)
@click.argument("trial", type=TrialName(), required=False)
@json_option
def command(trial: int | str | None, *, as_json: bool) -> None:
    """Print a trial as one correctly quoted line to paste into a shell (the last one by default)."""
    with open_workbench() as bench:
        entry = bench.notebook.find(trial)
        line = line_for(bench, entry.trial)
    if as_json:
        answer_json({"trial": entry.number, "line": line})
    else:
        answer(line)
