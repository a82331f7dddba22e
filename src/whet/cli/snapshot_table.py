"""The frozen copies of a program, as a table and in JSON."""

from collections.abc import Sequence

from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.execution.snapshot_pool import Rung
from whet.workbench.loop.loop import Cycle

_HEAD = ("", "copy at", "saves", "age", "memory", "has looked at", "")
_TO_THE_RIGHT = frozenset({2, 3, 4, 5})
_NOTHING = "nothing in it took longer than 50 ms"


def ladder_lines(cycle: Cycle) -> list[str]:
    """Return the copies as a table, the deepest first, and where there are none."""
    rungs, start = cycle.rungs(), cycle.start
    lines = _table([_HEAD, *map(_row, rungs)]) if rungs else []
    lines += [f"    no copy at {each.place or 'the start'}: {each.why}" for each in start.missing]
    if not rungs and not start.missing:
        lines.append(f"    no copies: {start.halted or _NOTHING}")
    return lines


def ladder_json(cycle: Cycle) -> dict[str, object]:
    """Return the copies as JSON data."""
    return {
        "ladder": [rung.to_json() for rung in cycle.rungs()],
        "missing": [{"place": each.place, "why": each.why} for each in cycle.start.missing],
        "effects": list(cycle.start.effects),
    }


def _row(rung: Rung) -> tuple[str, ...]:
    return (
        ">" if rung.is_start else "",
        rung.place,
        shown_seconds(rung.saves_seconds),
        shown_seconds(rung.age_seconds),
        shown_bytes(rung.own_bytes),
        shown_count(rung.looks, "file"),
        f"not used: {rung.refused}" if rung.refused else "",
    )


def _table(rows: Sequence[tuple[str, ...]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if index in _TO_THE_RIGHT else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
