"""What can be made smaller in YAML; comments on what is kept are kept."""

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import partial

from whet.reduction.edit import Change, Edit, make_changes, siblings
from whet.reduction.formats.documents.in_step import InStep
from whet.reduction.formats.documents.yaml_tree import (
    BLOCK,
    DOCUMENT,
    FLOW,
    LITERAL,
    SCALAR,
    YAML,
    YamlTree,
    rest_of_line,
)
from whet.reduction.formats.text.tree import Node, TreeSearch
from whet.reduction.payload_kind import Part
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage

_LITERAL = re.compile(rb"\|[-+]?[ \t]*\r?\n(?P<indent>[ ]*)(?=[^\s])")
_COMMENT = re.compile(rb"^[ \t]*#[^\r\n]*(?:\r\n|\n|\r|\Z)|[ \t]+#[^\r\n]*", re.MULTILINE)
_LINE_START = re.compile(rb"(?<=\n)[ ]*")


def _cuts(tree: YamlTree, node: Node | None) -> list[Change]:
    if node is None:
        starts = [root.start for root in tree.roots]
        ends = [*starts[1:], len(tree.payload)]
        cuts = [Edit(start, end) for start, end in zip(starts, ends, strict=True)]
        return [[cut] for cut in cuts] if len(cuts) > 1 else []
    if node.kind == DOCUMENT:
        return []
    cuts = _cuts_of(tree, node, node.children)
    return [[cut, *_aliases_of(tree, cut)] for cut in cuts]


def _cuts_of(tree: YamlTree, node: Node, children: Sequence[Node]) -> list[Edit]:
    is_block = node.kind[:1] == BLOCK
    return siblings(
        [
            (each.outer_start, rest_of_line(tree.payload, each.end) if is_block else each.end)
            for each in children
        ]
    )


def _aliases_of(tree: YamlTree, cut: Edit) -> Iterator[Edit]:
    """Cut the aliases of what a cut takes the anchors from."""
    first, last = (bisect_left(tree.anchors, place) for place in (cut.start, cut.end))
    for anchor in tree.anchors[first:last]:
        for around, alias in tree.aliases.get(anchor, ()):
            if not cut.start <= alias.start < cut.end and around.kind != DOCUMENT:
                place = next(n for n, each in enumerate(around.children) if each is alias)
                before = max(0, place - 1)  # a cut depends on the child's neighbours alone
                yield _cuts_of(tree, around, around.children[before : place + 2])[place - before]


def _hoist(tree: YamlTree, node: Node, below: Node) -> Change | None:
    if node.kind == DOCUMENT:
        return None
    indent = _indent_below_key(tree.payload, node, below)
    dedents = () if indent else _dedents(tree.payload, node, below)
    return [Edit(node.start, below.start, indent), *dedents, Edit(below.end, node.end)]


def _indent_below_key(payload: bytes, node: Node, below: Node) -> bytes:
    """Return the blanks that an item needs where the dashes stand in the column of their key."""
    if node.kind != BLOCK + b"[" or node.outer_start == node.start:
        return b""
    column = _column(payload, node.start)
    if _column(payload, node.outer_start) != column:
        return b""
    return b" " * (_column(payload, below.start) - column)


def _dedents(payload: bytes, node: Node, below: Node) -> Iterator[Edit]:
    """Move the lines of what is in a block to the column of this."""
    if node.kind[:1] != BLOCK:
        return
    start = below.start if below.kind[:1] == BLOCK else below.outer_start
    to, column = _column(payload, node.start), _column(payload, start)
    for match in _LINE_START.finditer(payload, below.start, below.end):
        line, indent = match.start(), match.end() - match.start()
        yield Edit(line + min(to, indent), line + min(column, indent))


def _column(payload: bytes, place: int) -> int:
    line = payload.rfind(b"\n", 0, place) + 1
    return len(payload[line:place].decode("utf-8", "replace").removeprefix("\ufeff"))


def _delete_comments(tree: YamlTree) -> PassSearch:
    """Cut comments, those on a line of their own with the line."""
    texts = [node for node in tree.nodes if node.kind in {SCALAR, LITERAL}]
    starts = [node.start for node in texts]
    changes: list[Change] = []
    for match in _COMMENT.finditer(tree.payload):
        before = bisect_right(starts, match.start()) - 1
        if before < 0 or match.start() >= texts[before].end:
            changes.append([Edit(*match.span())])
    return make_changes(tree.payload, changes)


def _lift_entries(tree: YamlTree) -> PassSearch:
    """Put the entries of a collection into the one around it, if that is of the same kind."""
    changes = [
        [
            Edit(child.outer_start, child.children[0].outer_start),
            *_dedents(tree.payload, node, child),
            Edit(child.children[-1].end, child.end),
        ]
        for node in tree.nodes
        for child in node.children
        if child.kind == node.kind and child.children
    ]
    return make_changes(tree.payload, changes)


def _put_0(tree: YamlTree) -> PassSearch:
    changes: list[Change] = []
    for node in tree.nodes:
        if node.kind[:1] == FLOW or (node.kind in {SCALAR, LITERAL} and node.end > node.start + 1):
            changes.append([Edit(node.start, node.end, b"0")])
        elif node.kind[:1] == BLOCK:
            changes += [[edit] for edit in _in_line(tree.payload, node, b" 0")]
    return make_changes(tree.payload, changes)


def _empty_values(tree: YamlTree) -> PassSearch:
    """Put nothing for a value of a block: null."""
    changes = [
        [edit]
        for around in tree.nodes
        if around.kind[:1] == BLOCK
        for node in around.children
        for edit in _in_line(tree.payload, node, b"")
    ]
    return make_changes(tree.payload, changes)


def _in_line(payload: bytes, node: Node, text: bytes) -> Iterator[Edit]:
    """Put a text right behind a node's key or dash."""
    end = len(payload[max(0, node.start - 200) : node.start].rstrip()) + max(0, node.start - 200)
    if node.end - end > len(text) and payload[end - 1 : end] in {b":", b"-"}:
        yield Edit(end, node.end, text)


def parts_in_yaml(payload: bytes) -> list[Part]:
    """Return what quoted strings and literal blocks say."""
    tree = YAML.parse(payload)
    parts: list[Part] = []
    for node in () if tree is None else tree.nodes:
        if node.kind == LITERAL:
            parts += _literal(payload, node)
        elif node.kind == SCALAR and payload[node.start : node.start + 1] in {b'"', b"'"}:
            parts += _quoted(payload, node)
    return parts


def _literal(payload: bytes, node: Node) -> Iterator[Part]:
    match = _LITERAL.match(payload, node.start, node.end)
    if match is not None:
        indent = match["indent"]
        lines = payload[match.start("indent") : node.end].splitlines(keepends=True)
        content = b"".join(line.removeprefix(indent) for line in lines)
        put = partial(_put_literal, payload, match.start("indent"), node.end, indent)
        yield Part(content=content, name="", put=put)


def _put_literal(
    payload: bytes, start: int, end: int, indent: bytes, content: bytes
) -> bytes | None:
    if not content.strip() or content[:1] in {b" ", b"\n", b"\r", b"\t"}:
        return None
    lines = (indent + line if line.strip() else line for line in content.splitlines(keepends=True))
    return payload[:start] + b"".join(lines) + payload[end:]


def _quoted(payload: bytes, node: Node) -> Iterator[Part]:
    text = payload[node.start : node.end]
    if text[:1] == b"'":
        content = text[1:-1].replace(b"''", b"'")
        is_simple = b"\n" not in text
    else:
        try:
            content, is_simple = json.loads(text, strict=True).encode(), True
        except ValueError:  # an escape that JSON doesn't have, or lines that are folded
            content, is_simple = b"", False
    if is_simple and content:
        put = partial(_put_quoted, payload, node.start, node.end, text[:1])
        yield Part(content=content, name="", put=put)


def _put_quoted(payload: bytes, start: int, end: int, quote: bytes, content: bytes) -> bytes | None:
    try:
        text = content.decode()
    except ValueError:
        return None
    if quote == b"'" and text.isprintable():
        quoted = "'" + text.replace("'", "''") + "'"
    else:
        quoted = json.dumps(text, ensure_ascii=False)
    return payload[:start] + quoted.encode() + payload[end:]


_TREES = TreeSearch(parse=YAML.parse, cuts=_cuts, hoist=_hoist)

YAML_PASSES = (
    ReductionPass(name="delete yaml comments", stage=Stage.STRUCTURE, search=_delete_comments),
    ReductionPass(
        name="hoist only entries", stage=Stage.STRUCTURE, search=_TREES.hoist_only_children
    ),
    ReductionPass(
        name="hoist largest alike entries", stage=Stage.STRUCTURE, search=_TREES.hoist_largest_alike
    ),
    ReductionPass(
        name="delete entries", stage=Stage.STRUCTURE, search=_TREES.delete, unit="entries"
    ),
    ReductionPass(name="hoist entries", stage=Stage.STRUCTURE, search=_TREES.hoist_children),
    ReductionPass(name="hoist alike entries", stage=Stage.STRUCTURE, search=_TREES.hoist_alike),
    ReductionPass(name="lift entries", stage=Stage.STRUCTURE, search=_lift_entries),
    ReductionPass(name="put 0 for entries", stage=Stage.VALUES, search=_put_0),
    ReductionPass(name="empty entries", stage=Stage.VALUES, search=_empty_values),
    *InStep(_TREES).passes("entries"),
)
