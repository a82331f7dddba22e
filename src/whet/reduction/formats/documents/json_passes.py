"""What can be made smaller in JSON; every candidate is JSON again."""

import json
from collections.abc import Callable
from functools import partial

from whet.reduction.edit import Change, Edit, make_changes, siblings
from whet.reduction.formats.documents.in_step import InStep
from whet.reduction.formats.documents.json_tree import JSON, JsonNode, JsonTree
from whet.reduction.formats.text.tree import TreeSearch, hoisting
from whet.reduction.payload_kind import Part
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage

_LINE_END = b'\\n"'
_LEAST_TEXT = 6  # a string of fewer bytes holds nothing that has parts of its own


def _cuts(tree: JsonTree, node: JsonNode | None) -> list[Change]:
    nodes = tree.roots if node is None else node.children
    if node is None and len(nodes) == 1:
        return []
    return [[edit] for edit in siblings([(each.outer_start, each.end) for each in nodes])]


_TREES = TreeSearch(parse=JSON.parse, cuts=_cuts, hoist=hoisting)


def _lift_items(tree: JsonTree) -> PassSearch:
    """Put what is in a container into its parent of the same kind, beside its siblings."""
    return make_changes(
        tree.payload,
        [
            _lift(child.outer_start, child, child.children[0].outer_start)
            for node in tree.nodes
            for child in node.children
            if child.kind == node.kind and child.children
        ],
    )


def _lift_values(tree: JsonTree) -> PassSearch:
    """Put the values of an object into the array that it is in, without their keys."""
    changes: list[Change] = []
    for node in tree.nodes:
        for child in node.children if node.kind == b"[" else ():
            if child.kind == b"{" and child.children:
                keys = [Edit(each.outer_start, each.start) for each in child.children[1:]]
                changes.append([*_lift(child.start, child, child.children[0].start), *keys])
    return make_changes(tree.payload, changes)


def _lift(start: int, node: JsonNode, first: int) -> Change:
    return [Edit(start, first), Edit(node.children[-1].end, node.end)]


def _replacing(
    text: bytes, applies: Callable[[JsonNode], bool]
) -> Callable[[JsonTree], PassSearch]:
    def search(tree: JsonTree) -> PassSearch:
        changes = [
            [Edit(node.start, node.end, text)]
            for node in tree.nodes
            if node.end - node.start > len(text)
            if applies(node)
        ]
        return make_changes(tree.payload, changes)

    return search


def _always(_node: JsonNode) -> bool:
    return True


def _is_object(node: JsonNode) -> bool:
    return node.kind == b"{"


def texts_in_json(payload: bytes) -> list[Part]:
    """Return what the strings say that are values, and the lines of lists of lines as one text."""
    tree = JSON.parse(payload)
    parts: list[Part] = []
    end = 0
    for node in () if tree is None else tree.nodes:
        is_text = node.kind == b'"' and node.end - node.start > _LEAST_TEXT
        if node.start >= end and (is_text or _is_lines(payload, node)):
            end = node.end
            try:
                text = "".join(json.loads(payload[node.start : node.end], strict=False)).encode()
            except ValueError:  # an escape that is none, or half a character
                continue
            put = partial(_put_text, payload, node)
            parts.append(Part(content=text, name="", put=put))
    return parts


def _is_lines(payload: bytes, node: JsonNode) -> bool:
    """Return whether it is a list of lines, such as the source of a notebook's cell."""
    *lines, last = node.children or [node]
    return bool(lines and last.kind == b'"') and all(
        each.kind == b'"' and payload.endswith(_LINE_END, each.start, each.end) for each in lines
    )


def _put_text(payload: bytes, node: JsonNode, content: bytes) -> bytes | None:
    try:
        text = content.decode()
        value = text if node.kind == b'"' else text.splitlines(keepends=True)
        written = json.dumps(value, ensure_ascii=False).encode()
    except ValueError:
        return None
    return payload[: node.start] + written + payload[node.end :]


JSON_PASSES = (
    ReductionPass(
        name="hoist only children", stage=Stage.STRUCTURE, search=_TREES.hoist_only_children
    ),
    ReductionPass(
        name="hoist largest alike values",
        stage=Stage.STRUCTURE,
        search=_TREES.hoist_largest_alike,
    ),
    ReductionPass(name="delete values", stage=Stage.STRUCTURE, search=_TREES.delete, unit="values"),
    ReductionPass(name="hoist children", stage=Stage.STRUCTURE, search=_TREES.hoist_children),
    ReductionPass(name="hoist alike values", stage=Stage.STRUCTURE, search=_TREES.hoist_alike),
    ReductionPass(name="lift items", stage=Stage.STRUCTURE, search=_lift_items),
    ReductionPass(name="lift values", stage=Stage.STRUCTURE, search=_lift_values),
    ReductionPass(name="put 0 for values", stage=Stage.VALUES, search=_replacing(b"0", _always)),
    ReductionPass(name='put "" for values', stage=Stage.VALUES, search=_replacing(b'""', _always)),
    ReductionPass(
        name="put [] for objects", stage=Stage.VALUES, search=_replacing(b"[]", _is_object)
    ),
    *InStep(_TREES).passes("values"),
)
