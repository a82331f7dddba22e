"""What is tried on a tree: cut, hoist, make plain; all over the one delta debugging."""

from collections.abc import Callable, Iterator, Sequence

from whet.core.verdict import Verdict
from whet.reduction.objects.atoms import Atom, atom
from whet.reduction.objects.tree import (
    ABSENT,
    Branch,
    Leaf,
    Node,
    Path,
    put,
    size,
    walk,
    without,
)
from whet.search.batch import LazyBatch
from whet.search.proposal import Search
from whet.search.rendering import rendering
from whet.search.subsets.delta import Kept, minimize

NodeSearch = Search[Node, Node]
"""Proposes trees. It continues from each BAD one, and returns the last."""


def reduce_tree(tree: Node) -> NodeSearch:
    """Propose smaller and plainer trees until none of them fails.

    In the end no element can be left out alone, no field set back to its default, no container
    replaced by one of its kind that is in it, and no leaf made plainer.
    """
    passes: tuple[Callable[[Node], NodeSearch], ...] = (
        cut_levels, hoist, make_plain, settle_leaves, put_nothing,
    )  # fmt: skip
    while True:
        before = tree
        for each in passes:
            tree = yield from each(tree)
        if tree == before:
            return tree


def cut_levels(tree: Node) -> NodeSearch:
    """Leave out elements, level by level from the top: whole records before their fields."""
    depth = 0
    while parents := _parents(tree, depth):
        tree = yield from _cut(tree, parents)
        depth += 1
    return tree


def _parents(tree: Node, depth: int) -> list[tuple[Path, Branch]]:
    """Return the containers at a depth; empty if there are none, nor any deeper."""
    level: list[tuple[Path, Node]] = [((), tree)]
    for _ in range(depth):
        level = [
            ((*path, index), child)
            for path, node in level
            if isinstance(node, Branch)
            for index, child in enumerate(node.children)
        ]
    return [(path, node) for path, node in level if isinstance(node, Branch)]


def _cut(tree: Node, parents: Sequence[tuple[Path, Branch]]) -> NodeSearch:
    units = [
        (which, index)
        for which, (_, parent) in enumerate(parents)
        if parent.shape.is_cuttable
        for index in _cuttable(parent)
    ]

    def render(kept: Kept) -> Node:
        staying = {units[number] for number in kept.elements()}
        gone: dict[int, list[int]] = {}
        for unit in units:
            if unit not in staying:
                gone.setdefault(unit[0], []).append(unit[1])
        return put(
            tree,
            {parents[which][0]: without(parents[which][1], cut) for which, cut in gone.items()},
        )

    return (yield from rendering(minimize(len(units)), render, tree))


def _cuttable(parent: Branch) -> Iterator[int]:
    defaults = parent.shape.defaults
    for index, child in enumerate(parent.children):
        if not defaults or (defaults[index] and child is not ABSENT):
            yield index


def hoist(tree: Node) -> NodeSearch:
    """Replace containers by one of their kind that is in them."""
    done: set[Path] = set()
    while True:
        following = next(
            ((path, node) for path, node in walk(tree) if path not in done and _is_nested(node)),
            None,
        )
        if following is None:
            return tree
        path, node = following
        inner = _inner(node)
        batch = LazyBatch(put(tree, {path: each}) for each in inner)
        verdicts = (yield batch) if batch else [Verdict.GOOD]
        if verdicts[-1] is Verdict.BAD:
            tree = batch[len(verdicts) - 1]
        else:
            done.add(path)


def _is_nested(node: Node) -> bool:
    return isinstance(node, Branch) and any(isinstance(child, Branch) for child in node.children)


def _inner(node: Node) -> list[Node]:
    """Return what of its kind is in a container: halves first, they bring most at a time."""
    assert isinstance(node, Branch)
    whole = size(node)
    sized = [
        (size(each), each)
        for path, each in walk(node)
        if path and isinstance(each, Branch) and each.shape.kind == node.shape.kind
    ]
    sized.sort(key=lambda each: (2 * each[0] > whole, -each[0]))
    return [each for _, each in sized]


def make_plain(tree: Node) -> NodeSearch:
    """Make as many leaves as plain as can be, all at once."""
    changes: dict[Path, Node] = {
        path: plain
        for path, leaf in _leaves(tree)
        for plain in (leaf.plainest(),)
        if plain is not None
    }
    return (yield from _change(tree, changes))


def put_nothing(tree: Node) -> NodeSearch:
    """Put None instead of what has parts, or an inside that nobody knows, and can't go."""
    depth = 0
    while level := [(path, node) for path, node in walk(tree) if len(path) >= depth]:
        depth += 1
        changes: dict[Path, Node] = {
            path: _NOTHING
            for path, node in level
            if len(path) == depth and not isinstance(node, Atom) and not _is_empty(node)
        }
        tree = yield from _change(tree, changes)
    return tree


_NOTHING = atom(None)


def _is_empty(node: Node) -> bool:
    # An empty list says more than None does.
    return node is ABSENT or (isinstance(node, Branch) and not node.children)


def _change(tree: Node, changes: dict[Path, Node]) -> NodeSearch:
    """Make as many of the changes as the failure survives."""
    paths = list(changes)

    def render(kept: Kept) -> Node:
        unchanged = {paths[number] for number in kept.elements()}
        return put(tree, {path: new for path, new in changes.items() if path not in unchanged})

    return (yield from rendering(minimize(len(paths)), render, tree))


def settle_leaves(tree: Node) -> NodeSearch:
    """Make each leaf as plain as the failure lets it be, one after the other."""
    for path, leaf in list(_leaves(tree)):
        tree = yield from _settled(tree, path, leaf)
    return tree


def _settled(tree: Node, path: Path, leaf: Leaf) -> NodeSearch:
    search = leaf.search()
    try:
        wanted = next(search)
        while True:
            start = tree
            batch: LazyBatch[Node] = LazyBatch(put(start, {path: each}) for each in wanted)
            verdicts = yield batch
            if verdicts[-1] is Verdict.BAD:
                tree = batch[len(verdicts) - 1]
            wanted = search.send(verdicts)
    except StopIteration:
        return tree


def _leaves(tree: Node) -> Iterator[tuple[Path, Leaf]]:
    for path, node in walk(tree):
        if not isinstance(node, Branch) and node is not ABSENT:
            yield path, node
