"""The facts of an investigation as JSON data."""

import base64

from whet.host.trial.trial_secrets import masked_words
from whet.report.answer import answer_of
from whet.report.wording import is_text
from whet.workbench.trials.changed_part import SmallestPart, Undoing
from whet.workbench.trials.investigation import (
    Investigation,
    NoisySearch,
    Reproduction,
    ShrunkPayload,
    VersionSearch,
)

SCHEMA_VERSION = 1
"""Rises when a field changes its meaning or goes."""


def facts_of(investigation: Investigation) -> dict[str, object]:
    """Return all that the report says, as JSON data."""
    failure = investigation.failure
    return {
        "schema_version": SCHEMA_VERSION,
        "investigation": investigation.number,
        "command": masked_words(investigation.trial.command),
        "command_line": investigation.command_line,
        "folder": investigation.folder,
        "started_at": investigation.started_at,
        "wall_seconds": round(investigation.wall_seconds, 3),
        "bad_means": investigation.oracle,
        "failure": None if failure is None else failure.to_json(),
        "last_lines": investigation.last_lines,
        "seen": investigation.seen,
        "answer": answer_of(investigation).to_json(),
        "clues": [clue.to_json() for clue in investigation.clues],
        "reproduction": _reproduction(investigation.reproduction),
        "history": None if investigation.history is None else history_facts(investigation.history),
        "history_remark": investigation.history_remark,
        "part": None if investigation.part is None else part_facts(investigation.part),
        "payloads": [_payload(payload) for payload in investigation.payloads],
        "reproducer": None
        if investigation.reproducer is None
        else investigation.reproducer.to_json(),
        "steps": [step.to_json() for step in investigation.steps],
        "trials": [
            {
                "trial": each.number,
                "step": each.step,
                "verdict": None if each.verdict is None else each.verdict.value,
                "did": each.did,
            }
            for each in investigation.trials
        ],
        "conclusions": list(investigation.conclusions),
        "interpreter": investigation.interpreter,
        "platform": investigation.platform,
        "packages": dict(investigation.packages),
        "resources": None if investigation.resources is None else investigation.resources.to_json(),
    }


def _reproduction(reproduction: Reproduction) -> dict[str, object]:
    return {
        "attempts": reproduction.attempts,
        "same_failures": reproduction.same_failures,
        "rate": reproduction.rate,
        "is_deterministic": reproduction.is_deterministic,
        "other_outcomes": list(reproduction.other_failures),
        "median_wall_seconds": reproduction.wall_seconds,
        "median_peak_rss_bytes": reproduction.peak_rss_bytes,
        "exit_code": reproduction.exit_code,
        "trials": list(reproduction.trials),
    }


def history_facts(history: VersionSearch) -> dict[str, object]:
    """Return what a search over versions found, as JSON data."""
    return {
        "kind": history.kind,
        "subject": history.subject,
        "terms": [history.old_term, history.new_term],
        "good": history.good,
        "bad": history.bad,
        "first_bad": history.first_bad,
        "first_bad_description": history.first_bad_description,
        "suspects": list(history.suspects),
        "between": history.between,
        "tested": [
            {
                "version": tested.label,
                "verdict": tested.verdict.value,
                "trial": tested.trial,
                "description": tested.description,
                "remark": tested.remark,
            }
            for tested in history.tested
        ],
        "diff": history.diff,
        **({"again": ""} if history.again is None else history.again.facts("again")),
        "git_bisect_log": history.log,
        "picture": history.picture,
        "stopped": history.stopped.name.lower(),
        "reason": history.stopped.value,
        "trials": history.trials,
        "judged_without_a_run": history.concluded,
        "judged_by_likeness": list(history.likeness),
        "wall_seconds": round(history.wall_seconds, 3),
        "noisy": None if history.noisy is None else _noisy(history.noisy),
        "looked_again": None
        if history.looked_again is None
        else {
            "runs": history.looked_again.runs,
            "wrong_if_it_fails_in": [
                {"share_of_runs": rate, "probability": doubt}
                for rate, doubt in history.looked_again.doubts
            ],
        },
    }


def _noisy(noisy: NoisySearch) -> dict[str, object]:
    return {
        "plan": noisy.plan,
        "confidence": noisy.confidence,
        "probability": noisy.probability,
        "runners_up": [
            {
                "version": each.label,
                "description": each.description,
                "probability": each.probability,
            }
            for each in noisy.runners_up
        ],
        "fails_if_bad": noisy.fails_if_bad,
        "fails_if_bad_between": [noisy.if_bad_between.low, noisy.if_bad_between.high],
        "fails_if_good": noisy.fails_if_good,
        "fails_if_good_between": [noisy.if_good_between.low, noisy.if_good_between.high],
        "is_edge_tested": noisy.is_edge_tested,
        "runs": noisy.runs,
    }


def _payload(payload: ShrunkPayload) -> dict[str, object]:
    return {
        "original": payload.original,
        "result": payload.result,
        "before_bytes": payload.before_bytes,
        "after_bytes": payload.after_bytes,
        "content": content_facts(payload.content),
        "stopped": payload.stopped.name.lower(),
        "reason": payload.ended,
        "minimal_over": list(payload.minimal_over),
        "trials": payload.trials,
        "cached": payload.cached,
        "wall_seconds": round(payload.wall_seconds, 3),
        "guarded_by": payload.guarded_by,
        "good_file": payload.good_file,
        "not_excluded": payload.not_excluded,
        "keeps": payload.keeps,
        "nearest_passing": None
        if payload.nearest_passing is None
        else content_facts(payload.nearest_passing),
        "also_found": [
            {
                "summary": other.summary,
                "place": other.place,
                "payload": content_facts(other.payload),
            }
            for other in payload.also_found
        ],
    }


def content_facts(data: bytes) -> dict[str, str]:
    """Return bytes as text if they are text; JSON has no other way to hold them."""
    if is_text(data):
        return {"text": data.decode("utf-8")}
    return {"base64": base64.b64encode(data).decode("ascii")}


def part_facts(part: SmallestPart) -> dict[str, object]:
    """Return the smallest part of a change as JSON data."""
    return {
        "base": part.base,
        "changed": part.changed,
        "commit": part.commit,
        "diff": part.diff,
        "places": list(map(str, part.places)),
        "hunks_before": part.before,
        "hunks_after": part.after,
        "edits_before": part.edits_before,
        "edits_after": part.edits_after,
        "bad_means": part.bad_means,
        "stopped": part.stopped.name.lower(),
        "reason": part.stopped.value,
        "trials": part.trials,
        "remembered": part.remembered,
        "not_run": part.senseless,
        "wall_seconds": round(part.wall_seconds, 3),
        "is_verified": part.is_verified,
        "undoing": None if part.undoing is None else undoing_facts(part.undoing),
    }


def undoing_facts(undoing: Undoing) -> dict[str, object]:
    """Return what to undo so that it passes as JSON data."""
    return {
        "places": list(map(str, undoing.places)),
        "besides": list(map(str, undoing.besides)),
        "old": list(undoing.old),
        "new": list(undoing.new),
        "diff": undoing.diff,
    }
