"""``whet make array``, ``tokens``, ``image`` and ``sound``: numbers in a shape."""

import json
import math
from collections.abc import Callable, Iterable
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
from whet.make.arrays.tokens import TOKEN_FILLS, token_array
from whet.make.elements.dtypes import DTYPES
from whet.make.elements.fills import FILLS, Filling, edges_of
from whet.make.elements.guards import BORDERS
from whet.make.media.image import IMAGE_FILES, IMAGE_TYPES, MODES, image_array
from whet.make.media.sound import SOUND_TYPES, sound_array, wav
from whet.workbench.make.making import Made

_TOKEN_TYPES = [each.name for each in DTYPES.values() if each.is_whole]

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
        help="End them here; by default 1 further (whole numbers: at the last place, or 9 further).",
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


def _dtype_option(default: str, known: Iterable[str]) -> Callable[..., Any]:
    words = ", ".join(known)
    return click.option(
        "--dtype", default=default, metavar="NAME",
        help=f"Choose the type: {words}; {default} by default.",
    )  # fmt: skip


@click.command("array", short_help="An array: .npy, .npz, .pt, .safetensors.")
@options(
    click.option(
        "--shape", default="2,2", callback=lengths, metavar="N,N",
        help="Set the length of each axis; 2,2 by default.",
    ),
    _dtype_option("float32", DTYPES),
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


@click.command("tokens", short_help="Numbers of tokens.")
@options(
    click.option(
        "--shape", default="2,4", callback=lengths, metavar="N,N",
        help="Set the length of each axis, the sequence last; 2,4 by default.",
    ),
    click.option("--vocab", default=256, metavar="N", help="Set the size of the vocabulary; 256 by default."),
    _dtype_option("int64", _TOKEN_TYPES),
    fill_option(TOKEN_FILLS),
    *_VALUE_OPTIONS[:3],
    click.option("--name", default="tokens", metavar="NAME", help="Name the array; tokens by default."),
)  # fmt: skip
def make_tokens(
    *, shape: tuple[int, ...], vocab: int, dtype: str, name: str, out: str | None, as_json: bool,
    **how: Any,
) -> None:  # fmt: skip
    """Make numbers of tokens: a file of arrays, or `.json`."""
    filling = Filling(name=how.pop("fill"), **how)
    ending = ending_of(out, "tokens", (*ARRAY_FILES, ".json"))
    made = token_array(shape, vocab, filling, dtype)
    if ending == ".json":
        content = f"{json.dumps(made.lists())}\n".encode()
    else:
        content = ARRAY_FILES[ending]({name: made}) if ending else bytes(made.content)
    deliver(payload_of(made, filling, content, kind="tokens", name=name), out, as_json=as_json)


@click.command("image", short_help="An image: .png, .ppm, .jpg …")
@options(
    click.option("--width", default=2, metavar="N", help="Set the width; 2 by default."),
    click.option("--height", default=2, metavar="N", help="Set the height; 2 by default."),
    click.option(
        "--mode", default="L", metavar="MODE",
        help=f"Choose the channels: {', '.join(MODES)}; L (grey) by default.",
    ),
    _dtype_option("uint8", IMAGE_TYPES),
    fill_option(FILLS),
    *_VALUE_OPTIONS,
)  # fmt: skip
def make_image(
    *, width: int, height: int, mode: str, dtype: str, out: str | None, as_json: bool, **how: Any
) -> None:
    """Make an image: `.png` or `.ppm`; Pillow, if it is there, writes `.jpg`, `.gif` and others."""
    filling = Filling(name=how.pop("fill"), **how)
    ending = ending_of(out, "images", IMAGE_FILES)
    made = image_array(width, height, mode, dtype, filling)
    content = IMAGE_FILES[ending or ".png"](made)
    deliver(payload_of(made, filling, content, kind="image"), out, as_json=as_json)


@click.command("sound", short_help="A sound: .wav.")
@options(
    click.option("--frames", default=4, metavar="N", help="Set the number of frames; 4 by default."),
    click.option("--channels", default=1, metavar="N", help="Set the number of channels; 1 by default."),
    click.option("--rate", default=8000, metavar="N", help="Set the frames of a second; 8000 by default."),
    _dtype_option("int16", SOUND_TYPES),
    fill_option(FILLS),
    *_VALUE_OPTIONS,
)  # fmt: skip
def make_sound(
    *, frames: int, channels: int, rate: int, dtype: str, out: str | None, as_json: bool, **how: Any
) -> None:
    """Make a sound: a `.wav` file."""
    filling = Filling(name=how.pop("fill"), **how)
    ending_of(out, "sound", (".wav",))
    made = sound_array(frames, channels, dtype, filling)
    content = wav(made, rate)
    deliver(payload_of(made, filling, content, kind="sound"), out, as_json=as_json)


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
