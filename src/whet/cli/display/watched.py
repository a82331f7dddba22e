"""What `whet watch` shows where there is no terminal: lines, for people or as JSON."""

from collections.abc import Sequence
from dataclasses import replace

from whet.core.observations.panel import Reading, Sight
from whet.core.text.quantity import shown_seconds

_MOST_LINES = 20
_MOST_ROWS = 5
_TIMES_WIDTH = 8


def sight_lines(sight: Sight, before: Sight | None, *, is_over: bool = False) -> list[str]:
    """Return lines on what has changed since the sight that was shown before.

    A line has a time. Once the program has ended (`is_over`) it has no processes, which is no news. A panel with a headline is one part of the first line; text of a command,
    and rows of a table, follow it.
    """
    known = {} if before is None else {each.panel: each for each in before.readings}
    changed = [
        each for each in sight.readings
        if each.panel not in known or _signal(each) != _signal(known[each.panel])
    ]  # fmt: skip
    head = f"{shown_seconds(sight.seconds):>{_TIMES_WIDTH}}"
    lines = [f"{head}  ! {each}" for each in sight.events]
    words = [_words(each) for each in changed if not is_over or not each.reason]
    if any(words):
        lines.append(f"{head}  {' · '.join(filter(None, words))}")
    for each in changed:
        old = known.get(each.panel)
        lines += [f"{'':{_TIMES_WIDTH}}  {each}" for each in _below(each, old)]
    return lines


def sight_json(sight: Sight) -> dict[str, object]:
    """Return a sight as JSON data."""
    return {
        "seconds": round(sight.seconds, 3),
        "panels": [
            {**each.to_json(), "numbers": {number.name: number.value for number in each.numbers}}
            for each in sight.readings
        ],
        "events": list(sight.events),
    }


def _words(reading: Reading) -> str:
    """Return a panel's signal in a few words; empty: its text says it."""
    if reading.reason and not reading.headline:
        return f"{reading.title}: {reading.reason}"
    if not reading.headline:
        return ""
    level = " ".join(filter(None, [reading.column, reading.headline]))
    title = f"{reading.title}:" if reading.column else reading.title
    goes_on = reading.detail[:1].isalpha()  # `of 85 GB`, `allocated, 2 MB reserved`
    return f"{title} {(' ' if goes_on else ', ').join(filter(None, [level, reading.detail]))}"


def _below(reading: Reading, before: Reading | None) -> list[str]:
    """Return the lines and rows that are other than before, as far as there is room for them."""
    old_lines = () if before is None else before.lines
    lines = [line for line in _text(reading) if line not in old_lines]
    if reading.reason and reading.headline:
        lines.append(reading.reason)
    rows = aligned(reading.table[: _MOST_ROWS + 1]) if reading.table else []
    old_rows = () if before is None else before.table
    shown = rows if _rows_of(reading.table) != _rows_of(old_rows) else []
    cut = [*lines, *shown]
    more = len(cut) - _MOST_LINES
    return cut if more <= 0 else [*cut[:_MOST_LINES], f"… {more} more lines"]


def _rows_of(table: Sequence[Sequence[str]]) -> list[str]:
    """Return what a row is about: its last cell, as the others are numbers that change all the time."""
    return [row[-1] for row in table[1 : _MOST_ROWS + 1]]


def aligned(table: Sequence[Sequence[str]]) -> list[str]:
    """Return the rows of a table: all columns but the last are aligned to the right."""
    if not table:
        return []
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            [*(cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=False)), row[-1]]
        )
        for row in table
    ]


def _signal(reading: Reading) -> Reading:
    """Return what a line is worth: not that a detail is another."""
    rows = tuple((row[-1],) for row in reading.table)
    return replace(reading, numbers=(), detail="", table=rows, lines=_text(reading))


def _text(reading: Reading) -> tuple[str, ...]:
    """Return the text of a panel, unless its number says all of it."""
    return () if reading.headline and len(reading.lines) == 1 else reading.lines
