"""The texts of one column of a batch: the first of each, and its extremes, mostly found by C."""

import math
from collections.abc import Iterator, Sequence

from whet.sampling.values import (
    MISSING,
    Measure,
    may_be_number,
    measure_of,
    number_in,
    starts_number,
)

_EXACT = 1 << 53
"""Up to here each whole number has a float of its own."""


def first_texts(
    values: Sequence[str | None], places: Sequence[int]
) -> Iterator[tuple[object, int]]:
    """Yield each value with its first place."""
    # What comes later in a dict takes the place of what was there.
    firsts = dict(zip(reversed(values), reversed(places), strict=True))
    yield from firsts.items()


def extreme_texts(
    values: Sequence[str | None], places: Sequence[int]
) -> Iterator[tuple[Measure, int]]:
    """Yield the extremes among texts by what they are compared by, with their first places."""
    texts = [text for text in values if text is not None]
    if len(texts) < len(values):
        yield MISSING, places[values.index(None)]
    for text in _extremes_of(texts):
        yield measure_of(text), places[values.index(text)]


def _extremes_of(texts: Sequence[str]) -> Iterator[str]:
    """Yield the numbers and the other texts that are extremes; a few that aren't do no harm."""
    numbers = _numbers_of(texts)
    if numbers is not None:
        yield from _least_and_largest(texts, numbers)
        return
    if any(map(starts_number, {text[:1] for text in texts})):
        numeric = {
            text: None
            for text in dict.fromkeys(texts)
            if may_be_number(text) and number_in(text) is not None
        }
        yield from _least_and_largest([*numeric], _numbers_of([*numeric]))
        texts = [text for text in texts if text not in numeric]
    if texts:
        lengths = [*map(len, texts)]
        yield texts[lengths.index(min(lengths))]
        yield texts[lengths.index(max(lengths))]


def _least_and_largest(texts: Sequence[str], numbers: Sequence[float] | None) -> Sequence[str]:
    """Return the texts of the least and of the largest number; all if a float doesn't tell."""
    if not numbers:
        return texts
    least, largest = min(numbers), max(numbers)
    if math.isnan(sum(numbers)) or max(-least, largest) >= _EXACT:
        return texts
    return [texts[numbers.index(least)], texts[numbers.index(largest)]]


def _numbers_of(texts: Sequence[str]) -> list[float] | None:
    """Return the numbers that texts are; None: not each is one for sure."""
    together = "".join(texts)
    if not together.isascii() or "_" in together:
        return None
    try:
        return [*map(float, texts)]
    except ValueError:
        return None
