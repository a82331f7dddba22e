"""What happens in a shrink, as one JSON object on a line for each thing."""

from whet.cli.console import answer_json
from whet.core.event import (
    Event,
    Notice,
    PassStarted,
    PayloadReduced,
    SearchStopped,
    TrialFinished,
)


def answer_event(event: Event) -> None:
    """Write one event of a shrink on standard output; what no shrink tells is left out."""
    facts = _facts(event)
    if facts:
        answer_json(facts, on_one_line=True)


def _facts(event: Event) -> dict[str, object]:
    match event:
        case TrialFinished():
            return {
                "event": "trial",
                "trial": event.number,
                "verdict": event.verdict.value,
                "what": event.label,
                "is_warm": bool(event.outcome.resumed_from),
                "is_known": event.number is None,
                "wall_seconds": round(event.outcome.wall_seconds, 4),
            }
        case PayloadReduced():
            return {
                "event": "reduced",
                "before_bytes": event.before_bytes,
                "after_bytes": event.after_bytes,
                "by_pass": event.by_pass,
            }
        case PassStarted():
            return {"event": "pass", "pass": event.name, "best_bytes": event.best_bytes}
        case SearchStopped():
            return {
                "event": "stopped",
                "stopped": event.reason.name.lower(),
                "reason": event.reason.value,
                "trials": event.trials,
                "wall_seconds": round(event.wall_seconds, 3),
            }
        case Notice():
            return {"event": "note", "text": event.text}
        case _:
            return {}
