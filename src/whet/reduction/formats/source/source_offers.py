"""What could be cut or put elsewhere in a source tree, and which of it still parses.

Whether an edit parses depends on the grammar, which whet doesn't read. It is learned from the
payload instead: edits are sorted by their *slot*, such as "an `else` of an `if` cut with what
stands before it", one or a few of each are tried on the parser, and where one parses, all of
that slot are offered to the search. It asks the parser about each candidate once more.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from whet.core.value_class import value_class
from whet.reduction.edit import Change, Edit, siblings, splice
from whet.reduction.formats.source.source_tree import SourceNode, SourceTree

TRIES = 3
"""How many edits of a slot whet tries until one parses."""

PARSED_BYTES = 32 * 1024 * 1024
"""How much the parser gets to learn from, a few seconds' worth; whet leaves out the rest."""

FEW_ERRORS = 16
"""More errors usually slow the parser down: each group of this size counts as another parse."""

_LINE_TAIL = re.compile(rb"[ \t]*(?:\r\n|\n|\r|\Z)")
_BLANKS = b" \t"
_LINE_ENDS = b"\r\n"
_SPACE = _BLANKS + _LINE_ENDS
_LIST_SIGNS = (b",", b";")


@value_class
class Offer:
    """An edit of one node.

    Attributes:
        node: the node.
        slot: what edits are alike.
        change: the edit.
    """

    node: SourceNode
    slot: tuple[str, ...]
    change: Change


@dataclass(slots=True)
class Grammar:
    """What one pass has learned of a grammar.

    Attributes:
        sound: slots of which an edit parsed.
    """

    sound: set[tuple[str, ...]] = field(default_factory=set[tuple[str, ...]])
    _tries: dict[tuple[str, ...], int] = field(default_factory=dict[tuple[str, ...], int])
    _parsed: int = 0

    def learn(self, tree: SourceTree, offers: Sequence[Offer]) -> list[Offer]:
        """Return the offers of slots that parse."""
        for offer in offers:
            slot = offer.slot
            if slot in self.sound or self._tries.get(slot, 0) >= TRIES:
                continue
            start, end = tree.region(offer.change)
            self._parsed += (end - start) * (1 + tree.errors // FEW_ERRORS)
            if self._parsed > max(PARSED_BYTES, len(tree.payload)):
                break
            self._tries[slot] = self._tries.get(slot, 0) + 1
            changed = splice(tree.payload, offer.change)
            if tree.parses(changed[start : end + len(changed) - len(tree.payload)]):
                self.sound.add(slot)
        return [offer for offer in offers if offer.slot in self.sound]


def cut_of(payload: bytes, start: int, end: int) -> Edit:
    """Return what cuts a span: as whole lines where nothing else is there, or with its blanks."""
    line = _back(payload, start, _BLANKS)
    tail = _LINE_TAIL.match(payload, end)
    if tail is None or (line and payload[line - 1] not in _LINE_ENDS):
        return Edit(line, end)
    above = _back(payload, line, _SPACE)
    empty = _LINE_TAIL.match(payload, above)
    return Edit(line if empty is None or not above else empty.end(), tail.end())


def _back(payload: bytes, place: int, over: bytes) -> int:
    """Return where the run of these characters starts that ends at a place."""
    while place and payload[place - 1] in over:
        place -= 1
    return place


def cuts(tree: SourceTree) -> Iterator[list[Offer]]:
    """Yield for each node the ways to cut it, the most natural first."""
    for parent in tree.nodes:
        in_list = list_edits(tree, parent.children)
        for place, node in enumerate(parent.children):
            ways: list[tuple[str, Edit]] = []
            if place in in_list:
                ways.append(("item", in_list[place]))
            ways.append(("alone", cut_of(tree.payload, node.start, node.end)))
            before = parent.children[place - 1].end if place else parent.start
            is_last = place == len(parent.children) - 1
            after = parent.end if is_last else parent.children[place + 1].start
            if tree.payload[before : node.start].strip():
                ways.append(("before", _with_gap_before(tree, before, node)))
            if tree.payload[node.end : after].strip():
                ways.append(("after", Edit(node.start, after)))
            yield [Offer(node, (*node.slot, way), [edit]) for way, edit in ways]


def _with_gap_before(tree: SourceTree, before: int, node: SourceNode) -> Edit:
    gap = tree.payload[before : node.start]
    start = before + len(gap) - len(gap.lstrip())
    return cut_of(tree.payload, start, node.end)


def list_edits(tree: SourceTree, nodes: Sequence[SourceNode]) -> dict[int, Edit]:
    """Return the cuts of those that stand in a row with the same sign between them."""
    found: dict[int, Edit] = {}
    first = 0
    for place in range(1, len(nodes) + 1):
        if place < len(nodes):
            gap = tree.payload[nodes[place - 1].end : nodes[place].start].strip()
            if gap in _LIST_SIGNS:
                continue
        if place - first > 1:
            row = siblings([(node.start, node.end) for node in nodes[first:place]])
            found.update(zip(range(first, place), row, strict=True))
        first = place
    return found


def fillings(tree: SourceTree) -> Iterator[Offer]:
    """Yield what empties a block that can't go."""
    for node in tree.nodes[1:]:
        filler, size = node.filler, node.end - node.start
        ends = tree.payload[node.start : node.start + 1] + tree.payload[node.end - 1 : node.end]
        if not filler and ends == b"{}":
            filler = ends
        if filler and size > len(filler):
            yield Offer(node, (*node.slot, "fill"), [Edit(node.start, node.end, filler)])


def hoist(tree: SourceTree, node: SourceNode, start: int, end: int) -> Change:
    """Return what puts a span of a node in the node's place, its lines indented as the node's."""
    payload = tree.payload
    change = [Edit(node.start, start)]
    if payload.find(b"\n", start, end) >= 0:
        to, by = _indent(payload, node.start), _indent(payload, start)
        if to is not None and by is not None and by > to:
            change += _dedents(payload, range(start, end), to, by)
    return [*change, Edit(end, node.end)]


def _indent(payload: bytes, start: int) -> int | None:
    """Return how far a line is indented whose first sign stands at ``start``."""
    line = _back(payload, start, _BLANKS)
    return start - line if not line or payload[line - 1] in _LINE_ENDS else None


def _dedents(payload: bytes, span: range, to: int, by: int) -> Iterator[Edit]:
    """Cut the same columns from each line, so that the dedents of nested blocks add up."""
    line = payload.find(b"\n", span.start, span.stop) + 1
    while line:
        rest = payload[line : line + by]
        indent = len(rest) - len(rest.lstrip(_BLANKS))
        if min(to, indent) < min(by, indent):
            yield Edit(line + min(to, indent), line + min(by, indent))
        line = payload.find(b"\n", line, span.stop) + 1


def cuts_of(tree: SourceTree, nodes: Sequence[SourceNode]) -> list[Edit]:
    """Return for each node the edit that cuts it out, from its list if it is in one."""
    in_list = list_edits(tree, nodes)
    return [
        in_list.get(place, cut_of(tree.payload, node.start, node.end))
        for place, node in enumerate(nodes)
    ]
