"""``whet expect``: how good your guesses are."""

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.display.calibrated import record_json, record_lines
from whet.cli.options.trial import json_option
from whet.workbench.expect.record import record_of
from whet.workbench.trials.bench import open_workbench


@click.command()
@click.option("--here", is_flag=True, help="Count only the guesses in this project.")
@json_option
def command(*, here: bool, as_json: bool) -> None:
    """Show how good your guesses are.

    State what you expect with `whet run --expect 'seconds ~ 3s' -- COMMAND`. whet compares all such
    statements with what came: by which factor your times, memory and numbers are off, and how
    often they were in the range that you gave. A statement that you repeat about the same command
    counts once.
    """
    with open_workbench() as bench:
        record = record_of(bench, only_here=here)
    if as_json:
        answer_json(record_json(record))
        return
    if not record.calibrations:
        say("no guesses yet; state one: `whet run --expect 'seconds ~ 3s' -- COMMAND`")
    for line in record_lines(record):
        answer(line)
