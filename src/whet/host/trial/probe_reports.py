"""The reports that a trial's agents leave about probed places."""

import json
from contextlib import suppress
from pathlib import Path

from whet.core.observations.evidence import PROBES, Evidence
from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    as_record,
    decoded,
    number,
    records,
)
from whet.host.files.agent_files import reports_in

_SUFFIX, _COUNTS = ".probes", ".probe-counts"
_NUMBER_BYTES = 8
_MOST_BYTES = 64 << 20


def read_probes(agent_folder: Path, wish: str) -> Evidence:
    """Return the reports of all processes of a trial, in order of time, as one observation.

    Args:
        agent_folder: where they have left it.
        wish: what was asked for, as the agents got it.
    """
    lines: list[JsonObject] = []
    budget = _MOST_BYTES
    for _, report in reports_in(agent_folder, _SUFFIX, most_bytes=_MOST_BYTES):
        data = report[:budget]
        budget -= len(data)
        for line in data.splitlines():
            with suppress(MalformedRecordError):  # a kill may have cut it
                record = as_record(decoded(line), "line")
                number(record, "at")
                lines.append(record)
    lines.sort(key=lambda each: number(each, "at"))
    wished = as_record(decoded(wish), "wish")
    probes = [
        {"title": each["title"], "kind": each["kind"], "path": each["path"]}
        for each in records(wished, "probes")
    ]
    request = {name: value for name, value in wished.items() if name != "probes"}
    counts = _counts(agent_folder, len(probes))
    detail = {"probes": probes, "told": lines, "counts": counts, "asked": request}
    data = json.dumps(detail, separators=(",", ":")).encode("ascii")
    return Evidence(kind=PROBES, detail={"lines": len(lines)}, data=data)


def _counts(agent_folder: Path, count: int) -> dict[str, list[int]]:
    """Return by process how often each place was reached."""
    counts: dict[str, list[int]] = {}
    for path, data in reports_in(agent_folder, _COUNTS):
        if len(data) == count * _NUMBER_BYTES:
            counts[path.stem] = list(memoryview(data).cast("Q"))
    return counts
