"""A table of values: each is written down once, with its number in memory and what it holds.

None of the program's own code is run to look at a value. Standard library only, Python 3.8 or later.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, TypeAlias

    from whet.agent.site.whet_closer.report_file import number_of
    from whet.agent.site.whet_state import arrays, values
    from whet.agent.site.whet_state.arrays import ANY_ERROR, among
    from whet.agent.site.whet_state.secret_rule import MASK, masked
    from whet.agent.site.whet_state.values import label, plain_name, type_name

    Row: TypeAlias = tuple[Any, ...]
else:
    from whet_closer.report_file import number_of
    from whet_state import arrays, values
    from whet_state.arrays import ANY_ERROR, among
    from whet_state.secret_rule import MASK, masked
    from whet_state.values import label, plain_name, type_name

_MOST_DEPTH = 3
_MOST_VALUES = 160
"""In one variable."""
_MOST_ITEMS = 40
_MOST_SEARCHED, _MOST_MISSING = 4000, 4
"""Of a sequence no longer than this, what is `None` or NaN is kept wherever it stands."""
_MOST_CHARACTERS = 160
_MOST_BITS = 4096
_MOST_KEPT = 100_000
_MOST_COUNTED = 4096
"""whet shows larger arrays by type and shape."""

SCALAR, CONTAINER, OBJECT, ARRAY, OTHER = "scalar", "container", "object", "array", "other"
_SCALARS = (int, float, bool, str, bytes, complex, type(None))
_CONTAINERS = (dict, list, tuple, set, frozenset)
_GENERATORS = {"generator": "gi_frame", "coroutine": "cr_frame", "async_generator": "ag_frame"}
_NAMED = {"function", "builtin_function_or_method", "method", "module", "method-wrapper"}


class Table:
    """The values that were seen; each row is kind, type, words, number, size, parts and facts.

    The number is `id` (0 for what can't change), a part is a key and the row of what it leads to.
    """

    def __init__(self, is_own: Callable[[str], bool]) -> None:
        """Make it ready; of modules whose files are the user's own the data are looked at."""
        self._is_own = is_own
        self.rows: list[Row] = []
        self._known: dict[Row, int] = {}
        self._left = 0
        self._kept: dict[int, object] = {}
        self._now: dict[int, int] = {}
        self._scalars: dict[tuple[str, Any], int] = {}

    def row_of(self, name: str, value: object) -> int:
        """Return the row of what a variable holds now."""
        self._left = _MOST_VALUES
        if among(type(value), (str, bytes)):
            return self._named(name, value, 0)  # by another name it may be a secret
        known = self._now.get(number_of(value))
        if known is None:
            known = self._now[number_of(value)] = self._named(name, value, 0)
        return known

    def go_on(self) -> None:
        """Forget what was looked at: the program runs again, and may change it."""
        self._now.clear()

    def let_go(self) -> None:
        """Hold nothing of the program any more: there is nothing to look at after this."""
        self._kept.clear()

    def _named(self, name: object, value: object, depth: int) -> int:
        kind = type(value)
        is_text = kind is str or kind is bytes
        if kind is int or kind is float or (is_text and type(name) is not str):
            self._left -= 1
            return self._known_scalar(value, kind)
        if type(name) is str and is_text and values.is_secret(name, value):
            return self._add((SCALAR, plain_name(kind), MASK, 0, 0, (), None))
        self._left -= 1
        try:
            return self._row(value, kind, depth)
        except ANY_ERROR:
            return self._add((OTHER, type_name(kind), "", number_of(value), 0, (), None))

    def _known_scalar(self, value: Any, kind: type) -> int:
        """Return the row of a number or a text; most values are such that were seen before."""
        if kind is float and not (value < 0 or value > 0):
            return self._scalar(value, kind)  # of zero there are two; NaN isn't even itself
        if (kind is str or kind is bytes) and len(value) > _MOST_CHARACTERS:
            return self._scalar(value, kind)
        known = self._scalars.get((kind.__name__, value))
        if known is None:
            known = self._scalars[kind.__name__, value] = self._scalar(value, kind)
        return known

    def _add(self, row: Row) -> int:
        known = self._known.get(row[:6])
        if known is None:
            known = self._known[row[:6]] = len(self.rows)
            self.rows.append(row)
        return known

    def _row(self, value: Any, kind: type, depth: int) -> int:
        if among(kind, _SCALARS):
            return self._scalar(value, kind)
        mro = type.__dict__["__mro__"].__get__(kind)
        name, plain = type_name(kind), plain_name(kind)
        if among(type, mro):
            data = _of_class(value)
            return self._parts((OBJECT, "type", label(value), len(data)), value, data, depth)
        if name == "re.Match":
            found: dict[Any, Any] = {0: value.group(), **value.groupdict()}
            groups: tuple[Any, ...] = value.groups()
            found.update(enumerate(groups, 1))
            return self._parts((CONTAINER, name, "", len(found)), value, found.items(), depth)
        if plain in values.PLAIN.get(arrays.module_of(kind), ()):
            return self._add((SCALAR, name, repr(value)[:_MOST_CHARACTERS], 0, 0, (), None))
        if plain == "module" and self._is_own(str(value.__dict__.get("__file__", ""))):
            data = _of_module(value)
            return self._parts((OBJECT, name, label(value), len(data)), value, data, depth)
        if plain in _NAMED or plain in _GENERATORS:
            words = "over" if _is_over(value, _GENERATORS.get(plain, "")) else label(value)
            return self._add((OTHER, name, words, number_of(value), 0, (), None))
        array = _array(value, mro)
        if array is not None:
            return self._array(value, name, array)
        return self._made_of_others(value, mro, name, depth)

    def _array(self, value: Any, name: str, array: Any) -> int:
        if array.get("k") == "scalar":
            words = repr(value.item())[:_MOST_CHARACTERS]
            return self._add((SCALAR, name, words, 0, 0, (), None))
        return self._add((ARRAY, name, repr(array), number_of(value), 0, (), array))

    def _made_of_others(self, value: Any, mro: tuple[type, ...], name: str, depth: int) -> int:
        for base in _CONTAINERS:
            if among(base, mro):
                return self._container(value, base, name, depth)
        deque: Any = getattr(sys.modules.get("collections"), "deque", None)
        if deque is not None and among(deque, mro):
            items: Any = enumerate(deque.__iter__(value))
            return self._parts((CONTAINER, name, "", deque.__len__(value)), value, items, depth)
        own = values.attributes(value, mro)
        return self._parts((OBJECT, name, _state_of(value, name), len(own)), value, own, depth)

    def _scalar(self, value: Any, kind: type) -> int:
        size = 0
        if among(kind, (str, bytes)):
            size = len(value)
            cut = value[: 2 * _MOST_CHARACTERS]
            words = repr(masked(cut)) if kind is str else repr(cut)
            words = words[:_MOST_CHARACTERS]
        elif kind is int and value.bit_length() > _MOST_BITS:
            words = "an int of {} bits".format(value.bit_length())
        else:
            words = repr(value)
        return self._add((SCALAR, kind.__name__, words, 0, size, (), None))

    def _container(self, value: Any, base: Any, name: str, depth: int) -> int:
        size = base.__len__(value)
        items: Any
        if among(base, (dict,)) and size > _MOST_ITEMS:
            half = _MOST_ITEMS // 2
            last = list(values.islice(reversed(base.items(value)), half))
            items = [*last[::-1], *values.islice(base.items(value), half)]
        elif among(base, (dict,)):
            items = base.items(value)
        elif among(base, (set, frozenset)):
            items = ((each, None) for each in base.__iter__(value))
        elif size > _MOST_ITEMS:
            half = _MOST_ITEMS // 2
            some = [*range(size - half, size), *range(half)]
            if size <= _MOST_SEARCHED:
                some[:0] = _missing_in(value, base, range(half, size - half))
            items = [(each, base.__getitem__(value, each)) for each in some]
        else:
            items = enumerate(base.__iter__(value))
        return self._parts((CONTAINER, name, "", size), value, items, depth)

    def _parts(
        self,
        told: tuple[str, str, str, int],
        value: object,
        items: Iterable[tuple[object, object]],
        depth: int,
    ) -> int:
        """Return the row of what has parts; told is its kind, its type, its words and its size."""
        kind, name, words, size = told
        parts: list[tuple[str, int]] = []
        if depth < _MOST_DEPTH:
            for key, each in values.islice(items, _MOST_ITEMS + _MOST_MISSING):
                if self._left < 0:
                    break
                parts.append((key_words(key, kind), self._named(key, each, depth + 1)))
        if size > _MOST_ITEMS and kind == CONTAINER:  # what was put in last was looked at first
            half = _MOST_ITEMS // 2
            at = next((n for n, (key, _) in enumerate(parts) if key == "0"), half)
            parts = [*parts[at:], *parts[:at]]
        row = self._add((kind, name, words, number_of(value), size, tuple(parts), None))
        if kind == CONTAINER and self._is_data(parts) and len(self._kept) < _MOST_KEPT:
            self._kept[number_of(value)] = value  # or another one gets its number
        return row

    def _is_data(self, parts: Iterable[tuple[str, int]]) -> bool:
        """Whether all parts are numbers and texts: nobody waits for the end of what holds them."""
        return all(self.rows[row][0] == SCALAR for _, row in parts)


def _missing_in(value: Any, base: Any, places: Iterable[int]) -> list[int]:
    """Return the first places at which a sequence has no value or NaN."""
    found: list[int] = []
    left = _MOST_SEARCHED
    for place in places:
        each: Any = base.__getitem__(value, place)
        kind = _type_of(each)
        if kind is not dict and kind is not list and kind is not tuple:
            left -= 1
            is_found = _is_missing(each)
        else:
            inside = _values_of(each) if kind is dict else each
            left -= len(inside)
            is_found = left >= 0 and any(map(_is_missing, inside))
        if left < 0:
            break
        if is_found:
            found.append(place)
            if len(found) == _MOST_MISSING:
                break
    return found


_values_of: Any = vars(dict)["values"]


def _is_missing(value: object) -> bool:
    """Whether it is no value, or NaN."""
    return value is None or (type(value) is float and not (value < 0 or value >= 0))


def key_words(key: Any, kind: str) -> str:
    """Return a key as the program would write it; an attribute by its name."""
    if kind == OBJECT:
        return str(key)
    own = _type_of(key)
    if own is int and -1 < key < _MOST_SEARCHED:
        return str(key)
    if among(own, (str,)):
        return repr(masked(key[:_MOST_CHARACTERS]))[:_MOST_CHARACTERS]
    if among(own, _SCALARS):
        return repr(key)[:_MOST_CHARACTERS]
    if among(own, (tuple,)) and all(among(each, _SCALARS) for each in map(type, key)):
        return masked(repr(key))[:_MOST_CHARACTERS]
    return "<{}>".format(type_name(own))


def _type_of(value: object) -> type:
    return type(value)


def _is_over(value: Any, frame: str) -> bool:
    """Whether a generator has come to its end."""
    return bool(frame) and getattr(value, frame) is None


def _state_of(value: Any, name: str) -> str:
    """Return what a file or a connection of Python's own is in; empty: open, or anything else."""
    if name == "_io.TextIOWrapper":
        value = value.buffer
        name = type_name(_type_of(value))
    if name.startswith("_io."):
        return "closed" if value.closed else ""
    if name == "sqlite3.Connection":
        try:
            return "in a transaction" if value.in_transaction else ""
        except ANY_ERROR:
            return "closed"
    return ""


def _of_module(value: Any) -> list[tuple[str, object]]:
    """Return the data that a module holds."""
    return [
        (name, each)
        for name, each in list(value.__dict__.items())
        if type(name) is str
        and not name.startswith("__")
        and any(type(each) is kind for kind in (*_SCALARS, *_CONTAINERS))
    ]


def _of_class(value: type) -> list[tuple[str, object]]:
    """Return the data that a class holds for all its objects."""
    own: Any = type.__dict__["__dict__"].__get__(value)
    return [
        (name, each)
        for name, each in list(own.items())
        if type(name) is str
        and not name.startswith("__")
        and any(type(each) is kind for kind in (*_SCALARS, *_CONTAINERS))
    ]


def _array(value: Any, mro: tuple[type, ...]) -> Any:
    """Return an array or a table as data; None: it is neither."""
    numpy = sys.modules.get("numpy")
    array: Any = getattr(numpy, "ndarray", None)
    if array is not None and among(array, mro):
        plain: Any = array.view(value, array)
        if plain.size > _MOST_COUNTED:
            return {"k": "array", "shape": list(plain.shape), "dtype": str(plain.dtype)}
    return arrays.read(value, mro, _nothing)


def _nothing(_values: Iterable[object]) -> list[Any]:
    return []
