"""Large dicts and sets: their keys, and of dicts of containers how many items lie under each.

None of the program's own code is run to look at a value. Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

from collections import deque

from .held import CONTAINER, key_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from types import FrameType
    from typing import Any

    from whet.agent.site.whet_closer.report_file import number_of, variables_of
    from whet.agent.site.whet_state import values
    from whet.agent.site.whet_state.arrays import ANY_ERROR, among, is_exactly

    from .held import Table
else:
    from whet_closer.report_file import number_of, variables_of
    from whet_state import values
    from whet_state.arrays import ANY_ERROR, among, is_exactly

_LEAST_ITEMS = 8
_MOST_KEYS, _MOST_MEMBERS, _MOST_FIELDS, _MOST_NAMES = 200_000, 200, 12, 40
_MOST_SECONDS = 0.3
"""For all looks together."""
_LEAST_KEYS, _MOST_WRITTEN, _MOST_LARGE = 41, 5_000, 20
"""Of a dict or a set with fewer keys the table of values has all."""
_SIZED = (list, tuple, set, frozenset, dict, deque)
_SCALARS = (str, int, float, bool, bytes)
_DICT: Any = dict
_TUPLE: Any = tuple


class Groups:
    """The dicts of containers that functions had when they were left, or when the program failed."""

    def __init__(self, table: Table, clock: Callable[[], float]) -> None:
        self._table = table
        self._clock = clock
        self._spent = 0.0
        self._sizes: dict[tuple[int, str], tuple[int, int]] = {}
        self._rows: dict[tuple[int, str], list[Any]] = {}
        self._keys: dict[int, list[Any]] = {}

    @property
    def keys(self) -> list[list[Any]]:
        """The large dicts and sets: number, size, and all keys."""
        return list(self._keys.values())

    @property
    def rows(self) -> list[list[Any]]:
        """The last look at each variable.

        A row is call, moment, name, number of the dict, its keys, the items under all of them;
        then the key of the largest group, the items under it, its number, how many of these were
        looked at, and their fields: name, number of different values, the rows of two of them.
        """
        return list(self._rows.values())

    def look(self, frame: FrameType, code: int, call: int, moment: int) -> None:
        """Look at the variables of a function that is left, or in which the program failed."""
        if self._spent > _MOST_SECONDS:
            return
        started = self._clock()
        try:
            for name, value, base in _keyed(frame):
                at = code, name
                size = number_of(value), base.__len__(value)
                if self._sizes.get(at) == size:
                    continue
                self._sizes[at] = size
                self._take_keys(value, base)
                row = self._row(name, value) if base is dict else []
                if row:
                    self._rows[at] = [call, moment, *row]
        except ANY_ERROR:
            return  # another thread changes it
        finally:
            self._spent += self._clock() - started

    def _take_keys(self, value: Any, base: Any) -> None:
        size, number = base.__len__(value), number_of(value)
        is_known = number in self._keys or len(self._keys) < _MOST_LARGE
        if _LEAST_KEYS <= size <= _MOST_WRITTEN and is_known:
            keys = [key_words(key, CONTAINER) for key in values.islice(base.__iter__(value), size)]
            self._keys[number] = [number, len(keys), keys]

    def _row(self, name: str, value: Any) -> list[Any]:
        total = most = 0
        key: Any = None
        largest: Any = None
        for each, group in values.islice(_DICT.items(value), _MOST_KEYS):
            kind: Any = _class_of(group)
            if not among(kind, _SIZED):
                return []
            size = len(group)
            total += size
            if size > most:
                most, key, largest = size, each, group
        if most < _LEAST_ITEMS:
            return []
        members = list(_some_of(largest, most))
        fields = [
            [field, len(seen), *(self._table.row_of(field, each) for each in _first_two(seen))]
            for field, seen in _fields(members)
        ]
        words = self._table.row_of("", key)
        return [
            name, number_of(value), _DICT.__len__(value), total, words, most, number_of(largest),
            len(members), fields,
        ]  # fmt: skip


def _keyed(frame: FrameType) -> Iterator[tuple[str, Any, Any]]:
    """Yield the dicts and sets that a function's variables hold, also those of its object.

    Those of its module are among them if it names them.
    """
    variables = variables_of(frame)
    for name, value in values.islice(list(variables.items()), _MOST_NAMES):
        base = _base_of(_class_of(value))
        if base is not None:
            yield name, value, base
        elif name == "self":
            mro = type.__dict__["__mro__"].__get__(_class_of(value))
            for own, each in values.islice(values.attributes(value, mro), _MOST_NAMES):
                base = _base_of(_class_of(each))
                if base is not None:
                    yield "self." + own, each, base
    for name in frame.f_code.co_names[:_MOST_NAMES]:
        found = frame.f_globals.get(name)
        base = _base_of(_class_of(found))
        if base is not None and name not in variables:
            yield name, found, base


def _base_of(kind: Any) -> Any:
    """Return what a dict or a set is one of; None: it is neither."""
    mro = type.__dict__["__mro__"].__get__(kind)
    for base in (dict, set, frozenset):
        if among(base, mro):
            return base
    return None


def _some_of(group: Any, size: int) -> Iterable[Any]:
    """Return some members of a group, of all its parts."""
    if among(_class_of(group), (list, tuple)):
        step = max(size // _MOST_MEMBERS, 1)
        return [group[at] for at in range(0, size, step)][:_MOST_MEMBERS]
    return values.islice(iter(group), _MOST_MEMBERS)


def _fields(members: Sequence[Any]) -> list[tuple[str, dict[Any, None]]]:
    """Return the fields that all members have, each with its different values."""
    seen: dict[str, dict[Any, None]] = {}
    times: dict[str, int] = {}
    for member in members:
        for name, value in values.islice(_parts(member), _MOST_FIELDS):
            if among(_class_of(value), _SCALARS):
                seen.setdefault(name, {})[value] = None
                times[name] = times.get(name, 0) + 1
    return [(name, found) for name, found in seen.items() if times[name] == len(members)]


def _parts(member: Any) -> Iterable[tuple[str, Any]]:
    """Return the fields of a member: a number or a text is its own."""
    kind: Any = _class_of(member)
    if among(kind, _SCALARS):
        return [("", member)]
    mro = type.__dict__["__mro__"].__get__(kind)
    if among(dict, mro):
        return [(key, each) for key, each in _DICT.items(member) if is_exactly(key, str)]
    if among(kind, (list, tuple)):
        return [(str(at), each) for at, each in enumerate(member)]
    if among(tuple, mro):
        names: Any = type.__dict__["__dict__"].__get__(kind).get("_fields", ())
        items = list(_TUPLE.__iter__(member))[: len(names)]
        return [(names[at], each) for at, each in enumerate(items)]
    return values.attributes(member, mro)


def _first_two(seen: dict[Any, None]) -> list[Any]:
    return list(values.islice(seen, 2))


def _class_of(value: object) -> Any:
    return type(value)
