"""Cells that hold other values: lists, and structures with named fields, as columns of Parquet do."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TypeAlias, TypeVar, cast

from whet.reduction.edit import first_that_fails
from whet.reduction.formats.arrays.array_values import followed
from whet.reduction.formats.text.plain_values import shorter_text, simpler_values, simplest_number
from whet.search.batch import LazyBatch
from whet.search.proposal import Search
from whet.search.subsets.delta import minimize

Put: TypeAlias = Callable[[object], bytes]
ValueT = TypeVar("ValueT")


def simpler_cell(cell: object, put: Put) -> Search[bytes, object]:
    """Look for what is plainer than a cell; return what is there then.

    Args:
        cell: what is there.
        put: the payload with another value there.
    """
    if isinstance(cell, list | tuple):
        put_items = put if isinstance(cell, list) else partial(_put_tuple, put)
        return (yield from _simpler_items(list(cast("Iterable[object]", cell)), put_items))
    if isinstance(cell, dict):
        return (yield from _simpler_fields(dict(cast("dict[object, object]", cell)), put))
    return (yield from _simpler_leaf(cell, put))


def _put_tuple(put: Put, items: Iterable[object]) -> bytes:
    """Put the key and the value of a map, which are a tuple."""
    return put(tuple(items))


def _simpler_items(
    items: list[object], put: Callable[[list[object]], bytes]
) -> Search[bytes, object]:
    if items and (yield from first_that_fails([put([])])) is not None:
        return []
    items = yield from _last(partial(_shorter, items), put, items)
    for place, item in enumerate(items):
        items[place] = yield from simpler_cell(item, partial(_put_item, items, place, put))
    return items


def _put_item(
    items: list[object], place: int, put: Callable[[list[object]], bytes], item: object
) -> bytes:
    return put([*items[:place], item, *items[place + 1 :]])


def _simpler_fields(fields: dict[object, object], put: Put) -> Search[bytes, object]:
    for key, value in fields.items():
        fields[key] = yield from simpler_cell(value, partial(_put_field, fields, key, put))
    return fields


def _put_field(fields: dict[object, object], key: object, put: Put, value: object) -> bytes:
    return put({**fields, key: value})


def _simpler_leaf(leaf: object, put: Put) -> Search[bytes, object]:
    for plain in simpler_values(leaf):
        if (yield from first_that_fails([put(plain)])) is not None:
            return plain
    return (yield from _last(partial(_brought_down, leaf), put, leaf))


def _brought_down(leaf: object, put: Put) -> Search[bytes, None]:
    if isinstance(leaf, bool):
        return
    if isinstance(leaf, int | float) and leaf not in {0, 1}:
        is_whole = isinstance(leaf, int)
        yield from simplest_number(
            leaf, lambda value: put(int(value) if is_whole else float(value)), is_whole=is_whole
        )
    elif isinstance(leaf, str) and len(leaf) > 1:
        yield from shorter_text(leaf, put)


def _shorter(items: Sequence[object], put: Callable[[list[object]], bytes]) -> Search[bytes, None]:
    """Delete as many items as the failure survives."""
    search = minimize(len(items))
    with suppress(StopIteration):
        batch = next(search)
        while True:
            lists = ([items[index] for index in kept.elements()] for kept in batch)
            batch = search.send((yield LazyBatch(map(put, lists))))


def _last(
    search: Callable[[Callable[[ValueT], bytes]], Search[bytes, None]],
    put: Callable[[ValueT], bytes],
    value: ValueT,
) -> Search[bytes, ValueT]:
    """Return the last value of a search that failed; ``value`` if none did."""
    made: dict[bytes, ValueT] = {}

    def noted(other: ValueT) -> bytes:
        payload = put(other)
        if payload:  # nothing: the column can't hold it
            made[payload] = other
        return payload

    return made.get((yield from followed(search(noted), b"")), value)
