"""``whet post-mortem``: pdb on what was kept of a failure."""

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.options.trial import json_option
from whet.cli.options.trial_name import TrialCommand, TrialName
from whet.core.errors import BadUsage
from whet.evidence.variables.failure_text import error_words
from whet.workbench.inspect.post_mortem import Dead, dead_of, likeliest, look_at
from whet.workbench.trials.bench import open_workbench


@click.command(cls=TrialCommand)
@click.argument("trial", type=TrialName(), required=False)
@click.option("--list", "is_list", is_flag=True, help="Only list the recorded errors.")
@click.option(
    "--error",
    "error_number",
    type=int,
    metavar="N",
    help="Open this error. [the one that ended the program]",
)
@json_option
def command(
    trial: int | str | None, *, is_list: bool, error_number: int | None, as_json: bool
) -> int:
    """Open pdb on the frames of a trial that ran with `--locals`.

    The default is the last trial. The program doesn't run again: whet recorded the frames when it
    failed, rebuilds their variables, and shows the source as it was then. `up`, `down`, `p`, `pp`, `ll`
    and `where` work; a value that whet couldn't record says so. The exit code is the program's.
    """
    with open_workbench() as bench:
        entry = bench.notebook.find(trial)
        dead = dead_of(bench, entry)
    default = likeliest(entry.outcome, dead)
    code = 0 if entry.outcome is None else entry.outcome.shell_exit_code
    if as_json:
        answer_json({"trial": entry.number, "errors": [_json(each) for each in dead]})
        return code
    if is_list:
        for number, each in enumerate(dead, start=1):
            answer(f"{number:>3}{'*' if number - 1 == default else ' '} {_words(each)}")
        return code
    number = default + 1 if error_number is None else error_number
    if not 1 <= number <= len(dead):
        raise BadUsage(
            f"trial {entry.number} has no error {number}: it has 1 to {len(dead)}",
            hint=f"`whet post-mortem {entry.number} --list` lists them",
        )
    say(f"whet: trial {entry.number}, {_words(dead[number - 1])}")
    if len(dead) > 1:
        say(f"whet: error {number} of {len(dead)}: `--error N` for another one, `--list` for all")
    look_at(dead[number - 1])
    return code


def _words(dead: Dead) -> str:
    place = dead.error.place
    where = "" if place is None else f" at {place.frame.path}:{place.frame.line}"
    return f"{error_words(dead.error)}{where} (in {dead.failure.title})"


def _json(dead: Dead) -> dict[str, object]:
    return {
        "error": error_words(dead.error),
        "type": dead.error.type,
        "relation": dead.error.relation,
        "where": dead.failure.title,
        "frames": [each.frame.to_json() for each in dead.error.frames],
    }
