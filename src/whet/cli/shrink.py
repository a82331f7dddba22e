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
from whet.core.budget import Budget
from whet.core.errors import INCOMPLETE
from whet.core.quantity import shown_bytes, shown_count, shown_seconds
from whet.reduction.catalogue import readable
from whet.workbench.bench import open_workbench
from whet.workbench.investigation import ShrunkPayload
from whet.workbench.shrink import ShrinkOptions, shrink

_SHOWN_BYTES = 2000
_SHOWN_LINES = 60
_SHOWN_FILES = 40


@click.command(cls=TrialCommand, options_metavar="[OPTIONS]", epilog="FILE... -- COMMAND...")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@trial_options
@click.option(
    "-o",
    "--output",
    default="",
    metavar="OUT",
    help="Where the smaller file goes: a file, or a folder.",
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
    """
    request = trial_request(ctx)
    options = ShrinkOptions(
        files=files, result=output, budget=Budget(wall_seconds=budget), jobs=jobs, cold=cold
    )
    with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
        results = shrink(bench, request, options)
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
    if result.files is None:
        _show_content(result)
    else:
        _show_files(result.files)


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
