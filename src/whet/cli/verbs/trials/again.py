"""``whet again``: a recorded trial once more."""

import click

from whet.cli.console import say
from whet.cli.display.probed import show_calls
from whet.cli.options.trial import json_option, pairs
from whet.cli.options.trial_name import TrialCommand, TrialName
from whet.cli.verbs.inspection.probe import show as show_probed
from whet.cli.verbs.trials.run import show
from whet.host.process.console import Console
from whet.workbench.inspect.probed_again import probed_in, probes_again
from whet.workbench.trials.bench import open_workbench
from whet.workbench.trials.run import run_again


@click.command(cls=TrialCommand)
@click.argument("trial", type=TrialName(), required=False)
@click.option(
    "--code",
    type=click.Choice(["now", "then"]),
    default="now",
    show_default=True,
    help="Use today's code, or the code as it was when the trial ran.",
)
@click.option(
    "--env",
    "variables",
    multiple=True,
    metavar="NAME=VALUE",
    help="Change an environment variable; repeat the option for more.",
)
@json_option
def command(
    trial: int | str | None, *, code: str, variables: tuple[str, ...], as_json: bool
) -> int:
    """Run a recorded trial again (the last one without a number).

    Probes of that trial are set again, in today's code.
    """
    with open_workbench() as bench:
        console = None if as_json else Console()
        number = bench.notebook.find(trial).number
        tasks, notes = probes_again(bench, number, code_then=code == "then")
        for note in notes:
            say(f"whet: note: {note}")
        result = run_again(
            bench,
            number,
            console,
            code_then=code == "then",
            environment=pairs(variables, "--env", "NAME=VALUE"),
            tasks=tasks,
        )
    probed = probed_in(result)
    if probed is None:
        return show(result, as_json=as_json)
    if probed.report.calls and not as_json:
        show_calls(probed.report, result.entry.number, is_whole=False)
    return show_probed(probed, as_json=as_json)
