"""Identifiers of tokens in a configuration: they must stay inside a smaller vocabulary, and apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from . import fields

_NAME = re.compile(
    r"(token_ids?|token_index|(suppress|begin_suppress|forced)_tokens|pad_idx|_token)$"
)
_COUNT = re.compile(r"^(num|max|n|min)_")


def keep_inside(tree: Any) -> None:
    """Give each token that is outside of its vocabulary a number at the end of it."""
    vocabularies = [
        value
        for path, value in fields.numbers(tree)
        if fields.VOCABULARY.search(fields.name_of(path))
    ]
    if not vocabularies:
        return
    largest = max(vocabularies)
    places = [(path, fields.get(tree, path)) for path in _places(tree, ())]
    used = {value for _, value in places}
    moved: dict[tuple[int, int], int] = {}
    for path, value in sorted(places, key=lambda place: place[1]):
        size = _vocabulary_at(tree, path) or largest
        if value >= size:
            if (size, value) not in moved:
                moved[size, value] = _free(size, used)
            fields.put(tree, path, moved[size, value])


def _free(size: int, used: set[int]) -> int:
    number = next((each for each in range(size - 1, -1, -1) if each not in used), size - 1)
    used.add(number)
    return number


def _vocabulary_at(tree: Any, path: fields.Path) -> int:
    value = fields.get(tree, fields.section_of(path)).get("vocab_size")
    return value if fields.is_number(value) else 0


def _places(tree: Any, path: fields.Path) -> Iterator[fields.Path]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _places(value, (*path, key))
        elif not isinstance(key, str) or not _NAME.search(key) or _COUNT.search(key):
            continue
        elif fields.is_number(value) and value >= 0:
            yield (*path, key)
        elif fields.is_list(value) and all(map(fields.is_number, value)):
            tree[key] = list(value)
            yield from ((*path, key, place) for place, each in enumerate(value) if each >= 0)
