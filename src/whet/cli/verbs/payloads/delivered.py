"""What all kinds of ``whet make`` share: options, and how a payload is written or printed."""

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from whet.cli.console import answer_json, answer_lines, say
from whet.cli.options.trial import json_option
from whet.core.errors import BadUsage
from whet.core.output import digest_of
from whet.core.text.quantity import shown_bytes
from whet.make.elements.dtypes import Number
from whet.make.words import unknown_word
from whet.workbench.make.making import Made, write_made


def lengths(_context: click.Context, option: click.Parameter, value: str | None) -> tuple[int, ...]:
    """Read whole numbers with commas between them."""
    if not value:
        return ()
    try:
        return tuple(int(each) for each in value.strip("()[]").replace("x", ",").split(",") if each)
    except ValueError as error:
        raise BadUsage(
            f"`{option.opts[0]} {value}` isn't a list of whole numbers",
            hint=f"write them with commas: `{option.opts[0]} 2,2`",
        ) from error


def number(_context: click.Context, option: click.Parameter, value: str | None) -> Number | None:
    """Read a number of any sort."""
    if value is None:
        return None
    kinds: tuple[Callable[[str], Number], ...] = (_whole, float, complex)
    for kind in kinds:
        with suppress(ValueError):
            return kind(value)
    raise BadUsage(f"`{option.opts[0]} {value}` isn't a number", hint="such as 7, 0.5, nan or 1+2j")


def _whole(text: str) -> int:
    return int(text, 0)


def options(*given: Callable[..., Any]) -> Callable[..., Any]:
    """Return what gives a command these options, and those that all kinds have."""
    common = (
        click.option(
            "--seed", default=0, metavar="N", help="Choose other random numbers; 0 by default."
        ),
        click.option("-o", "--out", metavar="FILE", help="Write the payload to FILE."),
        json_option,
    )

    def give(wrapped: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed((*given, *common)):
            wrapped = option(wrapped)
        return wrapped

    return give


def fill_option(fills: Iterable[str]) -> Callable[..., Any]:
    """Return the option that chooses what a payload is filled with."""
    words = ", ".join(fills)
    return click.option(
        "--fill",
        default="count",
        metavar="FILL",
        help=f"Choose the fill: {words}; count by default.",
    )


def ending_of(out: str | None, what: str, known: Iterable[str]) -> str:
    """Return how the name of a file ends; empty: there is no file.

    Raises:
        BadUsage: if whet writes no such file, with the closest endings.
    """
    if not out:
        return ""
    endings, name = list(known), Path(out).name.lower()
    ending = name if name in endings else Path(name).suffix
    if ending not in endings:
        raise unknown_word(f"file of {what}", ending or out, endings)
    return ending


def deliver(made: Made, out: str | None, *, as_json: bool) -> None:
    """Write a payload to its file or print it, and say what it is."""
    if out:
        write_made(made, Path(out), line_of(click.get_current_context()))
    if as_json:
        answer_json({
            **made.detail, "file": os.path.abspath(out) if out else None,
            "bytes": len(made.content), "digest": digest_of(made.content),
        })  # fmt: skip
        return
    if not out:
        answer_lines(made.shown.removesuffix("\n"))
    size = f", {shown_bytes(len(made.content))}" if out else ""
    say(f"whet: {f'{out}: ' if out else ''}{made.summary}{size}")
    for note in made.notes:
        say(f"whet: note: {note}")


def line_of(context: click.Context) -> list[str]:
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
