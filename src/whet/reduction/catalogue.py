"""Which kinds of payload there are, and of which of them a payload is."""

from whet.core.errors import UnknownFormat
from whet.reduction.formats.blocks import BLOCK_PASSES, BLOCKS
from whet.reduction.formats.brackets import BRACKET_PASSES, BRACKETS
from whet.reduction.formats.csv_passes import CSV_PASSES, cells_in_csv
from whet.reduction.formats.csv_table import CSV
from whet.reduction.formats.diff_passes import DIFF_PASSES
from whet.reduction.formats.diff_text import DIFF, DIFF_ORDER, is_diff
from whet.reduction.formats.json_passes import JSON_PASSES, texts_in_json
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
from whet.reduction.formats.source import SOURCE_KINDS
from whet.reduction.formats.source_passes import source_passes
from whet.reduction.formats.sql_passes import SQL_ONLY_PASSES
from whet.reduction.formats.sql_tree import SQL, is_sql
from whet.reduction.formats.values import VALUE_PASSES, WORD_PASSES
from whet.reduction.kind import Kind, lifted


def _always(_payload: bytes, _name: str) -> bool:
    return True


def _is_json(payload: bytes, name: str) -> bool:
    is_table = name.endswith((".csv", ".tsv")) and CSV.parse(payload) is not None
    return not is_table and JSON.parse(payload) is not None


STRUCTURED = (
    Kind(
        name="diff",
        claims=is_diff,
        passes=lifted(DIFF, DIFF_PASSES),
        order=DIFF_ORDER,
    ),
    Kind(
        name="sql",
        claims=is_sql,
        passes=lifted(SQL, (*source_passes(SQL), *SQL_ONLY_PASSES)),
    ),
    *SOURCE_KINDS,
    Kind(name="json", claims=_is_json, passes=lifted(JSON, JSON_PASSES), inside=texts_in_json),
    Kind(
        name="csv",
        claims=lambda payload, _: CSV.parse(payload) is not None,
        passes=lifted(CSV, CSV_PASSES),
        inside=cells_in_csv,
    ),
)
"""A payload is of the first of these kinds that claims it, or of none."""

PLAIN = (
    Kind(name="blocks", claims=_always, passes=lifted(BLOCKS, BLOCK_PASSES)),
    Kind(
        name="lines", claims=_always, passes=lifted(LINES, (DELETE_DUPLICATE_LINES, DELETE_LINES))
    ),
    Kind(name="brackets", claims=_always, passes=lifted(BRACKETS, BRACKET_PASSES)),
    Kind(name="tokens", claims=_always, passes=lifted(TOKENS, (*VALUE_PASSES, DELETE_TOKENS))),
    Kind(name="words", claims=_always, passes=lifted(WORDS, (*WORD_PASSES, DELETE_WORDS))),
    Kind(name="bytes", claims=_always, passes=lifted(BYTES, (DELETE_BYTES, *LOOKS_PASSES))),
)
"""What all text gets beside, in this order; within a stage passes start in this order too."""

KINDS = {each.name: each for each in (*STRUCTURED, *PLAIN)}


def kinds_of(payload: bytes, *, name: str = "", format_name: str | None = None) -> tuple[Kind, ...]:
    """Return the kinds whose passes a payload gets, its own first.

    Args:
        payload: its content decides.
        name: its file name: it decides between kinds that fit.
        format_name: this kind alone, whatever the content.

    Raises:
        UnknownFormat: if there is no format called ``format_name``.
    """
    if format_name is not None:
        if format_name not in KINDS:
            raise UnknownFormat(
                f"there is no format `{format_name}`", hint=f"choose one of {', '.join(KINDS)}"
            )
        return (KINDS[format_name],)
    own = next((each for each in STRUCTURED if each.claims(payload, name)), None)
    if own is None:
        return PLAIN
    return (own, *PLAIN) if own.is_text else (own,)
