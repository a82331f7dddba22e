"""Chrome's trace format, which Perfetto reads: what each thread did when, and sections over it."""

import json
from collections.abc import Iterator, Sequence

from whet.core.observations.profile import Profile
from whet.core.observations.timeline import Span, Timeline

_MICROSECONDS = 1e6
_MAIN = "main thread"


def chrome_trace(profile: Profile, timelines: Sequence[Timeline] = ()) -> bytes:
    """Return what happened when, as trace events.

    Args:
        profile: its own timeline is among them.
        timelines: what else was recorded of the trial, such as its sections.
    """
    return json.dumps({"traceEvents": list(_events(profile, timelines))}).encode()


def _events(profile: Profile, timelines: Sequence[Timeline]) -> Iterator[dict[str, object]]:
    rows: dict[tuple[int, str], int] = {}
    for process in profile.processes:
        rank = "" if process.rank is None else f"rank {process.rank} "
        yield _meta("process_name", process.pid, 0, f"{rank}{process.name} {process.pid}")
    for timeline in (profile.timeline, *timelines):
        for span in timeline.spans:
            title = _row_of(span)
            key = (span.pid, title)
            if key not in rows:
                rows[key] = len(rows) + 1
                yield _meta("thread_name", span.pid, rows[key], title)
            yield {
                "ph": "X",
                "name": span.name,
                "cat": span.source,
                "ts": span.start * _MICROSECONDS,
                "dur": (span.seconds or 0.0) * _MICROSECONDS,
                "pid": span.pid,
                "tid": rows[key],
                "args": {**span.numbers, **span.words},
            }
        for mark in timeline.marks:
            yield {
                "ph": "i", "name": mark.name, "cat": mark.source, "s": "p",
                "ts": mark.at * _MICROSECONDS, "pid": mark.pid, "tid": 0,
            }  # fmt: skip
        for level in timeline.levels:
            for at, value in zip(level.seconds, level.values, strict=True):
                yield {
                    "ph": "C", "name": level.name, "ts": at * _MICROSECONDS, "pid": 0,
                    "args": {level.unit or "value": value},
                }  # fmt: skip


def _row_of(span: Span) -> str:
    thread = span.thread or _MAIN
    task = f" {span.task}" if span.task else ""
    return f"{thread}{task}" if span.source == "profile" else f"{span.source}: {thread}{task}"


def _meta(kind: str, pid: int, tid: int, name: str) -> dict[str, object]:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "args": {"name": name}}
