"""Is the smallest file that whet finds the smallest there is? Counted out for the nested documents.

Every JSON text of up to so many bytes is made and given to what dies of it in the case
``manifest.json``, in this process: ``python -m benchmarks.shrink.minima`` with toml 0.10.2
installed. Letters and digits stand for all others of their kind: the program looks at none.
"""

import importlib
import json
from collections.abc import Callable, Iterator
from functools import cache

MOST_BYTES = 11
_LEAVES = ("0", "1", "-1", "true", "false", "null", "0.5", "1e1", "NaN", "Infinity")
_TEXTS = ('""', '"a"', '"b"', '"aa"', '"ab"', '" "', '"."')
_WORDS = "'int' object is not iterable"


@cache
def values(size: int) -> tuple[str, ...]:
    """Return the JSON values of exactly ``size`` bytes, without blanks."""
    plain = [each for each in (*_LEAVES, *_TEXTS) if len(each) == size]
    if size < len("[]"):
        return tuple(plain)
    inner = size - len("[]")
    arrays = [f"[{','.join(items)}]" for items in rows(inner)]
    objects = [f"{{{','.join(items)}}}" for items in members(inner)]
    return (*plain, *arrays, *objects)


@cache
def rows(size: int) -> tuple[tuple[str, ...], ...]:
    """Return the lists of values that take ``size`` bytes with their commas."""
    return tuple(_joined(size, values))


@cache
def members(size: int) -> tuple[tuple[str, ...], ...]:
    """Return the lists of members of an object that take ``size`` bytes with their commas."""
    return tuple(_joined(size, pairs))


@cache
def pairs(size: int) -> tuple[str, ...]:
    """Return the members of an object of ``size`` bytes."""
    return tuple(
        f"{key}:{value}"
        for key in _TEXTS
        if len(key) + 1 < size
        for value in values(size - len(key) - 1)
    )


def _joined(size: int, items: Callable[[int], tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    if not size:
        yield ()
    for first_size in range(1, size + 1):
        rest_size = size - first_size - 1
        if rest_size == -1:
            yield from ((first,) for first in items(first_size))
        elif rest_size > 0:
            rests = list(_joined(rest_size, items))
            yield from ((first, *rest) for first in items(first_size) for rest in rests)


def is_interesting(text: str) -> bool:
    """Return whether the program of the case dies of a text as it does of the whole file."""
    document = json.loads(text)
    if not isinstance(document, dict):
        return False
    try:
        importlib.import_module("toml").dumps(document)
    except TypeError as error:
        return str(error) == _WORDS
    except (ValueError, AttributeError, IndexError, KeyError):
        return False
    return False


def count_out() -> None:
    """Print how many texts of each size there are, and which of them fail."""
    for size in range(2, MOST_BYTES + 1):
        texts = values(size)
        found = [text for text in texts if text.startswith("{") and is_interesting(text)]
        print(f"{size:3} bytes: {len(texts):9,} values, {len(found):6,} fail  {found[:4]}")


if __name__ == "__main__":
    count_out()
