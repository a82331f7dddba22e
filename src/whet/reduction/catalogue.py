"""Which passes there are, and which of them a payload gets."""

from collections.abc import Iterable
from typing import TypeVar

from whet.core.errors import UnknownFormat
from whet.reduction.formats.blocks import BLOCK_PASSES, BLOCKS
from whet.reduction.formats.brackets import BRACKET_PASSES, BRACKETS
from whet.reduction.formats.csv_passes import CSV_PASSES
from whet.reduction.formats.csv_table import CSV
from whet.reduction.formats.json_passes import JSON_PASSES
from whet.reduction.formats.json_tree import JSON
from whet.reduction.formats.looks import LOOKS_PASSES
from whet.reduction.formats.pieces import (
    BYTES,
    DELETE_BYTES,
    DELETE_DUPLICATE_LINES,
    DELETE_LINES,
    DELETE_TOKENS,
    DELETE_WORDS,
    LINES,
    TOKENS,
    WORDS,
)
from whet.reduction.formats.values import VALUE_PASSES, WORD_PASSES
from whet.reduction.reduction_pass import Format, ReductionPass, compose

ViewT = TypeVar("ViewT")


def _all_of(
    format_: Format[ViewT], passes: Iterable[ReductionPass[ViewT]]
) -> tuple[ReductionPass[bytes], ...]:
    return tuple(compose(format_, each) for each in passes)


PASSES: dict[str, tuple[ReductionPass[bytes], ...]] = {
    "json": _all_of(JSON, JSON_PASSES),
    "csv": _all_of(CSV, CSV_PASSES),
    "blocks": _all_of(BLOCKS, BLOCK_PASSES),
    "lines": _all_of(LINES, (DELETE_DUPLICATE_LINES, DELETE_LINES)),
    "brackets": _all_of(BRACKETS, BRACKET_PASSES),
    "tokens": _all_of(TOKENS, (*VALUE_PASSES, DELETE_TOKENS)),
    "words": _all_of(WORDS, (*WORD_PASSES, DELETE_WORDS)),
    "bytes": _all_of(BYTES, (DELETE_BYTES, *LOOKS_PASSES)),
}
"""The passes of each format, by its name; within a stage they start in this order."""

FORMAT_NAMES = tuple(PASSES)


def passes_for(
    payload: bytes, *, name: str = "", format_name: str | None = None
) -> tuple[ReductionPass[bytes], ...]:
    """Return the passes for a payload, in the order of the catalogue.

    A payload gets the passes of JSON or of CSV if its content is that, and of all other
    formats. JSON wins over CSV, except in a file called ``.csv`` or ``.tsv``.

    Args:
        payload: its content decides.
        name: its file name.
        format_name: the passes of this format alone, whatever the content.

    Raises:
        UnknownFormat: if there is no format called ``format_name``.
    """
    if format_name is not None and format_name not in PASSES:
        raise UnknownFormat(
            f"there is no format `{format_name}`", hint=f"choose one of {', '.join(PASSES)}"
        )
    chosen = formats_of(payload, name) if format_name is None else (format_name,)
    return tuple(each for name in chosen for each in PASSES[name])


def formats_of(payload: bytes, name: str = "") -> tuple[str, ...]:
    """Return the names of the formats whose passes a payload gets."""
    is_json = JSON.parse(payload) is not None
    is_csv = (not is_json or name.endswith((".csv", ".tsv"))) and CSV.parse(payload) is not None
    refused = {"json"} if is_csv or not is_json else {"csv"}
    if not is_csv:
        refused.add("csv")
    return tuple(each for each in PASSES if each not in refused)
