"""Python source as a tree, by Python's own parser: `ast` knows exactly where each node stands.

What `ast` leaves out is added: a block of statements, a parameter with its default, an entry of a
dictionary are nodes too, and a decorator belongs to its function. A program that this Python
doesn't read, such as one of Python 2, is left to the grammar of tree-sitter.
"""

import ast
import io
import re
import tokenize
import warnings
from collections.abc import Iterator
from itertools import accumulate
from typing import TypeAlias, cast

from whet.core.value_class import value_class
from whet.reduction.formats.source.source_tree import SourceNode, SourceTree

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLOCKS = ("body", "orelse", "finalbody")
_STARS = b"* \t"

Place: TypeAlias = "tuple[ast.AST | _Group, SourceNode]"


def parses_as_python(payload: bytes) -> ast.Module | None:
    """Return what Python reads; None if it is no program, or one nested too deep."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escapes that mean nothing
        try:
            return ast.parse(payload)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


@value_class
class _Group:
    """Nodes that stand together and have no node of their own in `ast`."""

    kind: str
    members: list[ast.AST]
    filler: bytes = b""


@value_class
class _Text:
    """Where the lines of a text start: `ast` counts lines, and bytes in them."""

    payload: bytes
    lines: list[int]

    def offset(self, line: int, column: int) -> int:
        mark = len(_BYTE_ORDER_MARK) if line == 1 else 0
        return self.lines[line - 1] + column + mark * self.payload.startswith(_BYTE_ORDER_MARK)

    def span(self, node: ast.AST) -> tuple[int, int] | None:
        """Return where a node with a place of its own is."""
        line, column = getattr(node, "lineno", None), getattr(node, "col_offset", 0)
        end_line, end_column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", 0)
        if line is None or end_line is None:
            return None
        return self.offset(line, column), self.offset(end_line, end_column)


def read_python(payload: bytes) -> SourceTree | None:
    """Return the tree of a Python program in UTF-8; None if this Python doesn't read it."""
    program = None if _is_recoded(payload) else parses_as_python(payload)
    if program is None:
        return None
    lines = [0, *accumulate(len(line) for line in _LINE.findall(payload))]
    text = _Text(payload, lines)
    root = SourceNode("module", 0, len(payload))
    stack: list[Place] = [(program, root)]
    while stack:
        item, node = stack.pop()
        for inner in _members(item):
            span = _span_of(text, inner, node)
            if span is not None:
                stack.append((inner, _add(node, inner, span)))
    nodes = _in_order(root)
    return SourceTree(
        payload,
        nodes,
        _comments(text),
        lambda other: parses_as_python(other) is not None,
        is_row=True,
    )


def _is_recoded(payload: bytes) -> bool:
    """Return whether Python counts other bytes than those of the payload, or lines elsewhere."""
    try:
        payload.decode()
    except ValueError:
        return True
    head = payload[: payload.find(b"\n", payload.find(b"\n") + 1) + 1] or payload
    found = re.search(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", head, re.MULTILINE)
    is_other = found is not None and found[1].lower().replace(b"_", b"-") not in (b"utf-8", b"utf8")
    return is_other or b"\f" in payload


def _add(parent: SourceNode, item: "ast.AST | _Group", span: tuple[int, int]) -> SourceNode:
    kind = item.kind if isinstance(item, _Group) else type(item).__name__
    filler = item.filler if isinstance(item, _Group) else b""
    node = SourceNode(kind, *span, parent, filler=filler)
    parent.children.append(node)
    return node


def _members(item: "ast.AST | _Group") -> Iterator["ast.AST | _Group"]:
    """Yield what is in a node, in any order."""
    if isinstance(item, _Group):
        yield from item.members
    elif isinstance(item, ast.arguments):
        yield from _parameters(item)
    elif isinstance(item, ast.Dict):
        for key, value in zip(item.keys, item.values, strict=True):
            yield _Group("entry", [value] if key is None else [key, value])
    elif not isinstance(item, ast.JoinedStr):  # before Python 3.12 its parts have no places
        for name, value in ast.iter_fields(item):
            if isinstance(value, ast.AST):
                yield from (_parameters(value) if isinstance(value, ast.arguments) else (value,))
            elif isinstance(value, list) and value:
                yield from _row(
                    item,
                    name,
                    [each for each in cast("list[object]", value) if isinstance(each, ast.AST)],
                )


def _row(item: ast.AST, name: str, members: list[ast.AST]) -> "Iterator[ast.AST | _Group]":
    first = members[0] if members else None
    is_block = name in _BLOCKS and isinstance(first, ast.stmt) and not isinstance(item, ast.Module)
    is_branch = isinstance(item, ast.If) and isinstance(first, ast.If) and name == "orelse"
    # An `elif` stands as far to the left as its `if`.
    if is_branch and getattr(first, "col_offset", -1) == getattr(item, "col_offset", -2):
        yield from members
    elif is_block:
        yield _Group(name, members, b"pass")
    else:
        yield from members


def _parameters(item: ast.arguments) -> Iterator["ast.AST | _Group"]:
    plain = [*item.posonlyargs, *item.args]
    defaults: list[ast.expr | None] = [None] * (len(plain) - len(item.defaults))
    pairs = [
        *zip(plain, [*defaults, *item.defaults], strict=True),
        *zip(item.kwonlyargs, item.kw_defaults, strict=True),
    ]
    for parameter, default in pairs:
        yield _Group("parameter", [parameter] if default is None else [parameter, default])
    for starred in (item.vararg, item.kwarg):
        if starred is not None:
            yield _Group("starred parameter", [starred])


def _span_of(text: _Text, item: "ast.AST | _Group", around: SourceNode) -> tuple[int, int] | None:
    """Return where a node is; that of a group, or of one without a place, is where its parts are."""
    if isinstance(item, ast.AST):
        span = text.span(item)
        decorators = getattr(item, "decorator_list", ())
        if span is not None and decorators:
            first = text.span(decorators[0])
            at = text.payload.rfind(b"@", 0, first[0] if first else 0)
            return min(span[0], at), span[1]
        if span is not None:
            return span
    spans = [span for each in _members(item) if (span := _span_of(text, each, around)) is not None]
    if not spans:
        return None
    start, end = min(start for start, _ in spans), max(end for _, end in spans)
    if isinstance(item, _Group) and item.kind == "starred parameter":
        head = text.payload[around.start : start].rstrip(_STARS)
        start = text.payload.index(b"*", around.start + len(head))
    return start, end


def _in_order(root: SourceNode) -> list[SourceNode]:
    nodes: list[SourceNode] = []
    stack = [root]
    while stack:
        node = stack.pop()
        node.children.sort(key=lambda child: (child.start, -child.end))
        nodes.append(node)
        stack += reversed(node.children)
    return nodes


def _comments(text: _Text) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    source = text.payload.decode("utf-8-sig")
    try:
        for token in tokenize.generate_tokens(io.StringIO(source, newline="").readline):
            if token.type == tokenize.COMMENT:
                line = token.line[: token.start[1]].encode()
                start = text.offset(token.start[0], len(line))
                found.append((start, start + len(token.string.encode())))
    except (tokenize.TokenError, SyntaxError, IndexError):  # where it reads otherwise than `ast`
        return []
    return found
