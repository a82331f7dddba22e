"""What is defined in source code, cut together with all that uses it.

Neither can go alone: without its definition a use fails otherwise, and a definition that is still
used stays. No grammar tells which is which, so a *unit* is the smallest piece around a name that
stands alone on its lines, and the outermost unit that begins with a name defines it.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from whet.core.value_class import value_class
from whet.reduction.edit import Edit, keep_least, only, splice
from whet.reduction.formats.source.source_offers import cut_of, list_edits
from whet.reduction.formats.source.source_tree import SourceNode, SourceTree
from whet.reduction.reduction_pass import PassSearch
from whet.search.subsets.delta import Kept

MOST_UNITS = 64
"""What is in more units is no single thing, such as ``self``."""

MOST_IN_GROUP, LARGEST_PART = 256, 0.5
"""A definition that takes more units or more of the program than that with it isn't tried."""

_NEAR = 256
"""The ends of a line are looked for so far from a node: a line of a megabyte is no unit."""

_NAME = re.compile(rb"[A-Za-z_$][A-Za-z0-9_$]*")
_NAME_OR_TEXT = re.compile(
    rb'"(?:[^"\\\n]|\\.)*"|' + rb"'(?:[^'\\\n]|\\.)*'|" + rb"(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)"
)
_BLANKS, _ENDS = b" \t", (b"", b",", b";")


@value_class
class _Unit:
    """What stands alone on its lines.

    Attributes:
        node: what it is in the tree.
        depth: in how many nodes it lies.
        edit: cuts it.
    """

    node: SourceNode
    depth: int
    edit: Edit


def delete_with_uses(tree: SourceTree) -> PassSearch:
    """Cut as many definitions as the failure survives, each with all that uses it."""
    units = _units(tree)
    groups = list(_groups(tree, units))

    def render(kept: Kept) -> bytes:
        stays = set(kept.elements())
        gone = {unit for place, group in enumerate(groups) if place not in stays for unit in group}
        return splice(tree.payload, _edits([units[unit] for unit in gone]))

    search = keep_least(len(groups), render, start=tree.payload, again=False)
    return only(search, tree.parses)


def _units(tree: SourceTree) -> list[_Unit]:
    """Return them, each before those that stand in it; of nodes on the same lines the outermost."""
    found: dict[tuple[int, int], _Unit] = {}
    depths = {id(tree.nodes[0]): 0}
    for parent in tree.nodes:
        depth = depths[id(parent)] + 1
        in_list = list_edits(tree, parent.children)
        for place, node in enumerate(parent.children):
            depths[id(node)] = depth
            end = None if node.filler else _end_if_alone(tree.payload, node)
            if end is not None:
                edit = in_list.get(place) or cut_of(tree.payload, node.start, node.end)
                found.setdefault((node.start, end), _Unit(node, depth, edit))
    return [found[span] for span in sorted(found, key=lambda span: (span[0], -span[1]))]


def _end_if_alone(payload: bytes, node: SourceNode) -> int | None:
    """Return where the lines of a node end; None if something else stands on them."""
    before = payload[max(0, node.start - _NEAR) : node.start].rpartition(b"\n")[2]
    behind = payload[node.end : node.end + _NEAR].partition(b"\n")[0]
    is_alone = not before.strip(_BLANKS) and behind.strip() in _ENDS
    return node.end + len(behind) if is_alone else None


def _groups(tree: SourceTree, units: Sequence[_Unit]) -> Iterator[frozenset[int]]:
    """Yield what goes together, in the order of the definitions."""
    places = _places(tree, units)
    defined: dict[int, list[bytes]] = {}
    for name, found in places.items():
        by = min(found, key=lambda unit: (units[unit].depth, found[unit], unit))
        defined.setdefault(by, []).append(name)
    told: set[frozenset[int]] = set()
    for unit in sorted(defined):
        group = _closed({unit}, defined, places)
        size = sum(units[each].node.end - units[each].node.start for each in _outer(units, group))
        is_part = 1 < len(group) <= MOST_IN_GROUP and size <= LARGEST_PART * len(tree.payload)
        if is_part and group not in told:
            told.add(group)
            yield group


def _closed(
    group: set[int], defined: dict[int, list[bytes]], places: dict[bytes, dict[int, int]]
) -> frozenset[int]:
    """Return the units with those that use what they define, and so on, until there are too many."""
    fresh = list(group)
    while fresh and len(group) <= MOST_IN_GROUP:
        for name in defined.get(fresh.pop(), ()):
            new = places[name].keys() - group
            group |= new
            fresh += new
    return frozenset(group)


def _places(tree: SourceTree, units: Sequence[_Unit]) -> dict[bytes, dict[int, int]]:
    """Return in which units each name stands, and as which one there."""
    leaves = (node for node in tree.nodes if not node.children)
    names = {text for node in leaves if _NAME.fullmatch(text := tree.text(node))}
    places: dict[bytes, dict[int, int]] = {}
    around: list[int] = []
    counts = [0] * len(units)
    coming = 0
    for match in _NAME_OR_TEXT.finditer(tree.payload):
        while coming < len(units) and units[coming].node.start <= match.start():
            around.append(coming)
            coming += 1
        while around and units[around[-1]].node.end <= match.start():
            around.pop()
        if match["name"] in names and around:
            place = counts[around[-1]]
            counts[around[-1]] += 1
            places.setdefault(match["name"], {}).setdefault(around[-1], place)
    return {name: found for name, found in places.items() if 1 < len(found) <= MOST_UNITS}


def _outer(units: Sequence[_Unit], group: Collection[int]) -> Iterator[int]:
    """Yield those that stand in no other."""
    end = 0
    for each in sorted(group):
        if units[each].node.end > end:
            end = units[each].node.end
            yield each


def _edits(gone: Sequence[_Unit]) -> list[Edit]:
    """Return what cuts units; a block that would be left empty gets what has to stand there."""
    edits = {id(unit.node): unit.edit for unit in gone}
    parents = {id(unit.node.parent): unit.node.parent for unit in gone}
    for block in parents.values():
        if block is None or not block.filler:
            continue
        inside = {id(child) for child in block.children}
        if inside <= edits.keys():
            edits = {node: edit for node, edit in edits.items() if node not in inside}
            edits[id(block)] = Edit(block.start, block.end, block.filler)
    return sorted(edits.values(), key=lambda edit: (edit.start, -edit.end))
