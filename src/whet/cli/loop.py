"""``whet loop``: the same command again at each save."""

import sys

import click

from whet.cli.console import answer_json, say, styled, verdict_word
from whet.cli.options import TrialCommand, json_option, trial_options, trial_request
from whet.cli.summary import entry_json, failure_words
from whet.core.errors import BadUsage
from whet.core.quantity import shown_seconds
from whet.host.console import Console
from whet.host.stage import Debugging
from whet.workbench.bench import open_workbench
from whet.workbench.loop import Cycle, LoopOptions, loop


@click.command(cls=TrialCommand, options_metavar="[OPTIONS] -- COMMAND...")
@click.option(
    "--watch",
    multiple=True,
    metavar="GLOB",
    help="Files that count even when they are saved while the program runs.",
)
@click.option(
    "--runs", type=click.IntRange(1), default=None, metavar="N", help="End after so many runs."
)
@click.option(
    "--pdb",
    is_flag=True,
    help="Open pdb in the terminal where the program fails, after its traceback.",
)
@trial_options
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    watch: tuple[str, ...],
    runs: int | None,
    pdb: bool,
    as_json: bool,
    **_: object,
) -> int:
    """Run a command, and again after each save, from as far on as the edit allows.

    A Python program is frozen on its way, after slow statements and before it reads its data.
    After a save it runs on from the last frozen copy that had seen nothing of what changed,
    which gives what a run from the start would give. Where that is not certain it starts anew.
    Ctrl-C ends the run; while nothing runs it ends the loop. In a terminal, after a failure,
    `b` and Enter step through the program from before the failing function was called.
    """
    request = trial_request(ctx)
    console = None if as_json else Console()
    if pdb and (console is None or not console.is_interactive):
        raise BadUsage(
            "`--pdb` needs a terminal to ask in",
            hint="leave out `--json`, and let standard input and output be the terminal",
        )

    def tell(cycle: Cycle) -> None:
        if as_json:
            answer_json(_facts(cycle))
        else:
            for note in dict.fromkeys(cycle.result.notes):
                say(f"whet: note: {note}")
            say(_line(cycle))

    def offer(cycle: Cycle) -> None:
        if cycle.back is not None and console is not None and console.is_interactive:
            place = cycle.back or "its start: no copy is from before the failing function"
            say(f"whet: type b to step from {place} · r to run again · q to quit")

    with open_workbench() as bench:
        debugging = Debugging.AT_FAILURE if pdb else Debugging.NEVER
        options = LoopOptions(watch=watch, most_runs=runs, debugging=debugging)
        try:
            loop(bench, request, options, console, tell, offer)
        except KeyboardInterrupt:
            return 0
    return 0


def _line(cycle: Cycle) -> str:
    entry = cycle.result.entry
    outcome = entry.outcome
    assert outcome is not None
    start = cycle.start
    took = shown_seconds(cycle.wall_seconds)
    if start.place:
        how = f"warm {took} from {start.place} (cold {shown_seconds(cycle.cold_seconds)})"
    else:
        how = f"cold {took}"
    parts = [how]
    verdict = verdict_word(entry.verdict, sys.stderr) if entry.verdict else ""
    what = failure_words(outcome.failure) if outcome.failure else f"exit {outcome.shell_exit_code}"
    parts.append(f"{verdict} {what}".strip())
    if cycle.result.is_same_failure and cycle.result.previous is not None:
        parts.append(f"same failure as #{cycle.result.previous.number}")
    if start.why_not_deeper:
        parts.append(start.why_not_deeper)
    if start.halted:
        parts.append(f"no copies after: {start.halted}")
    parts.append(f"trial {entry.number}")
    return f"{styled('whet', 'bold', sys.stderr)}: " + " · ".join(parts)


def _facts(cycle: Cycle) -> dict[str, object]:
    return {
        **entry_json(cycle.result.entry),
        "is_warm": bool(cycle.start.place),
        "from": cycle.start.place,
        "wall_seconds_from_save": cycle.wall_seconds,
        "cold_seconds": cycle.cold_seconds,
        "why_not_deeper": cycle.start.why_not_deeper,
        "snapshots": cycle.start.snapshots,
        "no_copies_after": cycle.start.halted,
        "saved": list(cycle.saved),
        "notes": list(cycle.result.notes),
    }
