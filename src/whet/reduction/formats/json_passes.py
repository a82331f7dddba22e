"""What can be made smaller in JSON; every candidate is JSON again."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from whet.reduction.edit import Change, Edit, make_changes, siblings
from whet.reduction.formats.json_tree import JSON, JsonNode, JsonTree
from whet.reduction.kind import Part
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage

SINGLE_LEVELS = 8
"""Levels that are searched one after the other; what lies deeper is searched at once, as a
nesting of thousands of levels would cost as many rounds."""

_LEAST_TEXT = 6  # a string of fewer bytes holds nothing that has parts of its own


def _delete_values(tree: JsonTree) -> PassSearch:
    """Delete members and elements, level by level from the top.

    This is hierarchical delta debugging (Misherghi and Su 2006).
    """
    for depth in range(SINGLE_LEVELS):
        payload = yield from make_changes(tree.payload, list(_deletions(tree, depth, depth)))
        if not payload.strip():  # the last of JSON lines has gone
            return payload
        tree = _parsed(payload)
        if all(node.depth <= depth for node in tree.nodes):
            return payload
    deepest = max(node.depth for node in tree.nodes)
    deletions = list(_deletions(tree, SINGLE_LEVELS, deepest))
    return (yield from make_changes(tree.payload, deletions))


def _deletions(tree: JsonTree, top: int, bottom: int) -> Iterator[Change]:
    """Yield the deletions of the values from level ``top`` to level ``bottom``."""
    found: list[Edit] = []
    if top == 0 and len(tree.roots) > 1:
        found += _cuts(tree.roots)
    for node in tree.nodes:
        if top <= node.depth + 1 <= bottom:
            found += _cuts(node.children)
    found.sort(key=lambda edit: edit.start)
    for edit in found:
        yield [edit]


def _cuts(nodes: list[JsonNode]) -> list[Edit]:
    return siblings([(node.outer_start, node.end) for node in nodes])


def _hoist_only_children(tree: JsonTree) -> PassSearch:
    """Put an only child in its parent's place: what peels a deep nesting."""
    alone = (node for node in tree.nodes if len(node.children) == 1)
    return make_changes(tree.payload, [_hoist(node, node.children[0]) for node in alone])


def _hoist_children(tree: JsonTree) -> PassSearch:
    """Put the first child in its parent's place, then the second, and so on."""
    payload, place = tree.payload, 0
    while any(len(node.children) > place for node in tree.nodes):
        parents = [node for node in tree.nodes if len(node.children) > place]
        hoists = [_hoist(node, node.children[place]) for node in parents]
        payload = yield from make_changes(tree.payload, hoists)
        tree = _parsed(payload)
        place += 1
    return payload


def _hoist(parent: JsonNode, child: JsonNode) -> Change:
    return [Edit(parent.start, child.start), Edit(child.end, parent.end)]


def _replacing(
    text: bytes, applies: Callable[[JsonNode], bool]
) -> Callable[[JsonTree], PassSearch]:
    def search(tree: JsonTree) -> PassSearch:
        changes = [
            [Edit(node.start, node.end, text)]
            for node in _better_with(text, tree.nodes)
            if applies(node)
        ]
        return make_changes(tree.payload, changes)

    return search


def _better_with(text: bytes, nodes: Iterable[JsonNode]) -> Iterator[JsonNode]:
    return (node for node in nodes if node.end - node.start > len(text))


def _parsed(payload: bytes) -> JsonTree:
    tree = JSON.parse(payload)
    assert tree is not None, "an edit of JSON is JSON"
    return tree


def _always(_node: JsonNode) -> bool:
    return True


def _is_object(node: JsonNode) -> bool:
    return node.kind == b"{"


def texts_in_json(payload: bytes) -> list[Part]:
    """Return what the strings say that are values."""
    tree = JSON.parse(payload)
    parts: list[Part] = []
    for node in () if tree is None else tree.nodes:
        if node.kind == b'"' and node.end - node.start > _LEAST_TEXT:
            try:
                text = json.loads(payload[node.start : node.end], strict=False).encode()
            except ValueError:  # an escape that is none, or half a character
                continue
            put = partial(_put_text, payload, node.start, node.end)
            parts.append(Part(content=text, name="", put=put))
    return parts


def _put_text(payload: bytes, start: int, end: int, content: bytes) -> bytes | None:
    try:
        text = json.dumps(content.decode(), ensure_ascii=False)
    except ValueError:
        return None
    return payload[:start] + text.encode() + payload[end:]


JSON_PASSES = (
    ReductionPass(name="hoist only children", stage=Stage.STRUCTURE, search=_hoist_only_children),
    ReductionPass(name="delete values", stage=Stage.STRUCTURE, search=_delete_values),
    ReductionPass(name="hoist children", stage=Stage.STRUCTURE, search=_hoist_children),
    ReductionPass(name="put 0 for values", stage=Stage.VALUES, search=_replacing(b"0", _always)),
    ReductionPass(name='put "" for values', stage=Stage.VALUES, search=_replacing(b'""', _always)),
    ReductionPass(
        name="put [] for objects", stage=Stage.VALUES, search=_replacing(b"[]", _is_object)
    ),
)
