"""The frozen copies of a program, as a table and in JSON."""

from collections.abc import Sequence

from whet.core.text.quantity import shown_bytes, shown_count, shown_seconds
from whet.execution.snapshot_pool import SnapshotRow
from whet.workbench.loop.loop import Cycle

_HEAD = ("", "copy at", "saves", "age", "memory", "has read", "")
_TO_THE_RIGHT = frozenset({2, 3, 4, 5})
_NOTHING = "no step took longer than 50 ms"


def ladder_lines(cycle: Cycle) -> list[str]:
    """Return the copies as a table, the deepest first, and where there are none."""
    snapshot_rows, start = cycle.snapshot_rows(), cycle.start
    lines = _table([_HEAD, *map(_row, snapshot_rows)]) if snapshot_rows else []
    lines += [f"    no copy at {each.place or 'the start'}: {each.why}" for each in start.missing]
    if not snapshot_rows and not start.missing:
        lines.append(f"    no copies: {start.halted or _NOTHING}")
    return lines


def ladder_json(cycle: Cycle) -> dict[str, object]:
    """Return the copies as JSON data."""
    return {
        "ladder": [row.to_json() for row in cycle.snapshot_rows()],
        "missing": [{"place": each.place, "why": each.why} for each in cycle.start.missing],
        "effects": [str(each) for each in cycle.start.effects],
    }


def _row(row: SnapshotRow) -> tuple[str, ...]:
    return (
        ">" if row.is_start else "",
        row.place,
        shown_seconds(row.saves_seconds),
        shown_seconds(row.age_seconds),
        shown_bytes(row.own_bytes),
        shown_count(row.looks, "file"),
        f"not used: {row.refused}" if row.refused else "",
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
