"""``whet probe``: look at places in a running program without editing it."""

import click

from whet.cli.console import answer_json, say
from whet.cli.display.summary import entry_json, run_line
from whet.cli.options.trial import TrialCommand, json_option, trial_options, trial_request
from whet.core.probe import parse_wishes
from whet.evidence.clues.probes import ProbeReport, place_line
from whet.host.process.console import Console
from whet.workbench.inspect.probe import Looking, Probed, notes_on, probe, settle
from whet.workbench.trials.bench import open_workbench

_HELP = """Look at places in a running program, without an edit of your files.

\b
TARGET   file.py:LINE           before the statement on that line
         package.module:func    each call; also Class.method, file.py:func, or a pattern
         func:return            each return; `__return__` is the value
         raise:ValueError       each such error; `__exception__` is the error
\b
ACTION   print 'EXPR'...        name = value, in one line; without EXPR the arguments
         stack  mem  count      who called; memory; how often (the end shows that anyway)
         sleep 10               wait, so that you can look; Enter continues
         break                  pdb; without a terminal: `whet probe --attach PID`
         die                    show who called, and end: it proves that the line runs
         if 'EXPR'  after N  every N    when to do it

Targets share the actions that follow them; the next target starts a new group.
"""


@click.command(
    cls=TrialCommand, help=_HELP, options_metavar="[OPTIONS] TARGET... ACTION... -- COMMAND..."
)
@click.argument("words", nargs=-1, metavar="")
@click.option(
    "--rank",
    multiple=True,
    type=click.IntRange(0),
    help="Probe only this rank of a distributed run.",
)
@click.option(
    "--attach", type=int, metavar="PID", help="Talk to the pdb that waits in this process."
)
@trial_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    words: tuple[str, ...],
    rank: tuple[int, ...],
    attach: int | None,
    as_json: bool,
    **_: object,
) -> int:
    """Look at places in a running program."""
    if attach is not None:
        from whet.host.inspect.debug_line import attach as talk

        talk(attach)
        return 0
    request = trial_request(ctx)
    wishes = parse_wishes(words)
    with open_workbench() as bench:
        places = settle(bench, request, wishes)
        for note in notes_on(places):
            say(f"whet: note: {note}")
        console = None if as_json else Console()
        probed = probe(bench, request, Looking(places=places, ranks=rank, words=words), console)
    return show(probed, as_json=as_json)


def show(probed: Probed, *, as_json: bool) -> int:
    """Show what was seen, and return the program's own exit code."""
    result = probed.result
    outcome = result.entry.outcome
    assert outcome is not None
    if as_json:
        notes = list(result.notes)
        answer_json({**entry_json(result.entry), "notes": notes, **report_json(probed.report)})
        return outcome.shell_exit_code
    for note in dict.fromkeys(result.notes):
        say(f"whet: note: {note}")
    for place in probed.report.places:
        say(f"whet: {place_line(place)}")
    say(run_line(result.entry, result.previous, is_same_failure=result.is_same_failure))
    return outcome.shell_exit_code


def report_json(report: ProbeReport) -> dict[str, object]:
    """Return what was seen as JSON data."""
    return {
        "places": [
            {
                "title": each.title,
                "kind": each.kind,
                "path": each.path,
                "count": each.count,
                "processes": {str(pid): count for pid, count in each.by_process.items()},
                "loaded": list(each.loaded),
            }
            for each in report.places
        ],
        "hits": [each.to_json() for each in report.hits],
        "calls": [each.to_json() for each in report.calls],
    }
