"""``whet trace``: the calls of functions as a tree, with arguments and results."""

import click

from whet.cli.console import say
from whet.cli.display.probed import show_calls
from whet.cli.options.trial import TrialCommand, json_option, trial_options, trial_request
from whet.cli.verbs.inspection.probe import show
from whet.core.probe import trace_wish
from whet.host.process.console import Console
from whet.workbench.inspect.probe import Looking, probe, settle
from whet.workbench.trials.bench import open_workbench


@click.command(cls=TrialCommand, options_metavar="[OPTIONS] TARGET... -- COMMAND...")
@click.argument("targets", nargs=-1, required=True, metavar="TARGET...")
@click.option(
    "--rank",
    multiple=True,
    type=click.IntRange(0),
    help="Probe only this rank of a distributed run.",
)
@click.option(
    "--most",
    type=click.IntRange(1),
    default=10000,
    show_default=True,
    help="Record at most this many calls per process; whet still counts all of them.",
)
@trial_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    targets: tuple[str, ...],
    rank: tuple[int, ...],
    most: int,
    as_json: bool,
    **_: object,
) -> int:
    """Show the calls of functions as a tree: arguments, results, errors, times.

    TARGET is `package.module:func`, `package.module:Class.method` or `file.py:func`; `*` matches
    anything: 'train:*' means all functions of a module, including those inside classes and
    functions.
    """
    request = trial_request(ctx)
    wish = trace_wish(targets)
    with open_workbench() as bench:
        places = settle(bench, request, (wish,))
        for place, _wish in places:
            if place.note:
                say(f"whet: note: {place.note}")
        console = None if as_json else Console()
        looking = Looking(places=places, ranks=rank, verb="trace", most_calls=most, words=targets)
        probed = probe(bench, request, looking, console)
    if not as_json:
        show_calls(probed.report, probed.result.entry.number, is_whole=False)
    return show(probed, as_json=as_json)
