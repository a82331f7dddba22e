"""What `whet starve --find` has found, in lines and in JSON."""

import sys

from whet.cli.console import verdict_word
from whet.core.failure import Failure, FailureSignature
from whet.core.text.quantity import shown_count, shown_seconds
from whet.workbench.starve.starve import LeastAmount, TriedAmount

_BAR = 30
_WIDEST = 100


def least_lines(found: LeastAmount) -> list[str]:
    """Return the answer, how it fails with less, and time against amount."""
    lines = [_answer(found)]
    lines += ["", *_pictured(found), *_failures(found)]
    trials = shown_count(found.trials, "trial")
    by = dict.fromkeys(way.rpartition(" by ")[2] for way in found.limited_by)
    ways = f"; enforced by {', '.join(by)}" if by else ""
    end = f"{trials} in {shown_seconds(found.wall_seconds)}; {found.stopped.value}{ways}"
    return [*lines, "", end]


def _answer(found: LeastAmount) -> str:
    is_counted = found.name in {"files", "processes", "cpus"}
    enough, little = ("are enough", "are too few") if is_counted else ("is enough", "is too little")
    if found.least_good is None:
        return f"none of the tested amounts of {found.name} {enough}"
    below = f"{found.most_bad} {little}" if found.most_bad else "whet tested nothing below that"
    what = {"gpu": "GPU memory"}.get(found.name, found.name)
    of = f" {what}" if is_counted else f" of {what}"
    return f"{found.least_good}{of} {enough}; {below}"


def least_json(found: LeastAmount) -> dict[str, object]:
    """Return it as JSON data."""
    return {
        "schema_version": 1,
        "name": found.name,
        "least_good": found.least_good,
        "most_bad": found.most_bad,
        "free_wall_seconds": found.free,
        "tried": [tried.to_json() for tried in found.amounts],
        "limited_by": list(found.limited_by),
        "stopped": found.stopped.name.lower(),
        "reason": found.stopped.value,
        "trials": found.trials,
        "wall_seconds": found.wall_seconds,
    }


def _pictured(found: LeastAmount) -> list[str]:
    """Return a row for each amount, with a bar as long as it ran."""
    longest = max((tried.wall_seconds for tried in found.amounts), default=0.0) or 1.0
    width = max((len(tried.shown) for tried in found.amounts), default=0)
    return [
        f"  {tried.shown:>{width}}  {verdict_word(tried.verdict, sys.stdout):4}  "
        f"{'▇' * max(1, round(_BAR * tried.wall_seconds / longest)):{_BAR}}  "
        f"{shown_seconds(tried.wall_seconds):>8}  trial {tried.trial}"
        for tried in reversed(found.amounts)
    ]


def _failures(found: LeastAmount) -> list[str]:
    ways: dict[FailureSignature, list[tuple[TriedAmount, Failure]]] = {}
    for tried in reversed(found.amounts):
        if tried.failed is not None:
            ways.setdefault(tried.failed.signature, []).append((tried, tried.failed))
    lines = ["", "with less, it fails:"] if ways else []
    for (most, failure), *others in ways.values():
        span = f"{others[-1][0].shown} to {most.shown}" if others else most.shown
        lines.append(f"  {span}: {_shortened(failure.plain or failure.summary)}")
    return lines


def _shortened(words: str) -> str:
    return words if len(words) <= _WIDEST else f"{words[: _WIDEST - 1]}…"
