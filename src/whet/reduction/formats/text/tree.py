"""Trees over the text of a payload, and what can be tried on any of them.

A tree is read from the payload's own bytes and every candidate is an edit of these bytes, so
that what isn't touched stays as it was. Nothing here is recursive: a nesting of any depth is
searched. After each step the tree is read again from the best payload.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from whet.core.value_class import value_class
from whet.reduction.edit import Change, Edit, make_changes
from whet.reduction.reduction_pass import PassSearch

SINGLE_LEVELS = 8
"""Levels that are searched one after the other; what lies deeper is searched at once, as a
nesting of thousands of levels would cost as many rounds."""

MOST_ROUNDS = 32
"""How many children of each parent whet tries instead of it; most have gone at that point."""

FEW_CUTS = 8
"""How many parts whet cuts a large payload into before its small ones."""


@dataclass(slots=True)
class Node:
    """A value.

    Attributes:
        kind: what it is called in its format: only equal ones are alike.
        start: where it starts.
        end: where it ends.
        outer_start: where its key starts, if it has one.
        depth: how many nodes it is in.
        children: what is in it.
        inner_start: where an element of markup ends its start tag.
        inner_end: where its end tag starts; the same as its end if it has none.
    """

    kind: bytes
    start: int
    end: int
    outer_start: int
    depth: int
    children: list["Node"] = field(default_factory=list["Node"])
    inner_start: int = 0
    inner_end: int = 0


class Tree(Protocol):
    """A payload read as a tree."""

    @property
    def payload(self) -> bytes:
        """The text."""
        ...

    @property
    def nodes(self) -> Sequence[Node]:
        """Every node, in the order of the text."""
        ...


TreeT = TypeVar("TreeT", bound=Tree)


@value_class(kw_only=True)
class TreeSearch(Generic[TreeT]):
    """The searches over the trees of one format.

    Attributes:
        parse: the tree of a payload; None: nothing is left to search.
        cuts: what deletes each child of a node; of None: each root. The same order.
        hoist: puts a node instead of one that it is in; None: it can't.
    """

    parse: Callable[[bytes], TreeT | None]
    cuts: Callable[[TreeT, Node | None], Sequence[Change]]
    hoist: Callable[[TreeT, Node, Node], Change | None]

    def delete(self, tree: TreeT) -> PassSearch:
        """Delete nodes, level by level from the top.

        This is hierarchical delta debugging (Misherghi and Su 2006).
        """
        payload = tree.payload
        for depth in range(SINGLE_LEVELS):
            payload = yield from make_changes(payload, self._deletions(tree, depth, depth))
            following = self.parse(payload)
            if following is None or all(node.depth <= depth for node in following.nodes):
                return payload
            tree = following
        deepest = max(node.depth for node in tree.nodes)
        return (yield from make_changes(payload, self._deletions(tree, SINGLE_LEVELS, deepest)))

    def _deletions(self, tree: TreeT, top: int, bottom: int) -> list[Change]:
        found = list(self.cuts(tree, None)) if top == 0 else []
        for node in tree.nodes:
            if top <= node.depth + 1 <= bottom:
                found += self.cuts(tree, node)
        return sorted(found, key=lambda change: min(edit.start for edit in change))

    def hoist_only_children(self, tree: TreeT) -> PassSearch:
        """Put only children in their parents' places, many at once: what peels a deep nesting."""
        alone = [(node, node.children[0]) for node in tree.nodes if len(node.children) == 1]
        return make_changes(tree.payload, self._hoists(tree, alone), grain=_coarse(alone))

    def hoist_children(self, tree: TreeT) -> PassSearch:
        """Put the first child in its parent's place, then the second, and so on."""
        return self._hoist_in_turn(tree, lambda node: node.children)

    def hoist_alike(self, tree: TreeT) -> PassSearch:
        """Put the next nodes of the same kind in a node's place, over what stands between.

        Where kinds alternate, as in `{"args": [{"args": []}]}`, neither the list nor what is
        in it may stand where the other stands, but an object may for an object.
        """
        return self._hoist_in_turn(tree, _next_alike)

    def hoist_largest_alike(self, tree: TreeT) -> PassSearch:
        """Do that with the largest such nodes, many at once: the first cut in a deep nesting."""
        payload, before = tree.payload, None
        while payload != before:
            before = payload
            pairs = list(_pairs(tree.nodes, _largest_alike, 0))
            changes = self._hoists(tree, pairs)
            payload = yield from make_changes(payload, changes, grain=_coarse(pairs))
            following = self.parse(payload)
            if following is None:
                break
            tree = following
        return payload

    def _hoist_in_turn(self, tree: TreeT, below: Callable[[Node], Sequence[Node]]) -> PassSearch:
        payload = tree.payload
        for place in range(MOST_ROUNDS):
            pairs = list(_pairs(tree.nodes, below, place))
            if not pairs:
                break
            payload = yield from make_changes(tree.payload, self._hoists(tree, pairs))
            following = self.parse(payload)
            if following is None:
                break
            tree = following
        return payload

    def _hoists(self, tree: TreeT, pairs: Sequence[tuple[Node, Node]]) -> list[Change]:
        changes = (self.hoist(tree, node, below) for node, below in pairs)
        return [change for change in changes if change is not None]


def _coarse(pairs: Sequence[object]) -> int:
    return max(1, -(-len(pairs) // FEW_CUTS))


def hoisting(_tree: object, node: Node, below: Node) -> Change:
    """Return what cuts all of ``node`` but ``below``."""
    return [Edit(node.start, below.start), Edit(below.end, node.end)]


def _pairs(
    nodes: Sequence[Node], below: Callable[[Node], Sequence[Node]], place: int
) -> Iterator[tuple[Node, Node]]:
    """Yield nodes with what may stand in their place; none of them between another two.

    Were two such pairs to cross, each would cut what the other keeps.
    """
    ahead: list[Node] = []  # what is put in place of others, the next one last
    for node in nodes:
        if ahead and ahead[-1] is node:
            ahead.pop()
        elif ahead and node.start <= ahead[-1].start and ahead[-1].end <= node.end:
            continue
        found = below(node)
        if len(found) > place:
            ahead.append(found[place])
            yield node, found[place]


def _next_alike(node: Node) -> list[Node]:
    """Return the nearest nodes of the same kind that aren't its children, up to `MOST_ROUNDS`."""
    found: list[Node] = []
    waiting = [child for child in reversed(node.children) if child.kind != node.kind]
    steps = 0
    while waiting and len(found) < MOST_ROUNDS and steps < MOST_ROUNDS**2:
        steps += 1
        at = waiting.pop()
        found += [child for child in at.children if child.kind == node.kind]
        waiting += [child for child in reversed(at.children) if child.kind != node.kind]
    return found


def _largest_alike(node: Node) -> list[Node]:
    return sorted(_next_alike(node), key=lambda below: below.start - below.end)[:1]
