"""``whet shrink``: the smallest file that still fails the same way."""

from collections.abc import Mapping

import click

from whet.cli.console import answer, answer_json
from whet.cli.options import (
    TrialCommand,
    budget_option,
    cold_option,
    jobs_option,
    json_option,
    trial_options,
    trial_request,
)
from whet.cli.progress import Progress
from whet.cli.shrink_command import check_words, shrink_command
from whet.core.budget import Budget
from whet.core.difference import Change
from whet.core.errors import INCOMPLETE, BadUsage
from whet.core.quantity import shown_bytes, shown_count, shown_seconds
from whet.reduction.catalogue import readable
from whet.workbench.bench import open_workbench
from whet.workbench.command_search import CommandOptions
from whet.workbench.defaults import shrink_towards
from whet.workbench.investigation import ShrunkPayload
from whet.workbench.shrink import ShrinkOptions, shrink

_SHOWN_BYTES = 2000
_SHOWN_LINES = 60
_SHOWN_FILES = 40


@click.command(cls=TrialCommand, options_metavar="[OPTIONS]", epilog="FILE... -- COMMAND...")
@click.argument("files", nargs=-1, metavar="FILE...")
@trial_options
@click.option(
    "-o",
    "--output",
    default="",
    metavar="OUT",
    help="Where the smaller file goes: a file, or a folder.",
)
@click.option("--arguments", "what", flag_value="arguments", help="Shrink the command's arguments.")
@click.option("--environment", "what", flag_value="environment", help="Shrink the environment.")
@click.option(
    "--tests",
    "what",
    flag_value="tests",
    help="Shrink the tests that pytest runs before one fails.",
)
@click.option(
    "--towards", default="", metavar="DEFAULTS", help="Keep the settings of FILE that matter alone."
)
@jobs_option
@budget_option
@cold_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    *,
    output: str,
    what: str | None,
    towards: str,
    jobs: int | None,
    budget: float | None,
    cold: bool,
    as_json: bool,
    **_: object,
) -> int:
    """Find the smallest file that still fails the same way.

    FILE, or a folder, is found among the command's arguments, or `{}` marks its place. It is
    never touched: the result stands beside it (`data.shrunk.csv`), the best so far at every
    moment. Stop it with Ctrl-C; the same command goes on where it stopped.

    `--arguments`, `--environment` and `--tests [TEST]` make the command itself smaller: the
    result is a line to paste into a shell.
    """
    request = trial_request(ctx)
    limit = Budget(wall_seconds=budget)
    if what is not None:
        check_words(what, files, output, towards)
        command_options = CommandOptions(budget=limit, jobs=jobs)
        return shrink_command(what, files, request, command_options, as_json=as_json)
    if not files:
        raise BadUsage(
            "no file is named",
            hint="`whet shrink FILE -- COMMAND`, or one of `--arguments`, `--environment`, `--tests`",
        )
    options = ShrinkOptions(files=files, result=output, budget=limit, jobs=jobs, cold=cold)
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        results = (
            shrink_towards(bench, request, options, towards)
            if towards
            else shrink(bench, request, options)
        )
    if as_json:
        answer_json({"payloads": [payload_json(result) for result in results]})
    else:
        for result in results:
            _show(result)
    return 0 if all(result.stopped.is_complete for result in results) else INCOMPLETE


def payload_json(result: ShrunkPayload) -> dict[str, object]:
    """Return a payload made smaller as JSON data."""
    return {
        "original": result.original,
        "result": result.result,
        "before_bytes": result.before_bytes,
        "after_bytes": result.after_bytes,
        "stopped": result.stopped.name.lower(),
        "reason": result.stopped.value,
        "trials": result.trials,
        "cached": result.cached,
        "warm": result.warm,
        "cold_because": result.cold_because,
        "wall_seconds": round(result.wall_seconds, 3),
        "guarded_by": result.guarded_by,
        "changes": None
        if result.changes is None
        else [
            {"name": each.name, "before": each.before, "after": each.after}
            for each in result.changes
        ],
        "also_found": [
            {"summary": other.summary, "place": other.place, "bytes": len(other.payload)}
            for other in result.also_found
        ],
    }


def _show(result: ShrunkPayload) -> None:
    sizes = f"{shown_bytes(result.before_bytes)} → {shown_bytes(result.after_bytes)}"
    trials = shown_count(result.trials, "trial")
    trials += f" ({result.warm} warm)" if result.warm else ""
    answer(f"{result.original}: {sizes} in {trials}, {shown_seconds(result.wall_seconds)}")
    answer(f"  {result.stopped.value}: {result.result}")
    if not result.content or result.files == {}:
        answer("  the failure does not depend on what this file holds: an empty one shows it too")
    if result.cold_because:
        which = "some trials" if result.warm else "each trial"
        answer(f"  {which} ran from the start: {result.cold_because}")
    for other in result.also_found:
        where = f" at {other.place}" if other.place else ""
        size = "" if result.files is not None else f" in {shown_bytes(len(other.payload))}"
        answer(f"  also found: {other.summary}{where}{size}")
    if result.changes is not None:
        _show_changes(result.changes)
    elif result.files is not None:
        _show_files(result.files)
    else:
        _show_content(result)


def _show_content(result: ShrunkPayload) -> None:
    """Show what is left of a file, as a person reads it."""
    text = readable(result.content, name=result.result)
    if text is None and result.after_bytes <= _SHOWN_BYTES and b"\0" not in result.content:
        text = result.content.decode("utf-8", "backslashreplace")
    if text is not None:
        lines = text.splitlines()
        lines[_SHOWN_LINES:] = ["..."] if len(lines) > _SHOWN_LINES else []
        answer("\n" + "\n".join(f"    {line}" for line in lines))


def _show_files(files: Mapping[str, bytes]) -> None:
    """Show what is left of a folder: its files, and what stands in them if that is little."""
    is_short = sum(map(len, files.values())) <= _SHOWN_BYTES
    lines = [""]
    for path, content in list(files.items())[:_SHOWN_FILES]:
        lines.append(f"    {path}  ({shown_bytes(len(content))})")
        if is_short and b"\0" not in content:
            text = content.decode("utf-8", "backslashreplace")
            lines += [f"        {line}" for line in text.splitlines()]
    if len(files) > _SHOWN_FILES:
        lines.append(f"    and {len(files) - _SHOWN_FILES} more")
    answer("\n".join(lines))


def _show_changes(changes: tuple[Change, ...]) -> None:
    if not changes:
        answer("  the failure does not depend on a setting: it comes with the defaults too")
    for each in changes:
        if each.before is None:
            answer(f"    {each.name}: new, {each.after}")
        elif each.after is None:
            answer(f"    {each.name}: gone, was {each.before}")
        else:
            answer(f"    {each.name}: {each.before} → {each.after}")
