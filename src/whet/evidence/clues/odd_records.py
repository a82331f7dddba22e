"""Which few records of a large table have a number that stands out from those around them, or from all others."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from whet.evidence.clues.records_in import DataRecord

_BETWEEN = re.compile(r"[,;\t|]")
_NUMBER = re.compile(r"\s*-?\d{1,18}(?:\.\d*)?\s*\Z")
_LEAST_RECORDS, _MOST_COLUMNS, _MOST_ODD = 20, 40, 4
_TIMES = 4.0
"""What stands out is so many times as far from its neighbours as any other one is from its own."""


_Odd = tuple[float, int, str]
"""How far a record stands out, which one it is, and by what."""


def odd_records(records: Sequence[DataRecord]) -> list[DataRecord]:
    """Return the records that stand out by a number, those that do so most first; then those beside the first."""
    if len(records) < _LEAST_RECORDS:
        return []
    cells = [_BETWEEN.split(each.text) for each in records]
    width = len(cells[0])
    if width > _MOST_COLUMNS or any(len(each) != width for each in cells):
        return []
    found: list[_Odd] = []
    for column in range(width):
        texts = [each[column] for each in cells]
        if all(map(_NUMBER.match, texts)):
            found += _odd_in([float(each) for each in texts], texts, column)
    odd: dict[int, DataRecord] = {}
    for _, place, says in sorted(found, reverse=True)[:_MOST_ODD]:
        odd.setdefault(place, replace(records[place], stands_out=says))
    for place in list(odd)[:1]:
        for beside in (place - 1, place + 1):
            if 0 <= beside < len(records):
                odd.setdefault(beside, records[beside])
    return list(odd.values())


def _odd_in(numbers: Sequence[float], texts: Sequence[str], column: int) -> Iterator[_Odd]:
    name = f"its {_ordinal(column + 1)} value"
    spikes = [
        (_spike(numbers[place - 1 : place + 2]), place) for place in range(1, len(numbers) - 1)
    ]
    spikes.sort(reverse=True)
    (highest, place), (next_highest, _) = spikes[:2]
    if highest > _TIMES * next_highest:
        side = "above" if numbers[place] > numbers[place - 1] else "below"
        says = (
            f"{name}, {texts[place].strip()}, is at least {_shown(highest)} {side} those before and after it,"
            f" and no other one is above or below both of them by more than {_shown(next_highest)}"
        )
        yield (highest / next_highest if next_highest else highest), place, says
        return
    order = sorted(range(len(numbers)), key=lambda place: numbers[place])
    for place, others in ((order[-1], order[:-1]), (order[0], order[1:])):
        least, most = numbers[others[0]], numbers[others[-1]]
        away = max(numbers[place] - most, least - numbers[place])
        if away > most - least:
            says = f"{name}, {texts[place].strip()}, is farther from all others than they are from each other"
            yield (away / (most - least) if most > least else away), place, says


def _spike(three: Sequence[float]) -> float:
    """Return by how much the middle one of three numbers is above both others, or below both."""
    before, own, after = three
    if (own > before) != (own > after):
        return 0.0
    return min(abs(own - before), abs(own - after))


def _ordinal(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


def _shown(number: float) -> str:
    return f"{number:.0f}" if number.is_integer() else f"{number:.6g}"
