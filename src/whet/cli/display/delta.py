"""What decided between two cases, on a terminal and as JSON."""

import sys

from whet.cli.console import answer, styled
from whet.core.difference import Change
from whet.core.text.quantity import shown_count, shown_seconds
from whet.workbench.delta.delta import Delta, Side

_MOST_SHOWN = 40


def delta_json(found: Delta) -> dict[str, object]:
    """Return what was found as JSON data."""
    return {
        "what": found.what,
        "good": found.good,
        "bad": found.bad,
        "failure": found.failure,
        "differences": found.differences,
        "fails": _side_json(found.fails),
        "passes": None if found.passes is None else _side_json(found.passes),
        "left_out": list(found.left_out),
        "stopped": found.stopped.name.lower(),
        "reason": found.stopped.value,
        "trials": found.trials,
        "cached": found.cached,
        "wall_seconds": round(found.wall_seconds, 3),
    }


def _side_json(side: Side) -> dict[str, object]:
    return {
        "changes": [each.to_json() for each in side.changes],
        "file": side.file,
        "line": side.line,
        "stopped": side.stopped.name.lower(),
    }


def show_delta(found: Delta) -> None:
    """Show what was found."""
    count = shown_count(found.differences, found.what.removesuffix("s"))
    differ = "" if found.what == "differences" else " differ" + "s" * (found.differences == 1)
    answer(f"{found.good} → {found.bad}: {count}{differ}")
    for line in found.left_out:
        answer(f"  {styled('not switched', 'yellow', sys.stdout)}: {line}")
    answer("")
    answer(f"{found.good} with {_these(found.fails)} fails: {found.failure}")
    _show_side(found.fails, undone=False)
    if found.passes is not None:
        answer("")
        answer(f"{found.bad} without {_these(found.passes)} passes:")
        _show_side(found.passes, undone=True)
    trials = shown_count(found.trials, "trial")
    why = "" if found.stopped.is_complete else f"; {found.stopped.value}"
    answer("")
    answer(f"{trials} in {shown_seconds(found.wall_seconds)}{why}")


def _these(side: Side) -> str:
    return "this one difference" if len(side.changes) == 1 else f"these {len(side.changes)}"


def _show_side(side: Side, *, undone: bool) -> None:
    for change in side.changes[:_MOST_SHOWN]:
        answer(f"  {_change_line(change, undone=undone)}")
    if len(side.changes) > _MOST_SHOWN:
        answer(f"  and {len(side.changes) - _MOST_SHOWN} more")
    if side.file:
        answer(f"  written to {side.file}")
    answer(f"  $ {side.line}")


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
