"""``whet notebook``: where the trials of this project are, and taking over those of a folder."""

import os
import sys
from pathlib import Path

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.options.trial import json_option
from whet.core.errors import BadUsage
from whet.core.text.quantity import shown_bytes, shown_count
from whet.host.code.kept_projects import KeptProject, kept_projects
from whet.host.files.files import remove_tree
from whet.notebook.notebook import FILE_NAME
from whet.notebook.tidying import tidy_up
from whet.workbench.trials.bench import open_workbench

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


@command.command("list")
@json_option
def show_all(*, as_json: bool) -> None:
    """List the projects with recorded trials, and their size on disk."""
    projects = list(kept_projects(os.environ))
    if as_json:
        rows = [
            {"project": str(each.root), "folder": str(each.state), "bytes": each.size_bytes,
             "is_gone": each.is_gone}
            for each in projects
        ]  # fmt: skip
        answer_json({"projects": rows})
        return
    for each in projects:
        answer(_line_of(each))
    if any(each.is_gone for each in projects):
        say("`whet notebook prune` removes the trials of projects that no longer exist")


@command.command("prune")
@click.option("--yes", is_flag=True, help="Remove them without asking.")
def prune(*, yes: bool) -> None:
    """Remove the trials of projects whose folders no longer exist.

    You can't undo this. A project on a disk that isn't mounted seems gone too, so check the list. First,
    whet removes old outputs and payloads of this project, as your settings say (`notebook_bytes`,
    `notebook_days`) and as it does once a day anyway.
    """
    if report := tidy_up(os.environ, now=True):
        say(report)
    orphans = [each for each in kept_projects(os.environ) if each.is_gone]
    for each in orphans:
        say(_line_of(each))
    if not orphans:
        say("every project with recorded trials still exists")
    elif yes or _is_agreed("Remove all their trials?", as_json=False):
        for each in orphans:
            remove_tree(each.state)
        answer(f"removed the trials of {shown_count(len(orphans), 'project')}")


def _line_of(project: KeptProject) -> str:
    mark = "  (gone)" if project.is_gone else ""
    return f"{shown_bytes(project.size_bytes):>9}  {project.root}{mark}"


@command.command("adopt")
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Adopt them without asking.")
@json_option
def adopt(*, folder: Path, yes: bool, as_json: bool) -> None:
    """Import the trials in FOLDER, such as the `.whet` of an older whet or of a clone.

    First it shows the commands that `whet again` could start from them. It starts nothing, follows no
    link, and doesn't change FOLDER.
    """
    from whet.workbench.trials.adopt import foreign_notebook, starts_of, take_over

    with open_workbench() as bench, foreign_notebook(bench, folder) as foreign:
        starts = starts_of(foreign.entries)
        if not as_json:
            say(f"{folder} holds {shown_count(len(foreign.entries), 'trial')}")
            if starts:
                say("`whet again` on one of them would start:")
            for line in starts[:_SHOWN]:
                say(f"  {line}")
            if len(starts) > _SHOWN:
                say(f"  and {shown_count(len(starts) - _SHOWN, 'more command')}")
        if not (yes or _is_agreed("Adopt them?", as_json=as_json)):
            say("whet adopted nothing")
            return
        count = take_over(bench, foreign)
        if as_json:
            answer_json({"trials": len(foreign.entries), "blobs": count, "starts": starts})
        else:
            answer(
                f"adopted {shown_count(len(foreign.entries), 'trial')} with {count} payloads and outputs; `whet log --all` lists them"
            )


def _is_agreed(question: str, *, as_json: bool) -> bool:
    if as_json or not sys.stdin.isatty():
        raise BadUsage(
            f"standard input isn't a terminal, so whet can't ask: {question}", hint="add `--yes`"
        )
    return click.confirm(question, err=True)
