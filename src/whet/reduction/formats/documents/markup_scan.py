"""What is in XML and HTML one after the other: tags, texts, comments and the rest.

Runs of bytes are possessive: none is looked at more often than a few times. Groups aren't, as
Python gets those wrong before 3.11.5 (cpython#106052). XML is read strictly (what isn't well-formed is no XML); HTML as browsers do: a sign
that starts nothing is text.
"""

import re
from collections.abc import Iterator

from whet.core.value_class import value_class

_NAME = rb"[A-Za-z_:\x80-\xff][^\s<>/\"'=\[\]]*+"
_XML_ATTRIBUTE = rb"\s++" + _NAME + rb"""\s*+=\s*+(?:"[^"<]*+"|'[^'<]*+')"""
_HTML_ATTRIBUTES = rb"""(?:[^<>"']|"[^"]*+"|'[^']*+')*"""
_DOCTYPE = (
    rb"<!(?i:doctype)(?:[^\[>\"']|\"[^\"]*+\"|'[^']*+')*"
    rb"(?:\[(?P<subset>(?:<!--(?:[^-]|-(?!->))*-->|(?!<!--)[^\]\"']|\"[^\"]*+\"|'[^']*+')*)\]\s*+)?>"
)
_COMMON = rb"""
    (?P<comment><!--.*?-->)
  | (?P<cdata><!\[CDATA\[.*?\]\]>)
  | (?P<instruction><\?.*?\?>)
  | (?P<doctype>%b)
  | (?P<close></(?P<closed>%b)%%b>)
""" % (_DOCTYPE, _NAME)

_XML = re.compile(
    _COMMON % rb"\s*+"
    + rb"| (?P<open><(?P<opened>"
    + _NAME
    + rb")(?:"
    + _XML_ATTRIBUTE
    + rb")*\s*+/?>)"
    rb"| (?P<text>[^<]++)",
    re.VERBOSE | re.DOTALL,
)
_HTML = re.compile(
    _COMMON % rb"[^<>]*+"
    + rb"| (?P<open><(?P<opened>"
    + _NAME
    + rb")(?:[\s/]"
    + _HTML_ATTRIBUTES
    + rb")?>)"
    rb"| (?P<text><?[^<]*+)",
    re.VERBOSE | re.DOTALL,
)
_DECLARATION = re.compile(rb"<!(?:--.*?--|[A-Z](?:[^>\"']|\"[^\"]*+\"|'[^']*+')*)>", re.DOTALL)
_LONELY_AMPERSAND = re.compile(
    rb"&(?!#[0-9]++;|#x[0-9A-Fa-f]++;|[A-Za-z_:\x80-\xff][A-Za-z0-9_:.\x80-\xff-]*+;)"
)
_ATTRIBUTE = re.compile(
    rb"""[\s/]++(?P<name>[^\s"'<>/=]++)
    (?:\s*+=\s*+(?:(?P<two>"[^"]*+")|(?P<one>'[^']*+')|(?P<bare>[^\s"'>]++)))?""",
    re.VERBOSE,
)

RAW = (b"script", b"style", b"textarea", b"title")
"""HTML elements in which only their own end counts as a tag."""

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@value_class
class Piece:
    """A tag, a text or something else that stands between them.

    Attributes:
        kind: ``open``, ``close``, ``text``, ``comment``, ``cdata``, ``instruction``, ``doctype``,
            ``declaration`` (in the doctype before it).
        name: of a tag.
        start: where it starts.
        end: where it ends.
    """

    kind: str
    name: bytes
    start: int
    end: int


@value_class
class Attribute:
    """An attribute in a tag.

    Attributes:
        name: that of the text.
        start: where the blanks before it start.
        end: behind its value.
        value: where its value is, without quotes; None if it has none.
        quote: what stands around the value.
    """

    name: bytes
    start: int
    end: int
    value: tuple[int, int] | None
    quote: bytes


def attributes(payload: bytes, start: int, end: int) -> Iterator[Attribute]:
    """Yield the attributes in what stands behind the name of a start tag."""
    for match in _ATTRIBUTE.finditer(payload, start, end):
        group = match.lastgroup or "name"
        quote = {"two": b'"', "one": b"'"}.get(group, b"")
        first, last = match.span(group)
        value = None if group == "name" else (first + len(quote), last - len(quote))
        yield Attribute(match["name"], *match.span(), value, quote)


def scan_xml(payload: bytes) -> Iterator[Piece | None]:
    """Yield the pieces of XML; None, and then no more, where it isn't well-formed."""
    position = len(BYTE_ORDER_MARK) * payload.startswith(BYTE_ORDER_MARK)
    while position < len(payload):
        match = _XML.match(payload, position)
        is_marked_up = match is not None and match.lastgroup in {"open", "text"}
        if match is None or (is_marked_up and _LONELY_AMPERSAND.search(match[0])):
            yield None
            return
        yield from _pieces(match)
        position = match.end()


def scan_html(payload: bytes) -> Iterator[Piece]:
    """Yield the pieces of HTML; names of tags in small letters."""
    position = len(BYTE_ORDER_MARK) * payload.startswith(BYTE_ORDER_MARK)
    while position < len(payload):
        match = _HTML.match(payload, position)
        assert match is not None, "anything is text"
        for piece in _pieces(match):
            yield Piece(piece.kind, piece.name.lower(), piece.start, piece.end)
        position = match.end()
        if match["opened"] is not None and match["opened"].lower() in RAW:
            raw_end = _end_of_raw(payload, position, match["opened"])
            if raw_end > position:
                yield Piece("text", b"", position, raw_end)
            position = raw_end


def _pieces(match: re.Match[bytes]) -> Iterator[Piece]:
    kind = next(name for name in _KINDS if match[name] is not None)
    yield Piece(kind, match["opened"] or match["closed"] or b"", *match.span())
    if match["subset"]:
        for found in _DECLARATION.finditer(match.string, *match.span("subset")):
            yield Piece("declaration", b"", *found.span())


_KINDS = ("text", "open", "close", "comment", "cdata", "instruction", "doctype")


def _end_of_raw(payload: bytes, start: int, name: bytes) -> int:
    found = re.compile(rb"(?i)</" + re.escape(name)).search(payload, start)
    return len(payload) if found is None else found.start()
