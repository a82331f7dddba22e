"""The parameters of an estimator that decide its size, found by their names and values.

A size is a whole number (``forest__n_estimators``), an entry of a list of them
(``hidden_layer_sizes[0]``), or what a search tries of one parameter (``param_grid.C``): how many
values or, where the values are sizes, the greatest of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Dict

Sizes = Dict[str, int]

_LEAST = 2
_SIZE = re.compile(r"^(n|max|num)_|_sizes?$|^(k|cv)$")
_NO_SIZE = re.compile(r"jobs|no_|cache|class(es)?$|_df$|state|seed|verbose")
_GRID = re.compile(r"^param_")


def sizes_of(parameters: dict[str, Any]) -> Sizes:
    """Return the sizes among the parameters of an estimator."""
    found: Sizes = {}
    for name, value in parameters.items():
        found.update(_sizes(name, plain(value)))
    return {name: size for name, size in found.items() if size > _LEAST}


def changed(parameters: dict[str, Any], sizes: Sizes) -> dict[str, Any]:
    """Return the parameters that have other values with these sizes."""
    new = {name: _resized(name, plain(value), sizes) for name, value in parameters.items()}
    return {name: value for name, value in new.items() if value is not _SAME and name in parameters}


def plain(value: Any) -> Any:
    """Return a number or a list for one of numpy's."""
    if isinstance(value, type):
        return value
    as_list = getattr(value, "tolist", None)
    return value if as_list is None else as_list()


_SAME: Any = object()


def _sizes(name: str, value: Any) -> Iterator[tuple[str, int]]:
    if _is_size(name):
        if _is_count(value):
            yield name, value
        elif _is_list(value) and all(_is_count(each) for each in value):
            yield from (("%s[%d]" % (name, place), size) for place, size in enumerate(value))
    elif _GRID.match(_last(name)):
        for place, grid in _grids(name, value):
            for key, tried in grid.items():
                numbers = _numbers(plain(tried))
                if numbers:
                    yield "%s.%s" % (place, key), _size_of_tried(key, numbers)


def _resized(name: str, value: Any, sizes: Sizes) -> Any:
    """Return a value with other sizes; `_SAME`: it has none that differ."""
    if name in sizes:
        return _SAME if sizes[name] == value else sizes[name]
    if _is_size(name) and _is_list(value):
        new = [sizes.get("%s[%d]" % (name, place), size) for place, size in enumerate(value)]
        return _SAME if new == list(value) else type(value)(new)
    if not _GRID.match(_last(name)):
        return _SAME
    grids = {
        place: {key: _fewer(place, key, tried, sizes) for key, tried in grid.items()}
        for place, grid in _grids(name, value)
    }
    if all(each is _SAME for grid in grids.values() for each in grid.values()):
        return _SAME
    whole = [
        {key: new[key] if new[key] is not _SAME else tried for key, tried in grid.items()}
        for new, (_, grid) in zip(grids.values(), _grids(name, value))
    ]
    return whole if _is_list(value) else whole[0]


def _fewer(place: str, key: str, tried: Any, sizes: Sizes) -> Any:
    """Return fewer of the values that a search tries, those that are no numbers among them."""
    values = plain(tried)
    numbers = _numbers(values)
    size = sizes.get("%s.%s" % (place, key))
    if size is None or size == _size_of_tried(key, numbers):
        return _SAME
    others = [each for each in values if not _is_number(each)]
    if not _is_size(key):
        return others + numbers[:size]
    return others + ([each for each in numbers if each <= size] or [size])


def _size_of_tried(key: str, numbers: list[Any]) -> int:
    return int(max(numbers)) if _is_size(key) else len(numbers)


def _grids(name: str, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each grid of a search with its place: there may be a list of them."""
    if _is_list(value):
        for place, grid in enumerate(value):
            yield from _grids("%s[%d]" % (name, place), grid)
    elif isinstance(value, dict):
        yield name, value


def _numbers(values: Any) -> list[Any]:
    """Return the numbers that a list holds; none if it holds more than plain values."""
    if not _is_list(values) or not all(
        each is None or isinstance(each, (bool, int, float, str)) for each in values
    ):
        return []
    return [each for each in values if _is_number(each)]


def _is_size(name: str) -> bool:
    last = _last(name)
    return bool(_SIZE.search(last)) and not _NO_SIZE.search(last)


def _last(name: str) -> str:
    return name.rpartition("__")[2]


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
