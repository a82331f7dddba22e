"""JSON as a person lays it out: what fits on a line stays on one, the rest is indented."""

from whet.reduction.formats.documents.json_tree import JSON, JsonNode, JsonTree

LINE_WIDTH = 80
"""A text up to this length is readable as it is."""

_INDENT = 2
_DEEPEST = 40
_MOST_BYTES = 64 * 1024
_CLOSES = {b"[": b"]", b"{": b"}"}


def pretty_json(payload: bytes) -> bytes | None:
    """Return a JSON text on several lines; None if it is none, or isn't read more easily so.

    Numbers, strings and the order of all that is in it stay as they are, to the byte.
    """
    if not LINE_WIDTH < len(payload) <= _MOST_BYTES:
        return None
    tree = JSON.parse(payload)
    if tree is None or len(tree.roots) != 1 or any(node.depth > _DEEPEST for node in tree.nodes):
        return None
    (root,) = tree.roots
    pretty = payload[: root.start].rstrip() + _laid_out(tree, root, 0) + payload[root.end :]
    return None if pretty == payload else pretty


def _laid_out(tree: JsonTree, node: JsonNode, indent: int) -> bytes:
    flat = _flat(tree, node)
    if not node.children or indent + len(flat) <= LINE_WIDTH:
        return flat
    inner = b"\n" + b" " * (indent + _INDENT)
    if node.kind == b"[" and not any(child.kind in _CLOSES for child in node.children):
        lines = _filled([_flat(tree, child) for child in node.children], LINE_WIDTH - len(inner))
    else:
        lines = [
            _key(tree, child) + _laid_out(tree, child, indent + _INDENT) for child in node.children
        ]
    joined = (b"," + inner).join(lines)
    return b"".join((node.kind, inner, joined, b"\n", b" " * indent, _CLOSES[node.kind]))


def _filled(values: list[bytes], width: int) -> list[bytes]:
    """Return as many values on each line as there is room for: a wall of numbers stays low."""
    lines = values[:1]
    for value in values[1:]:
        if len(lines[-1]) + len(value) + 2 <= width:
            lines[-1] += b", " + value
        else:
            lines.append(value)
    return lines


def _flat(tree: JsonTree, node: JsonNode) -> bytes:
    if node.kind not in _CLOSES:
        return tree.payload[node.start : node.end]
    members = (_key(tree, child) + _flat(tree, child) for child in node.children)
    return node.kind + b", ".join(members) + _CLOSES[node.kind]


def _key(tree: JsonTree, node: JsonNode) -> bytes:
    key = tree.payload[node.outer_start : node.start].rstrip()
    return key[:-1].rstrip() + b": " if key else b""
