"""Reading a value into a tree: containers into branches, what is left into leaves."""

import copy
import sys
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from contextlib import suppress
from enum import Enum
from numbers import Number
from typing import cast

from whet.core.value_class import value_class
from whet.reduction.objects.atoms import atom
from whet.reduction.objects.records import Fields, attributes_of, fields_of
from whet.reduction.objects.tree import Branch, Leaf, Node, NotBuiltError, Shape, build
from whet.search.proposal import Search

DEEPEST = 100
"""whet keeps deeper values as they are: Python itself neither copies nor shows them."""

_ATOMS = (str, bytes, Number, Enum, type(None))


@value_class(eq=False)
class Opaque:
    """An object of which nothing is known but how to copy it, if that."""

    value: object
    is_copied: bool

    @classmethod
    def of(cls, value: object) -> "Opaque":
        """Return a leaf; copying is tried once, as a copy that fails deep down takes long."""
        with suppress(Exception):  # a lock, a socket, a generator
            copy.deepcopy(value)
            return cls(value, is_copied=True)
        return cls(value, is_copied=False)

    def make(self) -> object:
        """Return a copy; the object itself where it can't be copied."""
        with suppress(Exception):
            return copy.deepcopy(self.value) if self.is_copied else self.value
        return self.value

    def plainest(self) -> Leaf | None:
        """Return None: nothing is known to be plainer."""
        return None

    def search(self) -> Search[Leaf, Leaf]:
        """Propose nothing."""
        yield from ()
        return self


class _CycleError(Exception):
    """A container holds itself."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class Reader:
    """Reads one value.

    A container that holds itself is kept as it is, as are those deeper than ``DEEPEST``.
    """

    def __init__(self) -> None:
        self._open: set[int] = set()
        self._shapes: dict[object, Shape] = {}

    def read(self, value: object) -> Node:
        """Return the tree of a value."""
        if isinstance(value, _ATOMS):
            return atom(value)
        number = id(value)
        if number in self._open:
            raise _CycleError(number)
        if len(self._open) >= DEEPEST:
            return Opaque.of(value)
        self._open.add(number)
        try:
            return self._container(value)
        except _CycleError as cycle:
            if cycle.number != number:
                raise
            return Opaque.of(value)
        finally:
            self._open.discard(number)

    def _container(self, value: object) -> Node:
        kind = type(value)
        if issubclass(kind, Mapping):
            node = self._mapping(cast("Mapping[object, object]", value))
        elif issubclass(kind, list | deque | set | frozenset) or kind is tuple:
            node = self._elements(cast("Iterable[object]", value))
        else:
            node = self._record(value) or _grid_of(value) or self._instance(value)
        return Opaque.of(value) if node is None or not _is_buildable(node) else node

    def _mapping(self, value: Mapping[object, object]) -> Node | None:
        join = _joining(value, _update)
        if join is None:
            return None
        items = tuple(
            Branch(_PAIR, (self.read(key), self.read(each))) for key, each in value.items()
        )
        return Branch(self._shape(type(value), join), items)

    def _elements(self, value: Iterable[object]) -> Node | None:
        join = _joining(value, _extend)
        if join is None:
            return None
        elements: Iterable[object] = value
        if issubclass(type(value), set | frozenset):
            # Sets of texts have another order in each process.
            elements = sorted(value, key=_by_text)
        return Branch(
            self._shape(type(value), join), tuple(self.read(element) for element in elements)
        )

    def _record(self, value: object) -> Node | None:
        return self._of_fields(value, fields_of(value))

    def _instance(self, value: object) -> Node | None:
        return self._of_fields(value, attributes_of(value))

    def _of_fields(self, value: object, fields: Fields | None) -> Node | None:
        if fields is None:
            return None
        shape = Shape(
            kind=type(value),
            join=fields.join,
            is_cuttable=any(fields.defaults),
            defaults=fields.defaults,
        )
        return Branch(shape, tuple(self.read(each) for each in fields.values))

    def _shape(self, kind: type, join: Callable[[list[object]], object]) -> Shape:
        if kind not in _BUILTIN:
            return Shape(kind=kind, join=join)
        return self._shapes.setdefault(kind, Shape(kind=kind, join=join))


_PAIR = Shape(kind="pair", join=tuple, is_cuttable=False)

_BUILTIN: Mapping[type, Callable[[list[object]], object]] = {
    list: lambda children: children,
    tuple: tuple,
    set: lambda children: _whole(set(children), children),
    frozenset: lambda children: _whole(frozenset(children), children),
    dict: lambda children: _whole(dict(cast("list[tuple[object, object]]", children)), children),
}


def _joining(
    value: object, fill: Callable[[object, list[object]], None]
) -> Callable[[list[object]], object] | None:
    """Return what joins children to a container like ``value``; None if nobody knows how."""
    kind = type(value)
    if kind in _BUILTIN:
        return _BUILTIN[kind]
    # A class of its own: `defaultdict`, `OrderedDict`, `deque` with its length.
    empty: object = None
    with suppress(Exception):
        empty = copy.copy(value)
        cast("list[object]", empty).clear()
    if not isinstance(empty, Sized) or len(empty):
        return None

    def join(children: list[object]) -> object:
        fresh = copy.copy(empty)
        fill(fresh, children)
        return _whole(fresh, children)

    return join


def _update(container: object, children: list[object]) -> None:
    for key, value in cast("list[tuple[object, object]]", children):
        # Not `update`: a `Counter` would count.
        cast("dict[object, object]", container)[key] = value


def _extend(container: object, children: list[object]) -> None:
    if isinstance(container, set):
        cast("set[object]", container).update(children)
    else:
        cast("list[object]", container).extend(children)


def _whole(container: object, children: Sequence[object]) -> object:
    # Two keys may have become one: that is another value than the one proposed.
    if len(cast("Sequence[object]", container)) != len(children):
        raise NotBuiltError
    return container


def _by_text(value: object) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def _grid_of(value: object) -> Leaf | None:
    """Return the leaf of an array or a table, if the value's own library makes it one."""
    library = type(value).__module__.partition(".")[0]
    if library not in {"numpy", "pandas", "torch"} or library not in sys.modules:
        return None
    if library == "pandas":
        from whet.reduction.objects.tables import table_of

        return table_of(value)
    from whet.reduction.objects.grids import grid_of

    return grid_of(value)


def _is_buildable(node: Node) -> bool:
    try:
        build(node)
    except NotBuiltError:
        return False
    return True
