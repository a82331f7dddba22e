"""What `whet starve --find` has found, in lines and in JSON."""

import sys

from whet.cli.console import verdict_word
from whet.core.failure import Failure, FailureSignature
from whet.core.text.quantity import shown_count, shown_seconds
from whet.workbench.starve.starve import LeastAmount, TriedAmount

_BAR = 30
_WIDEST = 100


def least_lines(least: LeastAmount) -> list[str]:
    """Return the answer, how it fails with less, and time against amount."""
    lines = [_answer(least)]
    lines += ["", *_pictured(least), *_failures(least)]
    trials = shown_count(least.trials, "trial")
    by = dict.fromkeys(way.rpartition(" by ")[2] for way in least.limited_by)
    ways = f"; enforced by {', '.join(by)}" if by else ""
    end = f"{trials} in {shown_seconds(least.wall_seconds)}; {least.stopped.value}{ways}"
    return [*lines, "", end]


def _answer(least: LeastAmount) -> str:
    is_counted = least.name in {"files", "processes", "cpus"}
    enough, little = ("are enough", "are too few") if is_counted else ("is enough", "is too little")
    if least.least_good is None:
        return f"none of the tested amounts of {least.name} {enough}"
    below = f"{least.most_bad} {little}" if least.most_bad else "whet tested nothing below that"
    what = {"gpu": "GPU memory"}.get(least.name, least.name)
    of = f" {what}" if is_counted else f" of {what}"
    return f"{least.least_good}{of} {enough}; {below}"


def least_json(least: LeastAmount) -> dict[str, object]:
    """Return it as JSON data."""
    return {
        "schema_version": 1,
        "name": least.name,
        "least_good": least.least_good,
        "most_bad": least.most_bad,
        "free_wall_seconds": least.free,
        "tried": [amount.to_json() for amount in least.amounts],
        "limited_by": list(least.limited_by),
        "stopped": least.stopped.name.lower(),
        "reason": least.stopped.value,
        "trials": least.trials,
        "wall_seconds": least.wall_seconds,
    }


def _pictured(least: LeastAmount) -> list[str]:
    """Return a row for each amount, with a bar as long as it ran."""
    longest = max((amount.wall_seconds for amount in least.amounts), default=0.0) or 1.0
    width = max((len(amount.shown) for amount in least.amounts), default=0)
    return [
        f"  {amount.shown:>{width}}  {verdict_word(amount.verdict, sys.stdout):4}  "
        f"{'▇' * max(1, round(_BAR * amount.wall_seconds / longest)):{_BAR}}  "
        f"{shown_seconds(amount.wall_seconds):>8}  trial {amount.trial}"
        for amount in reversed(least.amounts)
    ]


def _failures(least_amount: LeastAmount) -> list[str]:
    ways: dict[FailureSignature, list[tuple[TriedAmount, Failure]]] = {}
    for amount in reversed(least_amount.amounts):
        if amount.failed is not None:
            ways.setdefault(amount.failed.signature, []).append((amount, amount.failed))
    lines = ["", "with less, it fails:"] if ways else []
    for (most, failure), *others in ways.values():
        span = f"{others[-1][0].shown} to {most.shown}" if others else most.shown
        lines.append(f"  {span}: {_shortened(failure.plain or failure.summary)}")
    return lines


def _shortened(words: str) -> str:
    return words if len(words) <= _WIDEST else f"{words[: _WIDEST - 1]}…"
