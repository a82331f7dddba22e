"""``whet make text``, ``json``, ``bytes`` and ``tree``: what has neither rows nor axes."""

import os
import re
from pathlib import Path
from typing import Any

import click

from whet.cli.console import answer, answer_json, say
from whet.cli.verbs.payloads.delivered import deliver, fill_option, line_of, number, options
from whet.core.errors import BadUsage, PayloadMissing, PayloadUnreadable
from whet.core.text.quantity import shown_count
from whet.make.documents.json_values import JSON_FILLS, read_json
from whet.make.documents.made_json import made_json
from whet.make.documents.prose import TEXT_FILLS, made_text
from whet.make.documents.raw import BYTES_FILLS, LENGTHS, hex_dump, raw_bytes
from whet.make.edges import TEXTS
from whet.make.elements.fills import Filling
from whet.make.files.tree import TREE_FILLS, tree_entries, write_tree
from whet.workbench.make.making import Made, check_folder, note_made

_SHOWN_LINES, _SHOWN_BYTES, _SHOWN_CHARACTERS = 20, 256, 2000
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

_value_option = click.option(
    "--value", default="1", callback=number, metavar="X",
    help="Set the value of `--fill constant`; 1 by default.",
)  # fmt: skip


def _size(_context: click.Context, option: click.Parameter, value: str) -> int:
    match = re.fullmatch(r"(\d+)([KMGT]?)(i?B)?", value.strip(), re.IGNORECASE)
    if match is None:
        raise BadUsage(
            f"`{option.opts[0]} {value}` isn't a size", hint="such as 16, 4K or 1M (powers of 1024)"
        )
    return int(match[1]) * _UNITS[match[2].upper()]


@click.command("text", short_help="Words in lines.")
@options(
    click.option("--lines", default=2, metavar="N", help="Set the number of lines; 2 by default."),
    click.option("--words", default=2, metavar="N", help="Set the words of a line; 2 by default."),
    fill_option(TEXT_FILLS),
    _value_option,
)
def make_text(*, lines: int, words: int, out: str | None, as_json: bool, **how: Any) -> None:
    """Make a text in UTF-8; `--fill edge` has a lone surrogate, which isn't allowed there."""
    filling = Filling(name=how.pop("fill"), **how)
    made = made_text(lines, words, filling)
    summary = f"text of {shown_count(lines, 'line')}"
    payload = Made(
        content=made.encode("utf-8", "surrogatepass"),
        shown=_beginning(made, lines),
        summary=f"{summary}, {filling.name}",
        detail={"kind": "text", "summary": summary, "shape": [lines, words], "fill": filling.name,
                "seed": filling.seed},
        notes=[f"`--lines {len(TEXTS)}` has room for all edge values"]
        if filling.name == "edge" and lines < len(TEXTS) else [],
    )  # fmt: skip
    deliver(payload, out, as_json=as_json)


def _beginning(text: str, lines: int) -> str:
    shown = text.splitlines()[:_SHOWN_LINES]
    rest = [f"… {lines - len(shown):,} more lines"] if lines > _SHOWN_LINES else []
    return "\n".join((*(each[:_SHOWN_CHARACTERS] for each in shown), *rest))


@click.command("json", short_help="JSON, also by a JSON Schema.")
@options(
    click.option("--schema", metavar="FILE", help="Make what this JSON Schema allows."),
    click.option("--like", metavar="FILE", help="Take the keys and types of this document."),
    click.option("--items", default=2, metavar="N", help="Set the length of lists; 2 by default."),
    fill_option(JSON_FILLS),
    _value_option,
)
def make_json(
    *, schema: str | None, like: str | None, items: int, out: str | None, as_json: bool, **how: Any
) -> None:
    """Make a JSON document: two numbers, or as a JSON Schema or another document has it.

    Alone, `--fill edge` is a document with two equal keys, numbers that no float holds, a lone
    surrogate and deep nesting.
    """
    filling = Filling(name=how.pop("fill"), **how)
    if schema and like:
        raise BadUsage("`--schema` and `--like` exclude each other", hint="leave one of them out")
    made = made_json(_document(schema), _document(like), items, filling)
    source = f" by {schema}" if schema else f" like {like}" if like else ""
    payload = Made(
        content=made.encode(),
        shown=made if len(made) <= _SHOWN_CHARACTERS else f"{made[:_SHOWN_CHARACTERS]}…",
        summary=f"JSON{source}, {filling.name}",
        detail={"kind": "json", "summary": f"JSON{source}", "fill": filling.name, "seed": filling.seed},
    )  # fmt: skip
    deliver(payload, out, as_json=as_json)


def _document(name: str | None) -> object:
    if name is None:
        return None
    try:
        return read_json(Path(name).read_text("utf-8-sig"), name)
    except FileNotFoundError as error:
        raise PayloadMissing(f"there is no file `{name}`", hint="check the path") from error
    except (OSError, UnicodeDecodeError) as error:
        raise PayloadUnreadable(
            f"whet can't read `{name}`: {error}", hint="check the file"
        ) from error


@click.command("bytes", short_help="Bytes, printed in hex.")
@options(
    click.option(
        "--size", default="16", callback=_size, metavar="SIZE",
        help="Set how many bytes there are, such as 4K; 16 by default.",
    ),
    fill_option(BYTES_FILLS),
    _value_option,
    click.option(
        "--border", default="row", metavar="WHAT",
        help=f"Choose what `deadbeef` guards: {', '.join(f'{name} ({length} bytes)' for name, length in LENGTHS.items())}; row by default.",
    ),
)  # fmt: skip
def make_bytes(*, size: int, out: str | None, as_json: bool, **how: Any) -> None:
    """Make bytes; without `-o`, print them in hex."""
    filling = Filling(name=how.pop("fill"), **how)
    made = raw_bytes(size, filling)
    shown = hex_dump(made[:_SHOWN_BYTES])
    if size > _SHOWN_BYTES:
        shown += f"\n… {size - _SHOWN_BYTES:,} more bytes"
    summary = shown_count(size, "byte")
    payload = Made(
        content=made,
        shown=shown,
        summary=f"{summary}, {filling.name}",
        detail={"kind": "bytes", "summary": summary, "fill": filling.name, "seed": filling.seed},
        notes=() if size else ["it is empty"],
    )
    deliver(payload, out, as_json=as_json)


@click.command("tree", short_help="Folders and files.")
@options(
    click.option("--depth", default=2, metavar="N", help="Nest folders so deep; 2 by default."),
    click.option(
        "--width", default=2, metavar="N",
        help="Set how many files and folders a folder holds; 2 by default.",
    ),
    fill_option(TREE_FILLS),
)  # fmt: skip
def make_tree(
    *, depth: int, width: int, fill: str, seed: int, out: str | None, as_json: bool
) -> None:
    """Make a folder with folders and files in it; without `-o`, list them.

    `--fill edge` adds names that break programs, links to nothing and to themselves, a file that
    you may not read, and folders in folders.
    """
    entries = tree_entries(depth, width, fill)
    summary = f"tree of {shown_count(len(entries), 'entry')}"
    detail = {"kind": "tree", "summary": summary, "fill": fill, "seed": seed}
    if out:
        check_folder(Path(out))
        write_tree(entries, Path(out))
        note_made(detail, Path(out), line_of(click.get_current_context()))
    if as_json:
        names = [str(each) for each in entries]
        answer_json({**detail, "file": os.path.abspath(out) if out else None, "entries": names})
        return
    for each in () if out else entries:
        answer(str(each))
    say(f"whet: {f'{out}: ' if out else ''}{summary}, {fill}")
