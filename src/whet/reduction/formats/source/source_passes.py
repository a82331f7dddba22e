"""What can be made smaller in source code of any language; every candidate parses."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice

from whet.reduction.edit import Change, Edit, make_changes, only
from whet.reduction.formats.source.source_offers import (
    Grammar,
    Offer,
    cut_of,
    cuts,
    fillings,
    hoist,
)
from whet.reduction.formats.source.source_pairs import cut_pairs
from whet.reduction.formats.source.source_tree import SourceNode, SourceTree
from whet.reduction.formats.source.source_uses import delete_with_uses
from whet.reduction.formats.text.names import short_names
from whet.reduction.reduction_pass import Format, PassSearch, ReductionPass, Stage

SINGLE_LEVELS = 12
"""The levels to search one after the other; whet searches deeper ones at once."""

DEEPEST = 200
"""No person writes a program with more levels than this."""

LARGE_BYTES, MOST_LEFT = 12 * 1024, 0.9
"""A program of at least this size is large. If a level of cuts leaves more than this share of one,
whet cuts definitions together with all their uses before the next level."""

_BODY_DEPTH = 3
_HOIST_DEPTH = 2
_ROUNDS = 3
_MOST_OFFERS = 8
_LEAST_GAIN = 4
"""Smaller savings are left to the passes over tokens, which find them too."""

_PLAIN = (b"0", b"a", b'""')
_BRACKETS = (b"(", b"[", b"{")
_NAME = re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
_NAMES = ("identifier", "name", "word", "constant", "variable", "label", "Name")

Reparse = Callable[[bytes], SourceTree | None]


def _made(tree: SourceTree, changes: Sequence[Change], *, again: bool = True) -> PassSearch:
    return only(make_changes(tree.payload, changes, again=again), tree.parses)


def _delete_comments(tree: SourceTree) -> PassSearch:
    changes = [[cut_of(tree.payload, start, end)] for start, end in tree.comments]
    return _made(tree, changes)


def _delete_nodes(tree: SourceTree, reparse: Reparse) -> PassSearch:
    """Cut nodes, level by level from the top (Misherghi and Su 2006); empty blocks that must stay.

    In a small program, whet tries again at each level what was needed before other nodes went: what
    stays of a level decides what later passes find. In a large one that takes too many trials.
    """
    grammar = Grammar()
    takes_uses, is_small = True, len(tree.payload) < LARGE_BYTES
    for level in range(SINGLE_LEVELS + 1):
        offers = _deletions(tree, grammar)
        here, is_last = _level(tree, offers, level)
        changes = [offer.change for offer in _sorted(here)]
        payload = yield from _made(tree, changes, again=is_small)
        following = reparse(payload)
        if following is None or is_last:
            return payload
        if takes_uses and len(payload) > max(LARGE_BYTES, len(tree.payload) * MOST_LEFT):
            takes_uses = False
            payload = yield from delete_with_uses(following)
            following = reparse(payload) or following
        tree = following
    return tree.payload


def _deletions(tree: SourceTree, grammar: Grammar) -> list[Offer]:
    found: list[Offer] = []
    ways = list(cuts(tree))
    left = [each for each in ways if each]
    while left:
        sound = {id(each.node) for each in grammar.learn(tree, [ways[0] for ways in left])}
        found += [ways[0] for ways in left if id(ways[0].node) in sound]
        left = [ways[1:] for ways in left if ways[1:] and id(ways[0].node) not in sound]
    return found + grammar.learn(tree, list(fillings(tree)))


def _level(tree: SourceTree, offers: Sequence[Offer], level: int) -> tuple[list[Offer], bool]:
    """Return the offers for nodes that are inside ``level`` others with an offer, and if it is the last.

    The last level includes all deeper ones; in a very deep tree it is the first one.
    """
    offered = {id(offer.node) for offer in offers}
    levels: dict[int, int] = {}
    for node in tree.nodes:
        around = node.parent
        levels[id(node)] = 0 if around is None else levels[id(around)] + (id(around) in offered)
    deepest = max(levels[each] for each in offered) if offered else 0
    is_last = level in (deepest, SINGLE_LEVELS) or deepest > DEEPEST
    here = [
        offer
        for offer in offers
        if levels[id(offer.node)] == level or (is_last and levels[id(offer.node)] > level)
    ]
    return here, is_last or level > deepest


def _sorted(offers: Iterable[Offer]) -> list[Offer]:
    return sorted(offers, key=lambda offer: (offer.change[0].start, -offer.change[0].end))


def _hoist_bodies(tree: SourceTree, reparse: Reparse) -> PassSearch:
    """Put all that is in a body instead of the statement that has it."""
    return _in_rounds(tree, reparse, _bodies)


def _bodies(tree: SourceTree, node: SourceNode) -> Iterator[Offer]:
    if tree.payload.find(b"\n", node.start, node.end) < 0:
        return
    for inner, distance in _below(node, _BODY_DEPTH):
        if inner.children:
            start, end = inner.children[0].start, inner.children[-1].end
            slot = (*node.slot, inner.kind, str(distance))
            yield Offer(node, slot, hoist(tree, node, start, end))


def _hoist_nodes(tree: SourceTree, reparse: Reparse) -> PassSearch:
    """Put what is in an expression in its place."""
    return _in_rounds(tree, reparse, _parts)


def _parts(tree: SourceTree, node: SourceNode) -> Iterator[Offer]:
    for inner, distance in _below(node, _HOIST_DEPTH):
        if inner.end - inner.start <= node.end - node.start - _LEAST_GAIN:
            slot = (*node.slot, inner.kind, str(distance))
            yield Offer(node, slot, hoist(tree, node, inner.start, inner.end))


def _below(node: SourceNode, depth: int) -> Iterator[tuple[SourceNode, int]]:
    """Yield what is in a node, the nearest first."""
    level = [node]
    for distance in range(1, depth + 1):
        level = [child for each in level for child in each.children]
        for child in level:
            yield child, distance


def _in_rounds(
    tree: SourceTree,
    reparse: Reparse,
    offers_of: Callable[[SourceTree, SourceNode], Iterator[Offer]],
) -> PassSearch:
    """Make the first offer of each node that parses, where the failure survives, then the next."""
    grammar = Grammar()
    for place in range(_ROUNDS):
        rows = [
            grammar.learn(tree, list(islice(offers_of(tree, node), _MOST_OFFERS)))
            for node in tree.nodes[1:]
        ]
        changes = [row[place].change for row in rows if len(row) > place]
        if not changes:
            break
        payload = yield from _made(tree, changes)
        following = reparse(payload)
        if following is None:
            return payload
        tree = following
    return tree.payload


def _put_plain(tree: SourceTree, reparse: Reparse) -> PassSearch:
    """Put the plainest thing that parses for each node that has parts, level by level."""
    grammar = Grammar()
    for level in range(SINGLE_LEVELS + 1):
        offers = _replacements(tree, grammar)
        here, is_last = _level(tree, offers, level)
        payload = yield from _made(tree, [offer.change for offer in here])
        following = reparse(payload)
        if following is None or is_last:
            return payload
        tree = following
    return tree.payload


def _replacements(tree: SourceTree, grammar: Grammar) -> list[Offer]:
    found: list[Offer] = []
    left = [node for node in tree.nodes[1:] if node.children or _is_sign(tree, node)]
    for text in _PLAIN:
        offers = [
            Offer(node, (*node.slot, text.decode()), [Edit(node.start, node.end, text)])
            for node in left
            if node.end - node.start > len(text)
        ]
        sound = grammar.learn(tree, offers)
        found += sound
        done = {id(offer.node) for offer in sound}
        left = [node for node in left if id(node) not in done]
    return found


def _is_sign(tree: SourceTree, node: SourceNode) -> bool:
    """Return whether a node without parts is no name, number or string, such as ``()``."""
    return node.end > node.start and tree.payload[node.start : node.start + 1] in _BRACKETS


def _put_shortest(tree: SourceTree) -> PassSearch:
    """Put the shortest node of a kind for the others of that kind."""
    shortest: dict[str, bytes] = {}
    for node in tree.nodes[1:]:
        size = node.end - node.start
        if size and (node.kind not in shortest or size < len(shortest[node.kind])):
            shortest[node.kind] = tree.text(node)
    changes = [
        [Edit(node.start, node.end, shortest[node.kind])]
        for node in tree.nodes[1:]
        if node.end - node.start > len(shortest.get(node.kind, b"")) > 0
    ]
    return _made(tree, changes)


def _rename(tree: SourceTree) -> PassSearch:
    """Give long names a short one, the same wherever they stand."""
    places: dict[bytes, list[SourceNode]] = {}
    for node in tree.nodes:
        if node.children or not node.kind.endswith(_NAMES):
            continue
        text = tree.text(node)
        if _NAME.fullmatch(text):
            places.setdefault(text, []).append(node)
    taken = set(_NAME.findall(tree.payload))
    names = (name for name in short_names() if name not in taken)
    changes = [
        [Edit(node.start, node.end, name) for node in nodes]
        for name, (text, nodes) in zip(
            names, ((t, n) for t, n in places.items() if len(t) > 1), strict=False
        )
        if len(name) < len(text)
    ]
    return _made(tree, changes)


def source_passes(format_: Format[SourceTree]) -> tuple[ReductionPass[SourceTree], ...]:
    """Return the passes over the trees of one language."""
    name, parse = format_.name, format_.parse

    def named(
        what: str, stage: Stage, search: Callable[[SourceTree], PassSearch]
    ) -> ReductionPass[SourceTree]:
        return ReductionPass(name=what.format(name), stage=stage, search=search)

    return (
        named("delete {} comments", Stage.STRUCTURE, _delete_comments),
        named("delete {} nodes", Stage.STRUCTURE, partial(_delete_nodes, reparse=parse)),
        named("hoist {} bodies", Stage.STRUCTURE, partial(_hoist_bodies, reparse=parse)),
        named("put plain {} values", Stage.STRUCTURE, partial(_put_plain, reparse=parse)),
        named("hoist {} nodes", Stage.LINES, partial(_hoist_nodes, reparse=parse)),
        named("put shortest {} nodes", Stage.LINES, _put_shortest),
        named("rename in {}", Stage.NAMES, _rename),
        named("cut pairs in {}", Stage.PAIRS, cut_pairs),
    )
