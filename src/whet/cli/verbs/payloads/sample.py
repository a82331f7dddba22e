"""``whet sample``: the smallest real data."""

import click

from whet.cli.console import answer, answer_json
from whet.core.errors import BadUsage
from whet.core.text.quantity import shown_bytes, shown_count
from whet.workbench.sample.sample import SampledFile, SampleOptions, Samples, Taken, sample
from whet.workbench.trials.bench import open_workbench


@click.command(options_metavar="[OPTIONS]")
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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
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
    as_json: bool,
) -> int:
    """Write a small sample of real data, in the same format.

    FILE is CSV, JSON lines, text, Parquet, Arrow, SQLite, a ZIP or tar archive, WebDataset, a folder
    of files, or a folder that `datasets` has saved. The sample goes next to it (`data.sample.csv`).
    whet reads a file of any size in little memory, and never changes it.
    """
    if not files:
        raise BadUsage("give the file to sample", hint="`whet sample FILE -n 100`")
    options = SampleOptions(
        files=files, result=output, rows=rows, each=each, extremes=extremes, where=where, keys=keys,
        seed=(seed or 0) if is_random or seed is not None else None, has_header=not no_header,
    )  # fmt: skip
    with open_workbench() as bench:
        samples = sample(bench, options)
    if as_json:
        answer_json(samples_json(samples))
    else:
        show_samples(samples)
    return 0


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
    return f"{taken.rows} of {shown_count(taken.of, taken.unit)}"
