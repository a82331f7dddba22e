"""Where a value came from that turned up elsewhere: which payload, and which trials name it."""

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from whet.core.observations.evidence import MADE
from whet.core.text.quantity import listed
from whet.core.text.record import (
    JsonObject,
    as_record,
    decoded,
    items_of,
    optional_text,
    records,
    text,
)
from whet.core.trial import Trial
from whet.make.explain import coordinates, guards_like, parsed
from whet.notebook.notebook import Notebook
from whet.workbench.trials.bench import Workbench

_MOST_ORIGINS = 20
_MOST_TRIALS = 1000
"""So many of the last trials are asked whether they name a file."""


def explained(bench: Workbench, value: str) -> list[str]:
    """Return in sentences what a value says: each possible origin on a line of its own."""
    guards = list(guards_like(value))
    if guards:
        found = [
            f"perhaps of {origin}"
            for detail, origin in _made(bench)
            if optional_text(detail, "fill") == "deadbeef"
        ]
        nothing = "whet made nothing here with guards; `whet make array --fill deadbeef` does"
        return [f"{value} is {each}" for each in guards] + (found or [nothing])
    number = parsed(value)
    if number is None:
        return [f"`{value}` is neither a number nor a guard; guards are like 0xdeadbeef"]
    found = [
        f"{_place(index, detail)} of {origin}"
        for detail, origin in _made(bench)
        if optional_text(detail, "fill") == "coordinates"
        and (index := coordinates(number, _lengths(detail))) is not None
    ]
    return found or _unknown(value, number)


def _unknown(value: str, number: float) -> list[str]:
    index = coordinates(number, (10**15, 1000))
    lines = ["no array that whet made here has such an element"]
    if index is not None:
        lines.append(f"in an array with two axes, {value} would be element {list(index)}")
    lines.append("`whet make array --shape 4,20 --fill coordinates -o x.npy` makes one")
    return lines


def _made(bench: Workbench) -> Iterator[tuple[JsonObject, str]]:
    """Yield what was made, the newest first: what is known of it, and its origin in words.

    Files come first, then what programs made in trials with `whet.make`.
    """
    for number, row in enumerate(bench.notebook.made()):
        if number == _MOST_ORIGINS:
            break
        detail = as_record(decoded(text(row, "detail")), "detail")
        file = text(row, "file")
        name = os.path.relpath(file, bench.project.folder)
        shown = file if name.startswith(os.pardir) else name
        on = text(row, "made_at")[:16].replace("T", " ")
        origin = (
            f"`{shown}` ({text(detail, 'summary')}), made on {on} UTC by `{text(row, 'command')}`"
        )
        yield detail, f"{origin}{_trials_with(bench.notebook, file)}"
    known = set[str]()
    for trial, observed in islice(bench.notebook.trials_with(MADE), _MOST_ORIGINS):
        for detail in records(observed, "made"):
            named, what = optional_text(detail, "name"), text(detail, "summary", "")
            shown = f"`{named}` ({what})" if named else f"an unnamed {what}"
            if shown not in known:
                known.add(shown)
                yield detail, f"{shown}, made by trial {trial}"


def _lengths(detail: JsonObject) -> tuple[int, ...]:
    return tuple(each for each in items_of(detail.get("shape")) if isinstance(each, int))


def _place(index: tuple[int, ...], detail: JsonObject) -> str:
    columns = detail.get("columns")
    if isinstance(columns, list):
        row, column = index
        return f"row {row}, column `{columns[column]}`"
    return f"element {list(index)}"


def _trials_with(notebook: Notebook, file: str) -> str:
    """Return in words which trials name a file; nothing if none does."""
    found = [
        str(entry.number) for entry in notebook.entries(_MOST_TRIALS) if _names(entry.trial, file)
    ]
    if not found:
        return ""
    return f"; trial{'s' if found[1:] else ''} {listed(found[::-1])} named it"


def _names(trial: Trial, file: str) -> bool:
    return any(os.path.normpath(Path(trial.cwd, word)) == file for word in trial.command)
