"""A Python value as a tree that never changes: candidates are cut from it and built again.

A function under test may change what it is given. So the value itself is read once, into
nodes, and each candidate is built fresh from nodes: none is handed out twice.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeAlias

from whet.core.value_class import value_class
from whet.search.proposal import Search


class NotBuiltError(Exception):
    """There is no such value: a class refuses it, or two keys became one."""


class Leaf(Protocol):
    """What is made smaller in a way of its own: a number, a text, an array."""

    def make(self) -> object:
        """Return the value, as an object that nobody else has; what can't change may be shared."""
        ...

    def plainest(self) -> "Leaf | None":
        """Return the plainest one of its kind; None if this is it, or nobody knows."""
        ...

    def search(self) -> "Search[Leaf, Leaf]":
        """Propose plainer ones; the last that fails is returned."""
        ...


@value_class(eq=False)
class Shape:
    """How a container is put together of its children.

    Attributes:
        kind: containers of an equal kind may stand in each other's place.
        join: returns the container of the built children; raises where there is none such.
        is_cuttable: whether children can be left out.
        defaults: of a record: for each child, whether the class has a value of its own for it.
            Such a child isn't cut out but `ABSENT`.
    """

    kind: object
    join: Callable[[list[object]], object]
    is_cuttable: bool = True
    defaults: tuple[bool, ...] = ()


class Branch:
    """A container; never changed. Trees share what was not cut, and each knows its hash.

    Attributes:
        shape: how it is put together.
        children: what it is put together of.
    """

    __slots__ = ("_hash", "children", "shape")

    def __init__(self, shape: Shape, children: "tuple[Node, ...]") -> None:
        self.shape = shape
        self.children = children
        self._hash = hash(children)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return (
            isinstance(other, Branch)
            and self._hash == other._hash
            and self.shape is other.shape
            and self.children == other.children
        )


Node: TypeAlias = Branch | Leaf

Path: TypeAlias = tuple[int, ...]
"""The way from the root: the number of a child, of a child of that, and so on."""


class _Absent:
    """Stands for a field that the class fills in on its own."""

    def make(self) -> object:
        return self

    def plainest(self) -> Leaf | None:
        return None

    def search(self) -> Search[Leaf, Leaf]:
        yield from ()
        return self


ABSENT = _Absent()


def build(node: Node) -> object:
    """Return a fresh value.

    Raises:
        NotBuiltError: if there is no such value.
    """
    if not isinstance(node, Branch):
        return node.make()
    try:
        return node.shape.join([build(child) for child in node.children])
    except (NotBuiltError, RecursionError):
        raise
    except Exception as error:
        raise NotBuiltError from error


def walk(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """Yield each node with its path, a parent before its children."""
    yield path, node
    if isinstance(node, Branch):
        for index, child in enumerate(node.children):
            yield from walk(child, (*path, index))


def put(node: Node, changes: Mapping[Path, Node]) -> Node:
    """Return the tree with other nodes at some paths, none of which leads through another."""
    if not changes:
        return node
    if () in changes:
        return changes[()]
    below: dict[int, dict[Path, Node]] = {}
    for path, new in changes.items():
        below.setdefault(path[0], {})[path[1:]] = new
    assert isinstance(node, Branch), "a path leads through containers"
    children = list(node.children)
    for index, deeper in below.items():
        children[index] = put(children[index], deeper)
    return Branch(node.shape, tuple(children))


def without(parent: Branch, gone: Sequence[int]) -> Branch:
    """Return a container without some of its children."""
    if parent.shape.defaults:
        children = list(parent.children)
        for index in gone:
            children[index] = ABSENT
        return Branch(parent.shape, tuple(children))
    left = set(gone)
    kept = (child for index, child in enumerate(parent.children) if index not in left)
    return Branch(parent.shape, tuple(kept))


def size(node: Node) -> int:
    """Return the number of nodes."""
    if isinstance(node, Branch):
        return 1 + sum(map(size, node.children))
    return 0 if node is ABSENT else 1
