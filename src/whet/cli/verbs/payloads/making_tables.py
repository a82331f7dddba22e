"""``whet make table`` and ``whet make sqlite``: rows and columns."""

from pathlib import Path
from typing import Any

import click

from whet.cli.verbs.payloads.delivered import deliver, ending_of, fill_option, number, options
from whet.make.edges import BYTES, TEXTS
from whet.make.elements.fills import FILLS, Filling
from whet.make.tables.columns import TYPES, FilledTable, columns_named, filled_table
from whet.make.tables.table_files import TABLE_FILES, csv_text
from whet.workbench.make.making import Made

_FILLS = [*FILLS]
_SHOWN_ROWS = 20

_table_options = options(
    click.option(
        "--columns", default="a:int64,b:int64", metavar="NAME:TYPE,…",
        help=f"Name the columns; a `?` after a type leaves every third value out. Types: {', '.join(TYPES)}. a:int64,b:int64 by default.",
    ),
    click.option("--like", metavar="FILE", help="Take the columns of a real file instead."),
    click.option("--rows", default=2, metavar="N", help="Set the number of rows; 2 by default."),
    fill_option(_FILLS),
    click.option(
        "--value", default="1", callback=number, metavar="X",
        help="Set the value of `--fill constant`; 1 by default.",
    ),
    click.option("--name", default="x", metavar="NAME", help="Name the table; x by default."),
)  # fmt: skip


@click.command("table", short_help="A table: CSV, JSONL, Parquet, Arrow.")
@_table_options
def make_table(*, name: str, out: str | None, as_json: bool, **how: Any) -> None:
    """Make a table: CSV, JSONL, Parquet or Arrow, as the name of FILE ends.

    `.csv`, `.tsv`, `.jsonl`, `.json`, `.parquet`, `.arrow` and `.feather` are known.
    """
    ending = ending_of(out, "tables", TABLE_FILES)
    made = _table(**how)
    content = TABLE_FILES[ending or ".csv"](made)
    shown = csv_text(made if len(made.rows) <= _SHOWN_ROWS else made.beginning(_SHOWN_ROWS))
    deliver(_payload(made, content, shown, kind="table", name=name, **how), out, as_json=as_json)


@click.command("sqlite", short_help="A database with one table.")
@_table_options
def make_sqlite(*, name: str, out: str | None, as_json: bool, **how: Any) -> None:
    """Make a database of SQLite with one table; without `-o`, print its statements."""
    from whet.make.tables.sqlite_file import sql_text, sqlite_bytes

    made = _table(**how)
    shown = sql_text(made if len(made.rows) <= _SHOWN_ROWS else made.beginning(_SHOWN_ROWS), name)
    content = sqlite_bytes(made, name)
    deliver(_payload(made, content, shown, kind="sqlite", name=name, **how), out, as_json=as_json)


def _table(*, columns: str, like: str | None, rows: int, fill: str, **how: Any) -> FilledTable:
    if like is None:
        named = columns_named(columns)
    else:
        from whet.make.tables.like import columns_like
        from whet.workbench.files.first_reading import read_table_first_elsewhere

        if Path(like).is_file():
            read_table_first_elsewhere(Path(like))
        named = columns_like(Path(like))
    return filled_table(named, rows, Filling(name=fill, **how))


def _payload(
    made: FilledTable, content: bytes, shown: str, *, kind: str, name: str, **how: Any
) -> Made:
    rows, fill = len(made.rows), how["fill"]
    summary = f"{rows} row{'s' if rows != 1 else ''} of {', '.join(map(str, made.columns))}"
    edges = max(len(TEXTS), len(BYTES))
    notes = (
        [f"`--rows {edges}` has room for all edge values"]
        if fill == "edge" and rows < edges
        else []
    )
    notes += [
        f"`{each.name}` is {each.real} in the real file, and text here"
        for each in made.columns
        if each.real
    ]
    if rows > _SHOWN_ROWS:
        shown += f"… {rows - _SHOWN_ROWS:,} more rows\n"
    return Made(
        content=content,
        shown=shown,
        summary=f"{summary}, {fill}",
        detail={
            "kind": kind, "summary": summary, "shape": [rows, len(made.columns)], "fill": fill,
            "columns": [each.name for each in made.columns], "seed": how["seed"], "name": name,
        },
        notes=notes if rows else ["it has no rows"],
    )  # fmt: skip
