"""``whet sample``: the smallest real data."""

import click

from whet.cli.console import answer, answer_json
from whet.cli.display.pasted import show_line
from whet.cli.display.progress import Progress
from whet.cli.options.trial import (
    TrialCommand,
    budget_option,
    json_option,
    trial_options,
    trial_request,
)
from whet.core.budget import Budget, StopReason
from whet.core.errors import INCOMPLETE, BadUsage
from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.workbench.sample.failing_sample import FailingSample, sample_that_fails
from whet.workbench.sample.sample import SampledFile, SampleOptions, Samples, Taken, sample
from whet.workbench.trials.bench import open_workbench


@click.command(cls=TrialCommand, options_metavar="[OPTIONS]", epilog="FILE... [-- COMMAND...]")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option(
    "-n",
    "--rows",
    type=click.IntRange(1),
    default=None,
    help="Take this many rows, lines or files. [100, or what the other options need]",
)
@click.option(
    "-o", "--output", default="", metavar="OUT", help="Write the sample here: a file or a folder."
)
@click.option("--random", "is_random", is_flag=True, help="Take random rows. [the first ones]")
@click.option("--seed", type=click.IntRange(0), default=None, help="Take other random rows. [0]")
@click.option(
    "--each", multiple=True, metavar="COLUMN", help="Take a row for each value of this column."
)
@click.option(
    "--extremes",
    is_flag=True,
    help="Take the smallest, largest, longest, missing and NaN values of each column.",
)
@click.option(
    "--where",
    default="",
    metavar="CONDITION",
    help="Take only rows that match, such as \"amount < 0 and country == 'DE'\".",
)
@click.option(
    "--keys",
    multiple=True,
    metavar="A.x=B.y",
    help="Take the rows of B too that the rows of A refer to: `orders.customer=customers.id`.",
)
@click.option("--no-header", is_flag=True, help="Read CSV without a header; columns are c1, c2 …")
@trial_options
@budget_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    files: tuple[str, ...],
    rows: int | None,
    output: str,
    is_random: bool,
    seed: int | None,
    each: tuple[str, ...],
    extremes: bool,
    where: str,
    keys: tuple[str, ...],
    no_header: bool,
    budget: float | None,
    as_json: bool,
    **_: object,
) -> int:
    """Write a small sample of real data, in the same format.

    FILE is CSV, JSON lines, text, Parquet, Arrow, SQLite, a ZIP or tar archive, WebDataset, a folder
    of files, or a folder that `datasets` has saved. The sample goes next to it (`data.sample.csv`).
    whet reads a file of any size in little memory, and never changes it.

    With a command, whet grows the sample until the command fails on it in the same way as on FILE,
    then cuts it. FILE is one of the command's arguments, or `{}` marks its place.
    """
    if not files:
        raise BadUsage("give the file to sample", hint="`whet sample FILE -n 100`")
    options = SampleOptions(
        files=files, result=output, rows=rows, each=each, extremes=extremes, where=where, keys=keys,
        seed=(seed or 0) if is_random or seed is not None else None, has_header=not no_header,
    )  # fmt: skip
    request = trial_request(ctx)
    if request.command or request.judging.script:
        limit = Budget(wall_seconds=budget)
        with Progress(quiet=as_json) as progress, open_workbench(observer=progress) as bench:
            failing = sample_that_fails(bench, request, options, limit)
        if as_json:
            answer_json(failing_json(failing))
        else:
            show_failing(failing)
        return 0 if failing.stopped.is_complete else INCOMPLETE
    with open_workbench() as bench:
        samples = sample(bench, options)
    if as_json:
        answer_json(samples_json(samples))
    else:
        show_samples(samples)
    return 0


def failing_json(failing: FailingSample) -> dict[str, object]:
    """Return a sample that fails as JSON data."""
    samples = Samples(files=failing.files, remarks=failing.remarks)
    return {
        **samples_json(samples),
        "failure": None if failing.failure is None else failing.failure.summary,
        "line": None if failing.line is None else failing.line.text,
        "complaint": None if failing.line is None else failing.line.complaint,
        "stopped": failing.stopped.name.lower(),
        "trials": failing.trials,
        "wall_seconds": round(failing.wall_seconds, 3),
        "whole_seconds": round(failing.whole_seconds, 3),
        "seconds": round(failing.seconds, 3),
    }


def show_failing(failing: FailingSample) -> None:
    """Show a sample that fails, what fails, and the line that shows it."""
    show_samples(Samples(files=failing.files, remarks=failing.remarks))
    took = f"{shown_count(failing.trials, 'trial')}, {shown_seconds(failing.wall_seconds)}"
    if failing.line is None:
        answer(f"no sample fails in the same way yet: {failing.stopped.value}  ({took})")
        return
    what = "" if failing.failure is None else f": {failing.failure.summary}"
    times = f"{shown_seconds(failing.whole_seconds)} → {shown_seconds(failing.seconds)}"
    answer(f"the command fails in the same way{what}")
    is_run = failing.stopped is StopReason.MINIMAL and failing.files[0].taken[0].rows > 1
    ended = (
        "no shorter run of rows fails the same way; `whet shrink` removes rows in between"
        if is_run
        else failing.stopped.value
    )
    answer(f"a run takes {times}; {ended}  ({took})")
    show_line(failing.line)


def samples_json(samples: Samples) -> dict[str, object]:
    """Return samples as JSON data."""
    return {
        "files": [
            {
                "original": each.original,
                "result": each.result,
                "kind": each.kind,
                "before_bytes": each.before_bytes,
                "after_bytes": each.after_bytes,
                "taken": [
                    {
                        "table": taken.table,
                        "unit": taken.unit,
                        "rows": taken.rows,
                        "of": taken.of,
                        "how": taken.how,
                    }
                    for taken in each.taken
                ],
            }
            for each in samples.files
        ],
        "remarks": list(samples.remarks),
    }


def show_samples(samples: Samples) -> None:
    """Show what was taken from where, and where it is."""
    for each in samples.files:
        answer(f"{each.original} ({each.kind}): {_sizes(each)}")
        for taken in each.taken:
            table = f"{taken.table}: " if len(each.taken) > 1 else ""
            answer(f"  {table}{_counted(taken)}: {taken.how}")
        answer(f"  {each.result}")
    for remark in samples.remarks:
        answer(remark)


def _sizes(file: SampledFile) -> str:
    return f"{shown_bytes(file.before_bytes)} → {shown_bytes(file.after_bytes)}"


def _counted(taken: Taken) -> str:
    if taken.of is None:
        return shown_count(taken.rows, taken.unit)
    return f"{taken.rows:,} of {shown_count(taken.of, taken.unit)}"
