"""``whet notebook``: where the trials of this project are, and taking over those of a folder."""

import sys
from pathlib import Path

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.options import json_option
from whet.core.errors import BadUsage
from whet.core.quantity import shown_count
from whet.notebook.notebook import FILE_NAME
from whet.workbench.bench import open_workbench

_SHOWN = 20


@click.group(invoke_without_command=True)
@json_option
@click.pass_context
def command(context: click.Context, *, as_json: bool) -> None:
    """Show where the trials of this project are kept.

    They are in a folder of your own, outside of the project: what comes with a clone or an archive
    is never taken for trials of yours.
    """
    if context.invoked_subcommand is None:
        with open_workbench() as bench:
            count = sum(1 for _ in bench.notebook.entries())
            path = bench.project.state / FILE_NAME
        if as_json:
            answer_json({"file": str(path), "trials": count})
        else:
            answer(f"{path} ({shown_count(count, 'trial')})")


@command.command("adopt")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Take them over without asking.")
@json_option
def adopt(*, folder: Path, yes: bool, as_json: bool) -> None:
    """Take over the trials in FOLDER, such as the `.whet` of an older whet or of a clone.

    First it shows what `whet again` could start from them. Nothing is started, no link is followed,
    and FOLDER stays as it is.
    """
    from whet.workbench.adopt import foreign_notebook, starts_of, take_over

    with open_workbench() as bench, foreign_notebook(bench, folder) as foreign:
        starts = starts_of(foreign.entries)
        if not as_json:
            say(f"{folder} holds {shown_count(len(foreign.entries), 'trial')}")
            if starts:
                say("`whet again` of one of them would start:")
            for line in starts[:_SHOWN]:
                say(f"  {line}")
            if len(starts) > _SHOWN:
                say(f"  and {shown_count(len(starts) - _SHOWN, 'more command')}")
        if not (yes or _is_agreed(as_json=as_json)):
            say("nothing was taken over")
            return
        count = take_over(bench, foreign)
        if as_json:
            answer_json({"trials": len(foreign.entries), "blobs": count, "starts": starts})
        else:
            answer(
                f"took over {shown_count(len(foreign.entries), 'trial')} with {count} payloads and"
                " outputs; `whet log --all` lists them"
            )


def _is_agreed(*, as_json: bool) -> bool:
    if as_json or not sys.stdin.isatty():
        raise BadUsage(
            "nobody is here to say whether these trials are to be taken over", hint="add `--yes`"
        )
    return click.confirm("Take them over?", err=True)
