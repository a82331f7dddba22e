"""What lies between two values: in which places they differ, and values that lie between them.

Tables are compared key by key, lists item by item: those of one length by number, others by
their longest common parts. All else that isn't the same is one difference.
"""

import difflib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TypeAlias, TypeGuard, cast

from whet.core.difference import Change
from whet.core.value_class import value_class

Step: TypeAlias = "str | int"


class Missing:
    """Stands for what doesn't exist."""


MISSING = Missing()

_MOST_PAIRS = 4_000_000
"""whet compares lists with more pairs of items by position: finding their common parts takes minutes."""


@value_class(eq=False)
class Leaf:
    """One place in which two values differ.

    Attributes:
        number: its place among all.
        path: keys and numbers of list items, from the root.
        before: what the first value has there, or `MISSING`.
        after: what the second value has there, or `MISSING`.
    """

    number: int
    path: tuple[Step, ...]
    before: object
    after: object

    def as_change(
        self, what: str = "setting", show: Callable[[object], str] | None = None
    ) -> Change:
        """Return it as a change to be shown.

        Args:
            what: what it is a change of.
            show: a value in one line; None: as JSON.
        """
        show = show or shown
        return Change(
            what=what,
            name=".".join(map(str, self.path)),
            before=None if self.before is MISSING else show(self.before),
            after=None if self.after is MISSING else show(self.after),
        )


def shown(value: object) -> str:
    """Return a value in one line."""
    return json.dumps(value, ensure_ascii=False, default=str)


@value_class(eq=False)
class _Same:
    value: object


@value_class(eq=False)
class _Table:
    items: tuple[tuple[Step, "_Node"], ...]
    is_in_both: bool
    """Else it is there only with something in it."""


@value_class(eq=False)
class _List:
    items: tuple["_Node", ...]


_Node: TypeAlias = "_Same | Leaf | _Table | _List"


class Between:
    """What lies between two values.

    Attributes:
        leaves: every place in which they differ; what belongs together stands together.
    """

    def __init__(self, before: object, after: object) -> None:
        self._found: list[Leaf] = []
        self._root = self._node(before, after, ())
        self.leaves: tuple[Leaf, ...] = tuple(self._found)

    @property
    def paths(self) -> tuple[tuple[Step, ...], ...]:
        """Where each leaf stands."""
        return tuple(leaf.path for leaf in self.leaves)

    def made(self, taken: Collection[int]) -> object:
        """Return the first value with these differences, by number, as they are in the second."""
        return _made(self._root, frozenset(taken))

    def table(self, taken: Collection[int]) -> dict[str, object]:
        """Return what `made` does, of two tables."""
        return cast("dict[str, object]", self.made(taken))

    def texts(self, taken: Collection[int]) -> dict[str, str]:
        """Return what `made` does, of two tables of texts."""
        return cast("dict[str, str]", self.made(taken))

    def _node(self, before: object, after: object, path: tuple[Step, ...]) -> _Node:
        if _are_tables(before, after):
            items = tuple(self._items(_table(before), _table(after), path))
            return _Table(items, is_in_both=MISSING is not before and MISSING is not after)
        if _is_list(before) and _is_list(after):
            return _List(tuple(self._rows(before, after, path)))
        return _Same(after) if is_same(before, after) else self._leaf(before, after, path)

    def _leaf(self, before: object, after: object, path: tuple[Step, ...]) -> Leaf:
        leaf = Leaf(len(self._found), path, before, after)
        self._found.append(leaf)
        return leaf

    def _items(
        self, before: Mapping[Step, object], after: Mapping[Step, object], path: tuple[Step, ...]
    ) -> Iterator[tuple[Step, _Node]]:
        for key in _merged(tuple(before), tuple(after)):
            old, new = before.get(key, MISSING), after.get(key, MISSING)
            yield key, self._node(old, new, (*path, key))

    def _rows(
        self, before: list[object], after: list[object], path: tuple[Step, ...]
    ) -> Iterator[_Node]:
        for place, (old, new) in enumerate(aligned(before, after)):
            yield self._node(old, new, (*path, place))


def is_same(before: object, after: object) -> bool:
    """Whether two values are one: 1, 1.0 and true are equal, and three settings."""
    return type(before) is type(after) and (before == after or repr(before) == repr(after))


def aligned(before: Sequence[object], after: Sequence[object]) -> Iterator[tuple[object, object]]:
    """Yield items of two lists in pairs; what has no partner is paired with `MISSING`."""
    if len(before) == len(after) or len(before) * len(after) > _MOST_PAIRS:
        yield from _paired(before, after)
        return
    old, new = ([repr(item) for item in items] for items in (before, after))
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for _, start, end, left, right in matcher.get_opcodes():
        yield from _paired(before[start:end], after[left:right])


def _paired(before: Sequence[object], after: Sequence[object]) -> Iterator[tuple[object, object]]:
    shorter = min(len(before), len(after))
    yield from zip(before[:shorter], after[:shorter], strict=True)
    yield from ((item, MISSING) for item in before[shorter:])
    yield from ((MISSING, item) for item in after[shorter:])


def _merged(before: Sequence[Step], after: Sequence[Step]) -> list[Step]:
    """Return the keys of both in the order of the first; a new one follows what it follows."""
    known = set(before)
    following: dict[Step | None, list[Step]] = {}
    last: Step | None = None
    for key in after:
        if key in known:
            last = key
        else:
            following.setdefault(last, []).append(key)
    merged = list(following.get(None, ()))
    for key in before:
        merged += [key, *following.get(key, ())]
    return merged


def _are_tables(before: object, after: object) -> bool:
    """Whether two values are compared key by key: two tables, or a filled one and nothing."""
    if before is MISSING:
        return _is_filled(after)
    if after is MISSING:
        return _is_filled(before)
    return type(before) is dict and type(after) is dict


def _is_filled(value: object) -> bool:
    return type(value) is dict and value != {}


def _is_list(value: object) -> TypeGuard[list[object]]:
    return isinstance(value, list)


def _table(value: object) -> Mapping[Step, object]:
    return {} if value is MISSING else cast("Mapping[Step, object]", value)


def _made(node: _Node, taken: frozenset[int]) -> object:
    if isinstance(node, _Same):
        return _copied(node.value)
    if isinstance(node, Leaf):
        return _copied(node.after if node.number in taken else node.before)
    if isinstance(node, _List):
        rows = (_made(item, taken) for item in node.items)
        return [row for row in rows if row is not MISSING]
    values = ((key, _made(item, taken)) for key, item in node.items)
    table = {key: value for key, value in values if value is not MISSING}
    return table if table or node.is_in_both else MISSING


def _copied(value: object) -> object:
    if isinstance(value, dict):
        return {key: _copied(each) for key, each in cast("Mapping[str, object]", value).items()}
    if isinstance(value, list):
        return [_copied(each) for each in cast("list[object]", value)]
    return value
