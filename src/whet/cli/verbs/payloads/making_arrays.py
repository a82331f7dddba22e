"""``whet make array``, ``tokens``, ``image`` and ``sound``: numbers in a shape."""

import math
from typing import Any

import click

from whet.cli.verbs.payloads.delivered import (
    deliver,
    ending_of,
    fill_option,
    lengths,
    number,
    options,
)
from whet.make.arrays.array_files import ARRAY_FILES
from whet.make.arrays.filled import FilledArray, filled_array
from whet.make.elements.dtypes import DTYPES
from whet.make.elements.fills import FILLS, Filling, edges_of
from whet.make.elements.guards import BORDERS
from whet.workbench.make.making import Made

_VALUE_OPTIONS = (
    click.option(
        "--value", default="1", callback=number, metavar="X",
        help="Set the number of `--fill constant`; 1 by default.",
    ),
    click.option(
        "--low", callback=number, metavar="X", help="Start `ramp` and `random` here; at 0 by default."
    ),
    click.option(
        "--high", callback=number, metavar="X",
        help="End them here; by default at 1, or for whole numbers at the last place or at 9.",
    ),
    click.option(
        "--at", callback=lengths, metavar="I,J",
        help="Set the place of `nan` or `inf`; the first one by default.",
    ),
    click.option(
        "--border", default="row", metavar="WHAT",
        help=f"Choose what `deadbeef` guards: {', '.join(BORDERS)}; row by default.",
    ),
)  # fmt: skip


@click.command("array")
@options(
    click.option(
        "--shape", default="2,2", callback=lengths, metavar="N,N",
        help="Set the length of each axis; 2,2 by default.",
    ),
    click.option(
        "--dtype", default="float32", metavar="NAME",
        help=f"Choose the type: {', '.join(DTYPES)}; float32 by default.",
    ),
    fill_option(FILLS),
    *_VALUE_OPTIONS,
    click.option(
        "--name", default="x", metavar="NAME",
        help="Name the array inside `.npz` and `.safetensors`; x by default.",
    ),
)  # fmt: skip
def make_array(
    *, shape: tuple[int, ...], dtype: str, name: str, out: str | None, as_json: bool, **how: Any
) -> None:
    """Make an array: `.npy`, `.npz`, `.pt` or `.safetensors`, as the name of FILE ends."""
    filling = Filling(name=how.pop("fill"), **how)
    ending = ending_of(out, "arrays", ARRAY_FILES)
    made = filled_array(shape, dtype, filling)
    content = ARRAY_FILES[ending]({name: made}) if ending else bytes(made.content)
    deliver(payload_of(made, filling, content, kind="array", name=name), out, as_json=as_json)


def payload_of(
    made: FilledArray, filling: Filling, content: bytes, *, kind: str, name: str = "x"
) -> Made:
    """Return an array with what is said of it."""
    summary = f"{made.dtype.name} {made.shape}"
    return Made(
        content=content,
        shown=made.text(),
        summary=f"{summary}, {filling.name}",
        detail={
            "kind": kind, "summary": summary, "dtype": made.dtype.name, "shape": list(made.shape),
            "fill": filling.name, "seed": filling.seed, "name": name,
        },
        notes=_notes(made, filling),
    )  # fmt: skip


def _notes(made: FilledArray, filling: Filling) -> list[str]:
    count, exact = math.prod(made.shape), made.dtype.exact
    notes: list[str] = []
    if not count:
        notes.append("it has no elements")
    if filling.name in {"count", "nan", "inf", "deadbeef"} and count > exact > 1:
        after = "starts again at 0" if made.dtype.is_whole else "doesn't hold every whole number"
        notes.append(f"{made.dtype.name} {after} after {exact}")
    edges = len(edges_of(made.dtype)) if filling.name == "edge" else 0
    if edges > count:
        notes.append(f"there are {edges} edge values; `--shape {edges}` has room for all")
    return notes
