"""Source code as a kind of payload, one for each language."""

from functools import partial
from pathlib import PurePosixPath

from whet.reduction.formats.source.grammars import (
    LANGUAGES,
    LOOKED_AT,
    PYTHON,
    SUFFIXES,
    Language,
    is_source,
    parser_for,
)
from whet.reduction.formats.source.python_passes import PYTHON_ONLY_PASSES
from whet.reduction.formats.source.python_tree import parses_as_python, read_python
from whet.reduction.formats.source.source_passes import source_passes
from whet.reduction.formats.source.source_tree import SourceTree, read_tree
from whet.reduction.formats.text.inlining import MACRO, VARIABLE, inlining
from whet.reduction.payload_kind import Kind, lifted
from whet.reduction.reduction_pass import Format, last_view

_WITH_MACROS = ("c", "cpp", "objc", "cuda")


def _parse(language: Language, payload: bytes) -> SourceTree | None:
    parse = parser_for(language)
    return None if parse is None else read_tree(parse, payload)


def source_kind(language: Language) -> Kind:
    """Return the kind of payload that a language is."""
    format_ = Format(name=language.name, parse=last_view(partial(_parse, language)))
    return Kind(
        name=language.name,
        claims=partial(is_source, language),
        passes=lifted(format_, source_passes(format_)),
        detours=inlining(MACRO) if language.name in _WITH_MACROS else None,
    )


def _parse_python(payload: bytes) -> SourceTree | None:
    return read_python(payload) or _parse(PYTHON, payload)


def _is_python(payload: bytes, name: str) -> bool:
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in PYTHON.suffixes:
        return _parse_python(payload) is not None
    signs = PYTHON.signs
    is_likely = suffix not in SUFFIXES and signs is not None and signs.search(payload, 0, LOOKED_AT)
    return bool(is_likely) and parses_as_python(payload) is not None


_PYTHON = Format(name="python", parse=last_view(_parse_python))

SOURCE_KINDS = (
    Kind(
        name="python",
        claims=_is_python,
        passes=lifted(_PYTHON, (*source_passes(_PYTHON), *PYTHON_ONLY_PASSES)),
        detours=inlining(VARIABLE),
    ),
    *(source_kind(each) for each in LANGUAGES),
)
