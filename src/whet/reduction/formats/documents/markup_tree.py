"""XML and HTML as one tree over its own text."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from whet.core.value_class import value_class
from whet.reduction.formats.documents.markup_scan import BYTE_ORDER_MARK, Piece, scan_html, scan_xml
from whet.reduction.formats.text.coarse import HUGE_BYTES, LARGE_BYTES
from whet.reduction.formats.text.tree import Node
from whet.reduction.reduction_pass import Format, last_view

ELEMENT = b"<"
"""First byte of the kind of an element; the rest is its name."""

_VOID = frozenset(
    b"area base br col embed hr img input link meta source track wbr".split()
)  # they have no end tag
_BLOCKS = (
    b"address article aside blockquote div dl fieldset footer form h1 h2 h3 h4 h5 h6 header hr main"
    b" nav ol p pre section table ul"
)
_CELLS = frozenset({b"td", b"th"})
_ROWS = _CELLS | {b"tr"}
_PARTS = _ROWS | {b"thead", b"tbody", b"tfoot"}
_ENDS: dict[bytes, frozenset[bytes]] = {
    **dict.fromkeys(_BLOCKS.split(), frozenset({b"p"})),
    **dict.fromkeys((b"dt", b"dd"), frozenset({b"dt", b"dd"})),
    **dict.fromkeys((b"td", b"th"), _CELLS),
    **dict.fromkeys((b"thead", b"tbody", b"tfoot"), _PARTS),
    b"tr": _ROWS,
    b"li": frozenset({b"li"}),
    b"option": frozenset({b"option"}),
    b"body": frozenset({b"head"}),
}
"""Which open elements without an end tag a start tag closes."""


@value_class
class Markup:
    """A document.

    Attributes:
        payload: its text.
        is_html: whether it is read as browsers read.
        roots: what is in no element.
        nodes: every node, in the order of the text; blank texts are none. Their kind is
            ``<name`` for an element, for others what `markup_scan.Piece` calls them, and their
            outer start is where the blanks before them start.
    """

    payload: bytes
    is_html: bool
    roots: list[Node]
    nodes: list[Node]


@dataclass(slots=True)
class _Builder:
    payload: bytes
    is_html: bool
    roots: list[Node] = field(default_factory=list[Node])
    nodes: list[Node] = field(default_factory=list[Node])
    stack: list[Node] = field(default_factory=list[Node])
    open_names: Counter[bytes] = field(default_factory=Counter[bytes])
    blank_start: int = -1

    def take(self, piece: Piece) -> bool:
        """Take the next piece; return whether it may stand there."""
        if piece.kind == "close":
            is_right = self._close(piece)
        elif piece.kind == "open":
            self._open(piece)
            is_right = True
        else:
            if piece.kind == "text" and self.payload[piece.start : piece.end].isspace():
                self.blank_start = piece.start
                return True
            self._add(piece.kind.encode(), piece)
            # Beside the root element of XML there is no text.
            is_right = self.is_html or bool(self.stack) or piece.kind not in {"text", "cdata"}
        self.blank_start = -1
        return is_right

    def _add(self, kind: bytes, piece: Piece) -> Node:
        outer_start = self.blank_start if self.blank_start >= 0 else piece.start
        node = Node(kind, piece.start, piece.end, outer_start, len(self.stack))
        node.inner_start = node.inner_end = piece.end
        if self.stack:
            self.stack[-1].children.append(node)
        else:
            self.roots.append(node)
        self.nodes.append(node)
        return node

    def _open(self, piece: Piece) -> None:
        if self.is_html:
            while self.stack and self._name() in _ENDS.get(piece.name, ()):
                self._end(piece.start, piece.start)
        node = self._add(ELEMENT + piece.name, piece)
        is_empty = self.payload[piece.end - 2 : piece.end] == b"/>"
        if (piece.name in _VOID) if self.is_html else is_empty:
            return
        self.stack.append(node)
        self.open_names[piece.name] += 1

    def _close(self, piece: Piece) -> bool:
        if not self.open_names[piece.name]:
            self._add(b"end tag", piece)
            return self.is_html
        while self._name() != piece.name:
            if not self.is_html:
                return False
            self._end(piece.start, piece.start)
        self._end(piece.start, piece.end)
        return True

    def _end(self, inner_end: int, end: int) -> None:
        node = self.stack.pop()
        node.inner_end, node.end = inner_end, end
        self.open_names[node.kind[1:]] -= 1

    def _name(self) -> bytes:
        return self.stack[-1].kind[1:]

    def finish(self) -> bool:
        """Return whether the document may end here."""
        if not self.is_html:
            return not self.stack and sum(each.kind[:1] == ELEMENT for each in self.roots) == 1
        while self.stack:
            self._end(len(self.payload), len(self.payload))
        return any(each.kind[:1] == ELEMENT for each in self.roots)


def parse_xml(payload: bytes) -> Markup | None:
    """Return the tree of XML; None if it isn't well-formed."""
    return _parse(payload, is_html=False)


def parse_html(payload: bytes) -> Markup | None:
    """Return the tree of HTML; None if no element is in it."""
    return _parse(payload, is_html=True)


def _parse(payload: bytes, *, is_html: bool) -> Markup | None:
    if len(payload) > HUGE_BYTES or b"<" not in payload:
        return None
    builder = _Builder(payload, is_html)
    for piece in _scan(payload, is_html=is_html):
        if piece is None or not builder.take(piece):
            return None
    if not builder.finish():
        return None
    return Markup(payload, is_html, builder.roots, builder.nodes)


def _scan(payload: bytes, *, is_html: bool) -> Iterator[Piece | None]:
    if is_html:
        yield from scan_html(payload)
    else:
        yield from scan_xml(payload)


XML = Format(name="xml", parse=last_view(parse_xml))
HTML = Format(name="html", parse=last_view(parse_html))

_HTML_STARTS = (b"<!doctype html", b"<html", b"<head", b"<body", b"<table", b"<div", b"<p>", b"<p ")


def is_html(payload: bytes, name: str) -> bool:
    """Return whether a payload is HTML, by its name or its first tag."""
    start = payload[:4096].removeprefix(BYTE_ORDER_MARK).lstrip()
    if not name.lower().endswith((".html", ".htm")):
        return start.lower().startswith(_HTML_STARTS) and HTML.parse(payload) is not None
    return b"<" in payload and (is_too_large(payload) or HTML.parse(payload) is not None)


def is_xml(payload: bytes, _name: str) -> bool:
    """Return whether a payload is well-formed XML."""
    start = payload[:4096].removeprefix(BYTE_ORDER_MARK).lstrip()
    end = payload[-4096:].rstrip()
    if not (start.startswith(b"<") and end.endswith(b">")):
        return False
    return is_too_large(payload) or XML.parse(payload) is not None


def is_too_large(payload: bytes) -> bool:
    """Return whether a payload is claimed by its looks, as reading it takes long."""
    return len(payload) > LARGE_BYTES
