"""Which kinds of payload there are, and of which of them a payload is."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from whet.core.errors import UnknownFormat
from whet.reduction.containers import CONTAINERS
from whet.reduction.formats.archives.shown import picture_text, sound_text
from whet.reduction.formats.arrays.array_kinds import ARRAY_KINDS
from whet.reduction.formats.binary.captures import CAPTURE
from whet.reduction.formats.binary.pdf import PDF
from whet.reduction.formats.binary.pickles import PICKLE
from whet.reduction.formats.documents.base64_text import BASE64
from whet.reduction.formats.documents.diff_passes import DIFF_PASSES, exactness
from whet.reduction.formats.documents.diff_text import DIFF, DIFF_ORDER, is_diff
from whet.reduction.formats.documents.json_passes import JSON_PASSES, texts_in_json
from whet.reduction.formats.documents.json_pretty import pretty_json
from whet.reduction.formats.documents.json_tree import JSON, looks_like_json
from whet.reduction.formats.documents.mail import MAIL, MAIL_PASSES, is_mail, parts_in_mail
from whet.reduction.formats.documents.markup_passes import (
    HTML_PASSES,
    XML_PASSES,
    parts_in_html,
    parts_in_xml,
)
from whet.reduction.formats.documents.markup_tree import HTML, XML, is_html, is_xml
from whet.reduction.formats.documents.message_pack import MESSAGE_PACK
from whet.reduction.formats.documents.protocol_buffers import PROTOCOL_BUFFERS
from whet.reduction.formats.documents.sections import (
    INI,
    INI_PASSES,
    LOG,
    LOG_PASSES,
    TOML,
    TOML_PASSES,
    is_ini,
    is_log,
    is_toml,
)
from whet.reduction.formats.documents.toml_arrays import arrays_in_toml
from whet.reduction.formats.documents.transcripts import TRANSCRIPT_PASSES
from whet.reduction.formats.documents.yaml_passes import YAML_PASSES, parts_in_yaml
from whet.reduction.formats.documents.yaml_tree import YAML, is_yaml
from whet.reduction.formats.media.picture import (
    IMAGE,
    IMAGE_ORDER,
    IMAGE_PASSES,
    parse_picture,
    picture_again,
)
from whet.reduction.formats.media.sound import WAV, WAV_ORDER, WAV_PASSES, parse_wav, sound_again
from whet.reduction.formats.source.source import SOURCE_KINDS
from whet.reduction.formats.source.source_passes import source_passes
from whet.reduction.formats.source.sql_passes import SQL_ONLY_PASSES
from whet.reduction.formats.source.sql_tree import SQL, is_sql
from whet.reduction.formats.tables.bar_columns import DELETE_BAR_COLUMNS
from whet.reduction.formats.tables.csv_passes import CSV_PASSES, cells_in_csv
from whet.reduction.formats.tables.csv_table import CSV
from whet.reduction.formats.tables.table_kinds import TABLE_KINDS
from whet.reduction.formats.text.blocks import BLOCK_PASSES, BLOCKS
from whet.reduction.formats.text.brackets import BRACKET_PASSES, BRACKETS, is_deep
from whet.reduction.formats.text.coarse import BRACKETS as NESTED_BRACKETS
from whet.reduction.formats.text.coarse import TAGS, Nesting, cutting_coarsely
from whet.reduction.formats.text.encoded import ENCODED
from whet.reduction.formats.text.inlining import ANCHOR, ENTITY, inlining
from whet.reduction.formats.text.names import NAME_PASSES
from whet.reduction.formats.text.pieces import (
    BYTES,
    COPY_LINES,
    DELETE_BYTES,
    DELETE_DUPLICATE_LINES,
    DELETE_LINES,
    DELETE_STRETCHES,
    DELETE_TOKENS,
    DELETE_WORDS,
    EMPTY_ALIKE_LINES,
    LINES,
    TOKENS,
    WORDS,
)
from whet.reduction.formats.text.plainer_text import PLAINER_PASSES
from whet.reduction.formats.text.values import VALUE_PASSES
from whet.reduction.payload_kind import Kind, lifted
from whet.reduction.reduction_pass import ReductionPass, Stage

ViewT = TypeVar("ViewT")


def _always(_payload: bytes, _name: str) -> bool:
    return True


def _is_json(payload: bytes, name: str) -> bool:
    is_table = name.endswith((".csv", ".tsv")) and CSV.parse(payload) is not None
    return not is_table and looks_like_json(payload)


def _showing(
    parse: Callable[[bytes], ViewT | None], text: Callable[[ViewT], str]
) -> Callable[[bytes], str]:
    def shown(payload: bytes) -> str:
        view = parse(payload)
        return "" if view is None else text(view)

    return shown


def _coarse(name: str, nesting: Nesting) -> ReductionPass[bytes]:
    search = cutting_coarsely(nesting)
    return ReductionPass(name=f"cut {name} coarsely", stage=Stage.STRUCTURE, search=search)


def _unless_deep(kind: Kind) -> Kind:
    """Leave what is nested very deep to the passes over text: each parser takes too long for it."""
    claims_shallow = kind.claims

    def claims(payload: bytes, name: str) -> bool:
        return not is_deep(payload) and claims_shallow(payload, name)

    return replace(kind, claims=claims)


STRUCTURED = (
    *ARRAY_KINDS,
    *TABLE_KINDS,
    *CONTAINERS,
    PICKLE,
    PDF,
    CAPTURE,
    Kind(
        name="image",
        claims=lambda payload, _: parse_picture(payload) is not None,
        passes=lifted(IMAGE, IMAGE_PASSES),
        order=IMAGE_ORDER,
        is_text=False,
        shown=_showing(parse_picture, picture_text),
        again=picture_again,
    ),
    Kind(
        name="wav",
        claims=lambda payload, _: parse_wav(payload) is not None,
        passes=lifted(WAV, WAV_PASSES),
        order=WAV_ORDER,
        is_text=False,
        shown=_showing(parse_wav, sound_text),
        again=sound_again,
    ),
    Kind(
        name="diff",
        claims=is_diff,
        passes=lifted(DIFF, DIFF_PASSES),
        order=DIFF_ORDER,
        exact=exactness,
    ),
    _unless_deep(
        Kind(
            name="sql",
            claims=is_sql,
            passes=lifted(SQL, (*source_passes(SQL), *SQL_ONLY_PASSES)),
        )
    ),
    *map(_unless_deep, SOURCE_KINDS),
    ENCODED,
    Kind(
        name="json",
        claims=_is_json,
        passes=(
            _coarse("json", NESTED_BRACKETS),
            *lifted(JSON, (*TRANSCRIPT_PASSES, *JSON_PASSES)),
        ),
        inside=texts_in_json,
        pretty=pretty_json,
    ),
    Kind(
        name="html",
        claims=is_html,
        passes=(_coarse("html", TAGS), *lifted(HTML, HTML_PASSES)),
        inside=parts_in_html,
        detours=inlining(ENTITY),
    ),
    Kind(
        name="xml",
        claims=is_xml,
        passes=(_coarse("xml", TAGS), *lifted(XML, XML_PASSES)),
        inside=parts_in_xml,
        detours=inlining(ENTITY),
    ),
    Kind(name="mail", claims=is_mail, passes=lifted(MAIL, MAIL_PASSES), inside=parts_in_mail),
    Kind(
        name="yaml",
        claims=is_yaml,
        passes=lifted(YAML, YAML_PASSES),
        inside=parts_in_yaml,
        detours=inlining(ANCHOR),
    ),
    Kind(name="toml", claims=is_toml, passes=lifted(TOML, TOML_PASSES), inside=arrays_in_toml),
    Kind(name="ini", claims=is_ini, passes=lifted(INI, INI_PASSES)),
    Kind(
        name="csv",
        claims=lambda payload, _: CSV.parse(payload) is not None,
        passes=lifted(CSV, CSV_PASSES),
        inside=cells_in_csv,
    ),
    Kind(name="log", claims=is_log, passes=lifted(LOG, LOG_PASSES)),
    MESSAGE_PACK,
    PROTOCOL_BUFFERS,
)
"""A payload is of the first of these kinds that claims it, or of none."""

_OF_BLOCKS = (
    *lifted(LINES, (DELETE_STRETCHES,)),
    *lifted(BLOCKS, BLOCK_PASSES),
    *lifted(LINES, (DELETE_BAR_COLUMNS,)),
)

PLAIN = (
    Kind(name="blocks", claims=_always, passes=_OF_BLOCKS),
    BASE64,
    Kind(
        name="lines",
        claims=_always,
        passes=lifted(LINES, (DELETE_DUPLICATE_LINES, DELETE_LINES, COPY_LINES, EMPTY_ALIKE_LINES)),
    ),
    Kind(name="brackets", claims=_always, passes=lifted(BRACKETS, BRACKET_PASSES)),
    Kind(name="tokens", claims=_always, passes=lifted(TOKENS, (*VALUE_PASSES, DELETE_TOKENS))),
    Kind(name="words", claims=_always, passes=lifted(WORDS, (*NAME_PASSES, DELETE_WORDS))),
    Kind(name="bytes", claims=_always, passes=lifted(BYTES, (DELETE_BYTES, *PLAINER_PASSES))),
)
"""The passes for all text as well, in this order; within a stage passes start in this order, too."""

SOURCES = tuple(
    each for each in STRUCTURED if each.name in {"sql", *(kind.name for kind in SOURCE_KINDS)}
)
"""Programs."""

_MOST_ODD = 0.02
"""A text can have a few control characters: the failure may be about them."""

KINDS = {each.name: each for each in (*STRUCTURED, *PLAIN)}


def kinds_of(
    payload: bytes, *, name: str = "", format_name: str | None = None, but: Collection[str] = ()
) -> tuple[Kind, ...]:
    """Return the kinds whose passes a payload gets, its own first.

    Args:
        payload: its content decides.
        name: its file name: it decides between kinds that fit.
        format_name: this kind alone, whatever the content.
        but: names of kinds of which it is none, for all that is known.

    Raises:
        UnknownFormat: if there is no format called ``format_name``.
    """
    if format_name is not None:
        if format_name not in KINDS:
            raise UnknownFormat(
                f"there is no format `{format_name}`", hint=f"choose one of {', '.join(KINDS)}"
            )
        return (KINDS[format_name],)
    others = (each for each in STRUCTURED if each.name not in but)
    own = next((each for each in others if each.claims(payload, name)), None)
    if own is None:
        return PLAIN
    return (own, *PLAIN) if own.is_text else (own,)


def is_unknown(payload: bytes, kinds: Sequence[Kind]) -> bool:
    """Return whether a payload is neither of a known format nor text."""
    if kinds[0] not in PLAIN:
        return False
    odd = sum(payload.count(byte) for byte in range(32) if byte not in b"\t\n\f\r\x1b")
    return odd > len(payload) * _MOST_ODD


def meant_by(name: str) -> str:
    """Return the format that a file's name promises; empty: whet knows none of that ending."""
    lower = name.lower()
    return next((each.name for each in STRUCTURED if lower.endswith(each.suffixes)), "")


def readable(payload: bytes, *, name: str = "") -> str | None:
    """Return what a person reads of a payload instead of its bytes; None: they read these."""
    shown = kinds_of(payload, name=name)[0].shown
    return None if shown is None else shown(payload)


def pretty_of(payload: bytes, name: str = "") -> bytes | None:
    """Return a payload as it reads best; None if it is short or there is no better way."""
    pretty = kinds_of(payload, name=name)[0].pretty
    return None if pretty is None else pretty(payload)
