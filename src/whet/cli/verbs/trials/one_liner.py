"""``whet one-liner``: a trial as one line."""

import click

from whet.cli.console import answer_json
from whet.cli.display.pasted import show_line
from whet.cli.options.trial import json_option
from whet.cli.options.trial_name import TrialCommand, TrialName
from whet.workbench.files.recorded_line import recorded_line
from whet.workbench.trials.bench import open_workbench


@click.command(cls=TrialCommand)
@click.argument("trial", type=TrialName(), required=False)
@json_option
def command(trial: int | str | None, *, as_json: bool) -> None:
    """Print a trial as one correctly quoted line to paste into a shell (the last one by default).

    whet tries the line with a stand-in for the program, and says if it isn't given what the trial
    was. A line that is too long to read becomes a script.
    """
    with open_workbench() as bench:
        entry = bench.notebook.find(trial)
        line = recorded_line(bench, entry)
    if as_json:
        answer_json({"trial": entry.number, **line.facts()})
    else:
        show_line(line)
