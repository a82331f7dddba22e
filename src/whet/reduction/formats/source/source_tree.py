"""Source code as a tree over its own text, whoever parsed it.

Nodes are what a grammar gives a name: statements, expressions, names. Keywords and signs are
the gaps between them. No recursion: a nesting of any depth is read.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from whet.core.value_class import value_class
from whet.reduction.edit import Change
from whet.reduction.formats.source.grammars import Parse, SyntaxNode

MANY_ERRORS, BYTES_FOR_AN_ERROR = 64, 64
"""A text with that many errors, and one error for every that many bytes, isn't this language: its parser
would reject nearly every candidate, at a tenth of a second each."""

SLOW_SHARE = 0.8
"""If more than this share of a text with at least `SLOW_BYTES` is one or more errors, it isn't this language either."""

SLOW_BYTES = 4 * 1024

REJECTED_BYTES = 16 * 1024 * 1024
"""How much the parser rejects in a row before whet stops asking it: about three seconds' worth, or twice the text."""

ERROR_COST = 64
"""A byte inside of an error can take the parser that many times as long as any other byte."""


@dataclass(slots=True, eq=False)
class SourceNode:
    """A piece of source code.

    Attributes:
        kind: what the grammar calls it.
        start: where it starts.
        end: where it ends.
        parent: what it is in; None for the root.
        children: what is in it, in the order of the text.
        filler: what may stand in its place, as a block has to have a statement; empty: nothing.
    """

    kind: str
    start: int
    end: int
    parent: "SourceNode | None" = None
    children: list["SourceNode"] = field(default_factory=list["SourceNode"])
    filler: bytes = b""

    @property
    def slot(self) -> tuple[str, str]:
        """What it is, and in what: nodes of one slot can mostly be treated alike."""
        return (self.parent.kind if self.parent else "", self.kind)


@value_class
class SourceTree:
    """A program.

    Attributes:
        payload: its text.
        nodes: all nodes, each before what is in it; the first is the root.
        comments: where they are.
        parses: whether a payload parses no worse than this one.
        is_row: each child of the root parses on its own, and any of them side by side.
        errors: how many places of it did not parse.
    """

    payload: bytes
    nodes: list[SourceNode]
    comments: list[tuple[int, int]]
    parses: Callable[[bytes], bool]
    is_row: bool = False
    errors: int = 0

    def text(self, node: SourceNode) -> bytes:
        """Return the text of a node."""
        return self.payload[node.start : node.end]

    def region(self, change: Change) -> tuple[int, int]:
        """Return what to parse to see whether a change is sound: a few statements, or all."""
        if not self.is_row:
            return 0, len(self.payload)
        tops = self.nodes[0].children
        first = min(edit.start if edit.before < 0 else edit.before for edit in change)
        last = max(max(edit.end, edit.after) for edit in change)
        at = max(0, bisect_right(tops, first, key=_start) - 1)
        behind = bisect_left(tops, last, lo=at, key=_start)
        start = tops[at].start if tops and tops[at].start <= first else 0
        return start, tops[behind].start if behind < len(tops) else len(self.payload)


def _start(node: SourceNode) -> int:
    return node.start


@dataclass(slots=True)
class _Judge:
    """Says whether a candidate parses no worse than the text, until too much in a row didn't.

    Attributes:
        errors: how many places of the text don't parse.
        left: how much the parser may still reject.
    """

    parse: Parse
    most: int
    errors: int
    left: int

    def __call__(self, candidate: bytes) -> bool:
        if self.left <= 0:
            return False
        root = self.parse(candidate)
        if not root.has_error:
            is_sound = True
        else:
            errors = errors_of(root)
            is_sound = 0 < errors.count <= self.errors
            self.left -= errors.size * ERROR_COST
        self.left = self.most if is_sound else self.left - len(candidate)
        return is_sound


def read_tree(parse: Parse, payload: bytes) -> SourceTree | None:
    """Return the tree of a payload as a grammar sees it; None if it sees little but errors."""
    root = parse(payload)
    found = errors_of(root)
    errors = found.count
    if errors > MANY_ERRORS and errors * BYTES_FOR_AN_ERROR > len(payload):
        return None
    if found.size > max(SLOW_BYTES, len(payload) * SLOW_SHARE):
        return None
    most = max(REJECTED_BYTES, 2 * len(payload))
    parses = _Judge(parse, most, errors, most)

    nodes: list[SourceNode] = []
    comments: list[tuple[int, int]] = []
    stack: list[SourceNode] = []
    for node, depth in _walk(root, lambda _: True):
        # An anonymous node has no depth of its own here: what is in it is its parent's.
        del stack[depth:]
        start, end = node.start_byte, node.end_byte
        if "comment" in node.type and node.is_named:
            comments.append((start, end))
        if not node.is_named or "comment" in node.type or (start == end and depth):
            stack.append(stack[-1])
            continue
        parent = stack[-1] if stack else None
        mine = SourceNode(node.type, start, end, parent)
        if parent is not None:
            parent.children.append(mine)
        nodes.append(mine)
        stack.append(mine)
    if not nodes or root.is_error:
        return None
    nodes[0].start, nodes[0].end = 0, len(payload)
    is_row = errors == 0 and _is_row(parse, payload, nodes[0].children)
    return SourceTree(payload, nodes, comments, parses, is_row=is_row, errors=errors)


def _is_row(parse: Parse, payload: bytes, children: Sequence[SourceNode]) -> bool:
    """Return whether what is in a program is the same on its own, as one of each kind tells."""
    examples = {child.kind: payload[child.start : child.end] for child in children}
    return all(kind in _kinds_at_top(parse(text)) for kind, text in examples.items())


def _kinds_at_top(root: SyntaxNode) -> list[str]:
    inside = _walk(root, lambda node: node.type == root.type)
    return [node.type for node, depth in inside if depth == 1]


@value_class
class SyntaxErrors:
    """What did not parse.

    Attributes:
        count: how many places.
        size: how many bytes of the text are in them.
    """

    count: int
    size: int


def errors_of(root: SyntaxNode) -> SyntaxErrors:
    """Return what did not parse."""
    if not root.has_error:
        return SyntaxErrors(0, 0)
    count = size = end = 0
    for node, _ in _walk(root, lambda node: node.has_error):
        if node.is_error or node.is_missing:
            count += 1
            size += max(0, node.end_byte - max(node.start_byte, end))
            end = max(end, node.end_byte)
    return SyntaxErrors(count, size)


def _walk(
    root: SyntaxNode, enters: Callable[[SyntaxNode], bool]
) -> Iterator[tuple[SyntaxNode, int]]:
    """Yield nodes with their depths, each before what is in it."""
    cursor, depth = root.walk(), 0
    while True:
        node = cursor.node
        yield node, depth
        if enters(node) and cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1
