"""``whet make``: a small payload from nothing."""

import math
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from whet.cli.console import answer, answer_json, say
from whet.cli.options.trial import json_option
from whet.core.errors import BadUsage
from whet.core.output import digest_of
from whet.core.text.quantity import shown_bytes
from whet.make.arrays.array_files import ARRAY_FILES
from whet.make.arrays.filled import FilledArray, filled_array
from whet.make.elements.dtypes import DTYPES, Number
from whet.make.elements.fills import FILLS, Filling, edges_of
from whet.make.elements.guards import BORDERS
from whet.make.words import unknown_word
from whet.workbench.make.making import Made, write_made


class Kinds(click.Group):
    """The kinds of payload; an unknown one is answered with the closest names."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the kind that ``args`` begin with, or name the closest ones."""
        if args[0] not in self.commands and not args[0].startswith("-"):
            raise unknown_word("kind of payload", args[0], self.commands)
        return super().resolve_command(ctx, args)


@click.group(cls=Kinds, invoke_without_command=True, subcommand_metavar="KIND [OPTIONS]")
@click.option(
    "--explain",
    metavar="VALUE",
    help="Say which element of which payload a coordinate is, or that a value is a guard.",
)
@json_option
@click.pass_context
def command(context: click.Context, *, explain: str | None, as_json: bool) -> None:
    """Make a small payload from nothing.

    The same options give the same bytes on every machine. Without `-o`, whet prints the payload.

    `whet make array --shape 2,2 -o a.npy` is [[1, 2], [3, 4]].
    """
    if explain is None:
        if context.invoked_subcommand is None:
            raise BadUsage("which kind of payload?", hint=f"one of {', '.join(command.commands)}")
        return
    from whet.workbench.make.explained import explained
    from whet.workbench.trials.bench import open_workbench

    with open_workbench() as bench:
        lines = explained(bench, explain)
    if as_json:
        answer_json({"value": explain, "explained": lines})
        return
    for line in lines:
        answer(line)


def _lengths(
    _context: click.Context, option: click.Parameter, value: str | None
) -> tuple[int, ...]:
    if not value:
        return ()
    try:
        return tuple(int(each) for each in value.strip("()[]").replace("x", ",").split(",") if each)
    except ValueError as error:
        raise BadUsage(
            f"`{option.opts[0]} {value}` isn't a list of whole numbers",
            hint=f"write them with commas: `{option.opts[0]} 2,2`",
        ) from error


def _number(_context: click.Context, option: click.Parameter, value: str | None) -> Number | None:
    if value is None:
        return None
    kinds: tuple[Callable[[str], Number], ...] = (_whole, float, complex)
    for kind in kinds:
        with suppress(ValueError):
            return kind(value)
    raise BadUsage(f"`{option.opts[0]} {value}` isn't a number", hint="such as 7, 0.5, nan or 1+2j")


def _whole(text: str) -> int:
    return int(text, 0)


out_option = click.option("-o", "--out", metavar="FILE", help="Write the payload to FILE.")
seed_option = click.option(
    "--seed", default=0, metavar="N", help="Choose other random numbers; 0 by default."
)


def _array_options(wrapped: Callable[..., Any]) -> Callable[..., Any]:
    options = (
        click.option("--shape", default="2,2", callback=_lengths, metavar="N,N",
                     help="Set the length of each axis; 2,2 by default."),
        click.option("--dtype", default="float32", metavar="NAME",
                     help=f"Choose the type: {', '.join(DTYPES)}; float32 by default."),
        click.option("--fill", default="count", metavar="FILL",
                     help=f"Choose the numbers: {', '.join(FILLS)}; count by default."),
        click.option("--value", default="1", callback=_number, metavar="X",
                     help="Set the number of `--fill constant`; 1 by default."),
        click.option("--low", callback=_number, metavar="X",
                     help="Start `ramp` and `random` here; at 0 by default."),
        click.option("--high", callback=_number, metavar="X",
                     help="End them here; by default at 1, or for whole numbers at the last place or at 9."),
        click.option("--at", callback=_lengths, metavar="I,J",
                     help="Set the place of `nan` or `inf`; the first one by default."),
        click.option("--border", default="row", metavar="WHAT",
                     help=f"Choose what `deadbeef` guards: {', '.join(BORDERS)}; row by default."),
        click.option("--name", default="x", metavar="NAME",
                     help="Name the array inside `.npz` and `.safetensors`; x by default."),
        seed_option, out_option, json_option,
    )  # fmt: skip
    for option in reversed(options):
        wrapped = option(wrapped)
    return wrapped


@command.command("array")
@_array_options
def make_array(
    *, shape: tuple[int, ...], dtype: str, name: str, out: str | None,
    as_json: bool, **how: Any,
) -> None:  # fmt: skip
    """Make an array: `.npy`, `.npz`, `.pt` or `.safetensors`, as the name of FILE ends."""
    filling = Filling(name=how.pop("fill"), **how)
    ending = Path(out).suffix.lower() if out else ""
    if out and ending not in ARRAY_FILES:
        raise unknown_word("ending of a file of arrays", ending or out, ARRAY_FILES)
    made = filled_array(shape, dtype, filling)
    summary = f"{made.dtype.name} {made.shape}"
    detail = {
        "kind": "array", "summary": summary, "dtype": made.dtype.name, "shape": list(shape),
        "fill": filling.name, "seed": filling.seed, "name": name,
    }  # fmt: skip
    payload = Made(
        content=ARRAY_FILES[ending]({name: made}) if out else bytes(made.content),
        shown=made.text(),
        summary=f"{summary}, {filling.name}",
        detail=detail,
        notes=_notes(made, filling),
    )
    deliver(payload, out, as_json=as_json)


command.add_command(make_array, "tensor")


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


def deliver(made: Made, out: str | None, *, as_json: bool) -> None:
    """Write a payload to its file or print it, and say what it is."""
    if out:
        context = click.get_current_context()
        write_made(made, Path(out), _typed(context))
    facts = {**made.detail, "file": os.path.abspath(out) if out else None,
             "bytes": len(made.content), "digest": digest_of(made.content)}  # fmt: skip
    if as_json:
        answer_json(facts)
        return
    if not out:
        answer(made.shown)
    size = f", {shown_bytes(len(made.content))}" if out else ""
    say(f"whet: {f'{out}: ' if out else ''}{made.summary}{size}")
    for note in made.notes:
        say(f"whet: note: {note}")


def _typed(context: click.Context) -> list[str]:
    """Return the command that makes the same payload again."""
    words = context.command_path.split()
    for option in context.command.params:
        given: object = context.params.get(option.name or "")
        source = context.get_parameter_source(option.name or "")
        if source is ParameterSource.COMMANDLINE and given is not None:
            text = str(given)
            if isinstance(given, tuple):
                text = text.replace(" ", "").strip("()")
            words += [option.opts[0]] if isinstance(given, bool) else [option.opts[0], text]
    return words
