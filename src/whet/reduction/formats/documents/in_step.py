"""Changes of a tree made in step: two parts that go together can only be changed together.

A schema and what it describes, a list of fields and the rows that have them: whatever is cut from
the one alone makes the failure another one. Such parts call what belongs together by one name, or
stand side by side and nest alike. There are thousands of pairs of changes; few are tried, and only
where nothing else helps any more.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, islice, pairwise, product
from typing import Generic, TypeVar

from whet.core.value_class import value_class
from whet.reduction.edit import Change, Edit, first_that_fails, make_changes, splice
from whet.reduction.formats.text.tree import Node, Tree, TreeSearch
from whet.reduction.reduction_pass import PassSearch, ReductionPass, Stage

TreeT = TypeVar("TreeT", bound=Tree)

MOST_LEVELS = 3
"""How many levels up a node moves: over a list of properties, and over the list's parent."""

MOST_WAYS = 27
"""How many ways whet tries to move up all nodes of one name: each of three by up to three levels."""

NEAREST, MOST_PAIRS = 100, 120
"""How many moves nearest to the root, and pairs of them, whet tries."""


@value_class
class _Move:
    """A node that replaces the one that it is in, ``levels`` levels up."""

    top: Node
    levels: int
    change: Change


@value_class
class InStep(Generic[TreeT]):
    """The changes in step of the trees of one format.

    Attributes:
        trees: how a tree is changed in one place.
    """

    trees: TreeSearch[TreeT]

    def passes(self, noun: str) -> tuple[ReductionPass[TreeT], ...]:
        """Return them as passes; ``noun`` is what a node is called."""
        return (
            ReductionPass(name=f"delete {noun} in step", stage=Stage.PAIRS, search=self.delete),
            ReductionPass(name=f"hoist {noun} in step", stage=Stage.PAIRS, search=self.hoist),
        )

    def delete(self, tree: TreeT) -> PassSearch:
        """Delete all that has one name, wherever it stands."""
        cuts: dict[int, Change] = {}
        for node in tree.nodes:
            found = zip(node.children, self.trees.cuts(tree, node), strict=False)
            cuts |= {id(child): cut for child, cut in found}
        changes = [
            [edit for node in nodes for edit in cuts.get(id(node), ())]
            for nodes in _named(tree).values()
        ]
        return make_changes(tree.payload, [_sorted(each) for each in changes if len(each) > 1])

    def hoist(self, tree: TreeT) -> PassSearch:
        """Put nodes instead of what they stand in, several at once, until none can go up."""
        while True:
            smaller = yield from first_that_fails(self._hoisted(tree))
            if smaller is None:
                return tree.payload
            following = self.trees.parse(smaller)
            if following is None:
                return smaller
            tree = following

    def _hoisted(self, tree: TreeT) -> Iterator[bytes]:
        above = {id(child): node for node in tree.nodes for child in node.children}
        for moves in (*self._by_name(tree, above), *self._by_depth(tree, above)):
            edits = [edit for move in moves for edit in move.change]
            yield splice(tree.payload, _sorted(edits))

    def _by_name(self, tree: TreeT, above: dict[int, Node]) -> Iterator[Sequence[_Move]]:
        """Yield moves of all that has one name, none of them within another."""
        for nodes in _named(tree).values():
            moves = (list(self._moves(tree, node, above)) for node in nodes)
            ways = [each for each in moves if each]
            if len(ways) > 1:
                yield from filter(_are_apart, islice(product(*ways), MOST_WAYS))

    def _by_depth(self, tree: TreeT, above: dict[int, Node]) -> Iterator[Sequence[_Move]]:
        """Yield pairs of moves, neither within the other, those near the root first."""
        moves = [move for node in tree.nodes for move in self._moves(tree, node, above)]
        moves = sorted(moves, key=lambda move: (move.top.depth, move.levels))[:NEAREST]
        pairs = filter(_are_apart, combinations(moves, 2))
        nearest = sorted(pairs, key=lambda pair: sum(it.top.depth + it.levels for it in pair))
        yield from nearest[:MOST_PAIRS]

    def _moves(self, tree: TreeT, node: Node, above: dict[int, Node]) -> Iterator[_Move]:
        top = node
        for levels in range(1, MOST_LEVELS + 1):
            if id(top) not in above:
                return
            top = above[id(top)]
            change = self.trees.hoist(tree, top, node)
            if change is not None:
                yield _Move(top, levels, change)


def _are_apart(moves: Sequence[_Move]) -> bool:
    tops = sorted((move.top for move in moves), key=lambda top: top.start)
    return all(one.end <= other.start for one, other in pairwise(tops))


def _named(tree: Tree) -> dict[bytes, list[Node]]:
    """Return what stands under each name, or is a text that says it, in more than one place."""
    found: dict[bytes, list[Node]] = {}
    for node in tree.nodes:
        key = tree.payload[node.outer_start : node.start]
        text = key if key or node.children else tree.payload[node.start : node.end]
        name = text.strip(b" \t\r\n:\"'-")
        if name:
            found.setdefault(name, []).append(node)
    return {name: nodes for name, nodes in found.items() if len(nodes) > 1}


def _sorted(edits: Sequence[Edit]) -> list[Edit]:
    return sorted(edits, key=lambda edit: (edit.start, -edit.end))
