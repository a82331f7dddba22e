"""Source code as a kind of payload, one for each language."""

from functools import partial

from whet.reduction.formats.grammars import LANGUAGES, Language, is_source, parser_for
from whet.reduction.formats.source_passes import source_passes
from whet.reduction.formats.source_tree import SourceTree, read_tree
from whet.reduction.kind import Kind, lifted
from whet.reduction.reduction_pass import Format, last_view


def dump_source(tree: SourceTree) -> bytes:
    """Return the text."""
    return tree.payload


def _parse(language: Language, payload: bytes) -> SourceTree | None:
    parse = parser_for(language)
    return None if parse is None else read_tree(parse, payload)


def source_kind(language: Language) -> Kind:
    """Return the kind of payload that a language is."""
    format_ = Format(
        name=language.name, parse=last_view(partial(_parse, language)), dumps=dump_source
    )
    return Kind(
        name=language.name,
        claims=partial(is_source, language),
        passes=lifted(format_, source_passes(format_)),
    )


SOURCE_KINDS = tuple(source_kind(each) for each in LANGUAGES)
