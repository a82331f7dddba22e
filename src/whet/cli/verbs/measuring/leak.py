"""``whet leak``: what a piece of a program leaves behind each time that it runs."""

import re

import click

from whet.cli.console import answer, answer_json
from whet.cli.display.progress import Progress
from whet.cli.options.trial import (
    TrialCommand,
    budget_option,
    json_option,
    trial_options,
    trial_request,
    verdict_option,
)
from whet.core.errors import BadUsage
from whet.measurement.leaks.verdict import Kind
from whet.workbench.leak.leak import LeakOptions, leak
from whet.workbench.leak.words import leak_json, leak_lines
from whet.workbench.trials.bench import open_workbench

_SECONDS = 60.0
_LEAST = 64
_EXIT_CODES = {
    Kind.LEAK: 1,
    Kind.UNSURE: 125,
    Kind.SLOWS: 125,
    Kind.RESULT: 125,
    Kind.SMALL: 0,
    Kind.NONE: 0,
}
_LOOP = re.compile(r"(?P<file>.+\.py):(?P<line>\d{1,9})")


@click.command(cls=TrialCommand, options_metavar="[OPTIONS] -- COMMAND...")
@click.option(
    "--call",
    default="",
    metavar="TARGET",
    help="Repeat the calls of this function: `package.module:func`, `file.py:Class.method`.",
)
@click.option(
    "--nth", type=click.IntRange(1), default=1, metavar="N", help="Repeat its Nth call. [1]"
)
@click.option(
    "--loop",
    default="",
    metavar="FILE:LINE",
    help="Measure the rounds of this loop. [the one that takes most of the time]",
)
@click.option(
    "--section",
    default="",
    metavar="NAME",
    help="Measure the runs of this `whet.section`.",
)
@click.option(
    "--least",
    type=click.IntRange(1),
    default=_LEAST,
    metavar="BYTES",
    help="Call it a leak from this many bytes a repetition on. [64]",
)
@trial_options
@budget_option
@verdict_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    call: str,
    nth: int,
    loop: str,
    section: str,
    least: int,
    budget: float | None,
    exit_verdict: bool,
    as_json: bool,
    **_: object,
) -> int:
    """Find out whether memory, files or threads pile up, and who holds them.

    whet measures at each round of the program's main loop: memory in use, resident and GPU memory,
    open files, threads, child processes. If one of them keeps growing, whet runs the program once
    more and names the object that holds what is added, with the line that fills it.

    `--call` repeats one function instead: where the program calls it first, whet copies the process
    and calls the function again and again with the same arguments; the program ends there. whet does
    that for a single test too (`-- pytest test_x.py::test_y`). What the function writes to files or
    sends, it does each time.
    """
    if sum(map(bool, (call, loop, section))) > 1:
        raise BadUsage(
            "`--call`, `--loop` and `--section` each say what is repeated", hint="keep one of them"
        )
    options = LeakOptions(
        call=call, nth=nth, loop=_loop(loop), section=section, least=least,
        seconds=_SECONDS if budget is None else budget,
    )  # fmt: skip
    request = trial_request(ctx)
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        found = leak(bench, request, options)
    if as_json:
        answer_json(leak_json(found))
    else:
        for line in leak_lines(found):
            answer(line)
    return _EXIT_CODES[found.kind] if exit_verdict else 0


def _loop(text: str) -> tuple[str, int] | None:
    if not text:
        return None
    found = _LOOP.fullmatch(text)
    if found is None:
        raise BadUsage(
            f"`--loop {text}` isn't a file and a line", hint="write it as in `--loop train.py:16`"
        )
    return found["file"], int(found["line"])
