"""An SQL script of any dialect as a tree: statements, clauses, items between commas, brackets.

No dialect is known: what is told apart are strings, names in quotes, comments, brackets and the
words that start a clause. The body of a trigger or function is part of its statement.
"""

import re
from dataclasses import dataclass, field

from whet.reduction.formats.source.source_tree import SourceNode, SourceTree
from whet.reduction.reduction_pass import Format, last_view

_TOKEN = re.compile(
    rb"""
    (?P<comment>--[^\r\n]*|/\*.*?\*/)
  | (?P<string>[eEnNxXbB]?'(?:[^'\\]|\\.|'')*'|"(?:[^"]|"")*"|`[^`]*`
      |\$(?P<tag>\w*)\$.*?\$(?P=tag)\$)
  | (?P<word>(?:[A-Za-z0-9_.@\#]|[\x80-\xff])+) | (?P<blank>\s+) | (?P<sign>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CLAUSES = frozenset(
    b"SELECT FROM WHERE GROUP ORDER HAVING LIMIT OFFSET UNION EXCEPT INTERSECT SET VALUES"
    b" RETURNING INNER LEFT RIGHT FULL CROSS NATURAL JOIN ON WINDOW USING".split()
)
_JOINS = frozenset(b"INNER LEFT RIGHT FULL CROSS NATURAL JOIN OUTER".split())
_BETWEEN_ITEMS = (b",", b"AND", b"OR")
_BODIES = (b"TRIGGER", b"FUNCTION", b"PROCEDURE")
_SIGNS = re.compile(
    rb"^[ \t]*(?:CREATE +(?:TEMP(?:ORARY)? +)?TABLE +[^;(]+\(|INSERT +INTO +[\w.\"`]+ *(?:\(|VALUES))",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(slots=True)
class _Scope:
    """A statement, or a pair of brackets, that is being read."""

    node: SourceNode
    clause: SourceNode | None = None
    item: SourceNode | None = None
    last_word: bytes = b""


@dataclass(slots=True)
class _Reader:
    root: SourceNode
    nodes: list[SourceNode]
    scopes: list[_Scope] = field(default_factory=list[_Scope])
    comments: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    lonely: int = 0
    has_body: bool = False
    blocks: int = 0

    def add(self, kind: str, start: int, end: int, parent: SourceNode) -> SourceNode:
        node = SourceNode(kind, start, end, parent)
        parent.children.append(node)
        self.nodes.append(node)
        return node

    def take(self, text: bytes, start: int, end: int) -> None:
        """Take what is no blank and no comment."""
        word = text.upper() if len(text) <= len(b"INTERSECT") else b""
        if not self.scopes:
            self.has_body, self.blocks = False, 0
            kind = f"{word.decode(errors='replace')} statement"
            self.scopes.append(_Scope(self.add(kind, start, end, self.root)))
        scope = self.scopes[-1]
        scope.node.end = end
        self.lonely += text == b")" and len(self.scopes) == 1
        if text == b")" and len(self.scopes) > 1:
            self.scopes.pop()
            self.reach(end)
        elif text == b";" and len(self.scopes) == 1 and not self.blocks:
            self.scopes.clear()
        elif word in _CLAUSES and not (word in _JOINS and scope.last_word in _JOINS):
            parent = scope.node
            scope.clause, scope.item = self.add(word.decode(), start, end, parent), None
        elif word in _BETWEEN_ITEMS and scope.item is not None:
            scope.item = None
        else:
            self.part(text, start, end)
        scope.last_word = word
        self.note_block(word)

    def part(self, text: bytes, start: int, end: int) -> None:
        scope = self.scopes[-1]
        if scope.item is None:
            scope.item = self.add("item", start, end, scope.clause or scope.node)
        self.reach(end)
        if text == b"(":
            self.scopes.append(_Scope(self.add("group", start, end, scope.item)))

    def reach(self, end: int) -> None:
        scope = self.scopes[-1]
        for node in (scope.node, scope.clause, scope.item):
            if node is not None:
                node.end = end

    def note_block(self, word: bytes) -> None:
        self.has_body = self.has_body or word in _BODIES
        if self.has_body and word in (b"BEGIN", b"CASE"):
            self.blocks += 1
        elif self.has_body and word == b"END" and self.blocks:
            self.blocks -= 1

    def close(self) -> None:
        self.lonely += max(0, len(self.scopes) - 1)


def _read(payload: bytes) -> _Reader:
    root = SourceNode("script", 0, len(payload))
    reader = _Reader(root, [root])
    for token in _TOKEN.finditer(payload):
        kind = token.lastgroup
        if kind == "comment":
            reader.comments.append(token.span())
        elif kind != "blank":
            reader.take(token[0], *token.span())
            reader.lonely += kind == "sign" and token[0] in (b"'", b'"')
    reader.close()
    for node in reversed(reader.nodes):  # a bracket ends what it is in
        if node.parent is not None and node.parent.end < node.end:
            node.parent.end = node.end
    return reader


def parse_sql(payload: bytes) -> SourceTree | None:
    """Return the tree of a script; None if there is no statement in it."""
    reader = _read(payload)
    lonely = reader.lonely
    if not reader.root.children:
        return None
    return SourceTree(
        payload, reader.nodes, reader.comments, lambda other: _read(other).lonely <= lonely
    )


def is_sql(payload: bytes, name: str) -> bool:
    """Return whether a payload is an SQL script; without a file name only if it looks like one."""
    if name.lower().endswith(".sql"):
        return parse_sql(payload) is not None
    is_likely = "." not in name and _SIGNS.search(payload) is not None
    return is_likely and b";" in payload and _read(payload).lonely == 0


SQL = Format(name="sql", parse=last_view(parse_sql))
