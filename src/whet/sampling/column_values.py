"""The values of one column of a batch: the first of each, and its extremes, mostly found by C."""

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from types import NoneType
from typing import cast

from whet.sampling.values import (
    Measure,
    identity_of,
    may_be_number,
    measure_of,
    number_in,
    starts_number,
)

EXACT = 1 << 53
"""Up to here each whole number has a float of its own."""


def first_values(values: Sequence[object], places: Sequence[int]) -> Iterator[tuple[object, int]]:
    """Yield each value, as something hashable, with the place of a first row; most kinds at once."""
    if {*map(type, values)} <= {str, int, NoneType}:
        # What comes later in a dict takes the place of what was there.
        return iter(dict(zip(reversed(values), reversed(places), strict=True)).items())
    return zip(map(identity_of, values), places, strict=True)


def extreme_values(
    values: Sequence[object], places: Sequence[int]
) -> Iterator[tuple[Measure, int]]:
    """Yield the extremes among values by what they are compared by, with their first places."""
    kinds = {*map(type, values)}
    ends: Iterable[object] | None = None
    if kinds <= {str, NoneType}:
        ends = _extremes_of([*filter(None, cast("Sequence[str | None]", values))])
    elif kinds <= {int, float, NoneType}:
        ends = _ends_of(
            [each for each in cast("Sequence[float | None]", values) if each is not None]
        )
    if ends is None:
        yield from zip(map(measure_of, values), places, strict=True)
        return
    for value in (*(empty for empty in (None, "") if empty in values), *ends):
        yield measure_of(value), places[values.index(value)]


def _ends_of(numbers: Sequence[float]) -> Sequence[float] | None:
    """Return the least and the largest number; None: there may be a NaN among them."""
    with suppress(OverflowError):  # a whole number that no float holds
        if not math.isnan(sum(numbers)):
            return (min(numbers), max(numbers)) if numbers else ()
    return None


def _extremes_of(texts: Sequence[str]) -> Iterator[str]:
    """Yield the numbers and the other texts that are extremes; a few that aren't do no harm."""
    numbers = _numbers_of(texts)
    if numbers is not None:
        yield from _least_and_largest(texts, numbers)
        return
    if any(map(starts_number, {text[:1] for text in texts})):
        numeric = numbers_among(texts)
        yield from extreme_numbers(numeric)
        others = {*texts} - {*numeric}
        texts = [text for text in texts if text in others]
    if texts:
        lengths = [*map(len, texts)]
        yield texts[lengths.index(min(lengths))]
        yield texts[lengths.index(max(lengths))]


def numbers_among(texts: Sequence[str]) -> Sequence[str]:
    """Return those of some texts that are numbers, each once."""
    return [
        text for text in dict.fromkeys(texts) if may_be_number(text) and number_in(text) is not None
    ]


def extreme_numbers(texts: Sequence[str]) -> Sequence[str]:
    """Return the least and the largest of texts that are numbers; all if a float doesn't tell."""
    return _least_and_largest(texts, _numbers_of(texts))


def _least_and_largest(texts: Sequence[str], numbers: Sequence[float] | None) -> Sequence[str]:
    """Return the texts of the least and of the largest number; all if a float doesn't tell."""
    if not numbers:
        return texts
    least, largest = min(numbers), max(numbers)
    if math.isnan(sum(numbers)) or max(-least, largest) >= EXACT:
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
