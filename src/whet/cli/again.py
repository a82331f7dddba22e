"""``whet again``: a recorded trial once more."""

import click

from whet.cli.options import json_option
from whet.cli.run import show
from whet.host.console import Console
from whet.workbench.bench import open_workbench
from whet.workbench.run import run_again


@click.command()
@click.argument("trial", type=int, required=False)
@click.option(
    "--code",
    type=click.Choice(["now", "then"]),
    default="now",
    show_default=True,
    help="Today's code, or the code as it was when the trial ran.",
)
@json_option
def command(trial: int | None, *, code: str, as_json: bool) -> int:
    """Run a recorded trial again (the last one if no number is given)."""
    with open_workbench() as bench:
        console = None if as_json else Console()
        result = run_again(bench, trial, console, code_then=code == "then")
    return show(result, as_json=as_json)
