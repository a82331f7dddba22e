"""What decided between two cases, on a terminal and as JSON."""

import sys

from whet.cli.console import answer, styled
from whet.cli.display.pasted import show_line
from whet.core.difference import Change
from whet.core.text.quantity import shown_count, shown_seconds
from whet.workbench.delta.delta import Delta, Side

_MOST_SHOWN = 40


def delta_json(result: Delta) -> dict[str, object]:
    """Return what was found as JSON data."""
    return {
        "what": result.what,
        "good": result.good,
        "bad": result.bad,
        "failure": result.failure,
        "differences": result.differences,
        "fails": _side_json(result.fails),
        "passes": None if result.passes is None else _side_json(result.passes),
        "left_out": list(result.left_out),
        "stopped": result.stopped.name.lower(),
        "reason": result.stopped.value,
        "trials": result.trials,
        "cached": result.cached,
        "wall_seconds": round(result.wall_seconds, 3),
    }


def _side_json(side: Side) -> dict[str, object]:
    return {
        "changes": [each.to_json() for each in side.changes],
        "file": side.file,
        **side.line.facts(),
        "stopped": side.stopped.name.lower(),
    }


def show_delta(result: Delta) -> None:
    """Show what was found."""
    count = shown_count(result.differences, result.what.removesuffix("s"))
    differ = "" if result.what == "differences" else " differ" + "s" * (result.differences == 1)
    answer(f"{result.good} → {result.bad}: {count}{differ}")
    for line in result.left_out:
        answer(f"  {styled('not switched', 'yellow', sys.stdout)}: {line}")
    answer("")
    answer(f"{result.good} with {_these(result.fails)} fails: {result.failure}")
    _show_side(result.fails, undone=False)
    if result.passes is not None:
        answer("")
        answer(f"{result.bad} without {_these(result.passes)} passes:")
        _show_side(result.passes, undone=True)
    trials = shown_count(result.trials, "trial")
    why = "" if result.stopped.is_complete else f"; {result.stopped.value}"
    answer("")
    answer(f"{trials} in {shown_seconds(result.wall_seconds)}{why}")


def _these(side: Side) -> str:
    return "this one difference" if len(side.changes) == 1 else f"these {len(side.changes)}"


def _show_side(side: Side, *, undone: bool) -> None:
    for change in side.changes[:_MOST_SHOWN]:
        answer(f"  {_change_line(change, undone=undone)}")
    if len(side.changes) > _MOST_SHOWN:
        answer(f"  and {len(side.changes) - _MOST_SHOWN} more")
    if side.file:
        answer(f"  written to {side.file}")
    show_line(side.line, "  $ ")


def _change_line(change: Change, *, undone: bool = False) -> str:
    """Return a change as a line of a diff of keys, such as ``model.layers: 2 → 4``."""
    old, new = (change.after, change.before) if undone else (change.before, change.after)
    name = change.name or change.what
    if change.what in {"line", "hunk"}:
        name = f"line {name}" if change.what == "line" else name
    if old is None:
        return styled(f"+ {name}: {new}", "green", sys.stdout)
    if new is None:
        return styled(f"- {name}: {old}", "red", sys.stdout)
    return f"  {name}: {old} → {new}"
