"""YAML as a tree over its own text: PyYAML tells where each node stands, nothing is dumped.

Comments, quoting, anchors, block and flow style survive where nothing is cut. PyYAML's events
are read, not its nodes: they need no recursion and no known tags.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from whet.core.value_class import value_class
from whet.reduction.formats.text.tree import Node
from whet.reduction.reduction_pass import Format, last_view

LARGEST_TREE_BYTES = 2 * 1024 * 1024
"""whet cuts a larger document as text until it is smaller: PyYAML reads a few MB a second."""

DEEPEST = 500
"""whet reads deeper nesting as text: PyYAML takes minutes for about 10,000 levels."""

DOCUMENT, FLOW, BLOCK, SCALAR, LITERAL, ALIAS = b"D", b"F", b"B", b"s", b"|", b"*"
"""What the kind of a node starts with; a collection's second byte is ``[`` or ``{``."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_REST_OF_LINE = re.compile(rb"[ \t]*+(?:(?<=[ \t])#[^\r\n]*+)?(?=[\r\n]|\Z)")
_BRACKET = re.compile(rb"[\[\]{}]")
_COMPACT = re.compile(rb"(?:[-?:][ \t]++){%d}" % DEEPEST)
_COMPLEX_KEY = re.compile(rb"^[ \t-]*\?(?:[ \t]|$)", re.MULTILINE)


class _Event(NamedTuple):
    """What PyYAML read, and where in the text."""

    kind: str
    start: int
    end: int
    anchor: str | None
    is_flow: bool
    is_literal: bool


@value_class
class YamlTree:
    """A YAML stream.

    Attributes:
        payload: its text.
        roots: its documents, each with its one value.
        nodes: these and every value, in the order of the text. An entry of a block starts
            (``outer_start``) at its key or dash.
        aliases: by the place of their anchor, what stands around each alias, and itself.
        anchors: where they are given, ascending.
    """

    payload: bytes
    roots: list[Node]
    nodes: list[Node]
    aliases: dict[int, list[tuple[Node, Node]]]
    anchors: list[int]


@dataclass(slots=True)
class _Builder:
    payload: bytes
    offsets: list[int] | None
    shift: int
    roots: list[Node] = field(default_factory=list[Node])
    nodes: list[Node] = field(default_factory=list[Node])
    stack: list[Node] = field(default_factory=list[Node])
    keys: list[int] = field(default_factory=list[int])  # for each of `stack`: -1 without a key
    aliases: dict[int, list[tuple[Node, Node]]] = field(
        default_factory=dict[int, list[tuple[Node, Node]]]
    )
    anchors: list[int] = field(default_factory=list[int])
    named: dict[str, int] = field(default_factory=dict[str, int])  # the last anchor of a name

    def take(self, event: _Event) -> bool:
        """Take the next event; return whether its place is known."""
        start, end = self._place(event.start), self._place(event.end)
        if event.anchor is not None and event.kind != "Alias":
            self.anchors.append(start)
            self.named[event.anchor] = start
        if event.kind == "DocumentStart":
            self.named.clear()
            self._push(Node(DOCUMENT, start, start, start, 0))
            self.roots.append(self.stack[-1])
        elif event.kind in {"MappingStart", "SequenceStart"}:
            return self._open(event, end)
        elif event.kind in {"MappingEnd", "SequenceEnd", "DocumentEnd"}:
            self._end(end)
        elif event.kind in {"Scalar", "Alias"}:
            self._take_leaf(event, start, end)
        return True

    def _open(self, event: _Event, start: int) -> bool:
        if self._is_key():
            return False  # a collection as a key
        sign = b"{" if event.kind == "MappingStart" else b"["
        # Without its anchor and tag. A sequence in the column of its key has its dash behind it.
        if event.is_flow or (sign == b"[" and self.payload[start : start + 1] != b"-"):
            start -= 1
        if event.is_flow and self.payload[start : start + 1] != sign:
            return False  # a pair in a list: `[a: 1]`
        self._push(self._add((FLOW if event.is_flow else BLOCK) + sign, start))
        return True

    def _push(self, node: Node) -> None:
        if node.kind == DOCUMENT:
            self.nodes.append(node)
        self.stack.append(node)
        self.keys.append(-1)

    def _end(self, end: int) -> None:
        node = self.stack.pop()
        self.keys.pop()
        if node.kind[:1] == FLOW:
            node.end = end
        elif node.children:
            node.end = node.children[-1].end
            if node.kind[:1] == BLOCK:
                node.start = node.children[0].outer_start

    def _is_key(self) -> bool:
        return self.stack[-1].kind[1:] == b"{" and self.keys[-1] < 0

    def _take_leaf(self, event: _Event, start: int, end: int) -> None:
        if self._is_key():
            self.keys[-1] = start
        elif event.kind == "Alias":
            node = self._add(ALIAS, start)
            node.end = end
            place = self.named.get(event.anchor or "", -1)
            self.aliases.setdefault(place, []).append((self.stack[-1], node))
        elif event.is_literal:  # its last line end isn't its own
            text = self.payload[start:end].rstrip(b"\r\n \t")
            self._add(LITERAL, start).end = start + len(text)
        else:
            self._add(SCALAR, start).end = end

    def _add(self, kind: bytes, start: int) -> Node:
        around = self.stack[-1]
        outer_start = start
        if around.kind[1:] == b"{":
            outer_start = self.keys[-1]
            self.keys[-1] = -1
        elif around.kind == BLOCK + b"[":
            outer_start = self._dash(around, start)
        node = Node(kind, start, start, outer_start, len(self.stack))
        around.children.append(node)
        self.nodes.append(node)
        return node

    def _dash(self, around: Node, start: int) -> int:
        """Return where the dash of an item stands: in the same column as the first one."""
        if not around.children:
            return around.start
        line = self.payload.rfind(b"\n", 0, around.start) + 1
        column = around.start - line
        position = start
        while position > around.children[-1].start:
            line = max(self.payload.rfind(b"\n", 0, position), around.start) + 1
            dash = line + column
            if not self.payload[line:dash].strip(b" ") and self.payload[dash : dash + 1] == b"-":
                return dash
            position = line - 1
        return start

    def _place(self, index: int) -> int:
        return self.shift + (index if self.offsets is None else self.offsets[index])


def parse_yaml(payload: bytes) -> YamlTree | None:
    """Return the tree of YAML whose documents are collections; None for any other text."""
    if len(payload) > LARGEST_TREE_BYTES or not payload.strip() or _is_too_deep(payload):
        return None
    shift = len(_BYTE_ORDER_MARK) * payload.startswith(_BYTE_ORDER_MARK)
    try:
        text = payload[shift:].decode()
    except ValueError:
        return None
    builder = _Builder(payload, None if text.isascii() else _offsets(text), shift)
    if _COMPLEX_KEY.search(payload):
        return None
    if not all(event is not None and builder.take(event) for event in _events(text)):
        return None
    if builder.stack or not any(_is_collection(root) for root in builder.roots):
        return None
    return YamlTree(payload, builder.roots, builder.nodes, builder.aliases, builder.anchors)


def _is_collection(root: Node) -> bool:
    return bool(root.children) and root.children[0].kind[:1] in {FLOW, BLOCK}


def _offsets(text: str) -> list[int]:
    widths = (1 + (sign > "\x7f") + (sign > "\u07ff") + (sign > "\uffff") for sign in text)
    return [0, *accumulate(widths)]


def _is_too_deep(payload: bytes) -> bool:
    if payload.count(b"[") + payload.count(b"{") > DEEPEST:
        depth = 0
        for match in _BRACKET.finditer(payload):
            depth += 1 if match[0] in b"[{" else -1
            if depth > DEEPEST:
                return True
    return _COMPACT.search(payload) is not None


def _events(text: str) -> Iterator[_Event | None]:
    """Yield what PyYAML reads; None, and then no more, where it refuses the text."""
    try:
        import yaml
        from yaml import SafeLoader, YAMLError, parse
    except ImportError:
        yield None
        return
    try:
        for event in parse(text, Loader=getattr(yaml, "CSafeLoader", SafeLoader)):
            start, end = event.start_mark, event.end_mark
            yield _Event(
                type(event).__name__.removesuffix("Event"),
                0 if start is None else start.index,
                0 if end is None else end.index,
                getattr(event, "anchor", None),
                bool(getattr(event, "flow_style", False)),
                getattr(event, "style", None) in {"|", ">"},
            )
    except (YAMLError, ValueError, OverflowError, IndexError):
        yield None


def rest_of_line(payload: bytes, end: int) -> int:
    """Return where the blanks and the comment behind a node end, if nothing else follows them."""
    match = _REST_OF_LINE.match(payload, end)
    return end if match is None else match.end()


YAML = Format(name="yaml", parse=last_view(parse_yaml))

_LINE_OF_YAML = re.compile(
    rb"""(?:---|%YAML|[ \t]*\#|[ \t]*-(?:[ \t]|\r?$)|[ \t]*[\w."'/<-][^\r\n:\#]*:(?:[ \t]|\r?$)|[ \t]+\S|\r?$)""",
    re.MULTILINE | re.VERBOSE,
)


def is_yaml(payload: bytes, name: str) -> bool:
    """Return whether a payload is YAML, by its name or its first lines."""
    is_named = name.lower().endswith((".yaml", ".yml"))
    lines = payload[:4096].removeprefix(_BYTE_ORDER_MARK).splitlines()[:20]
    if not is_named and not all(map(_LINE_OF_YAML.match, lines)):
        return False
    if len(payload) > LARGEST_TREE_BYTES:
        return is_named
    tree = YAML.parse(payload)
    return tree is not None and (is_named or len(tree.nodes) >= _LEAST_NODES)


_LEAST_NODES = 6
"""A text with fewer values can be anything: `note: see below` is YAML, too."""
