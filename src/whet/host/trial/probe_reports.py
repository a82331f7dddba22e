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

_SUFFIX, _COUNTS = ".probes", ".probe-counts"
_NUMBER_BYTES = 8
_MOST_BYTES = 64 << 20


def read_probes(agent_folder: Path, wish: str) -> Evidence:
    """Return the reports of all processes of a trial, in order of time, as one observation.

    Args:
        agent_folder: where they have left it.
        wish: what was asked for, as the agents got it.
    """
    told: list[JsonObject] = []
    left = _MOST_BYTES
    for path in sorted(agent_folder.glob(f"*{_SUFFIX}")):
        with suppress(OSError):
            data = path.read_bytes()[:left]
            left -= len(data)
            for line in data.splitlines():
                with suppress(MalformedRecordError):  # a kill may have cut it
                    known = as_record(decoded(line), "line")
                    number(known, "at")
                    told.append(known)
    told.sort(key=lambda each: number(each, "at"))
    wished = as_record(decoded(wish), "wish")
    probes = [
        {"title": each["title"], "kind": each["kind"], "path": each["path"]}
        for each in records(wished, "probes")
    ]
    asked = {name: value for name, value in wished.items() if name != "probes"}
    counts = _counts(agent_folder, len(probes))
    kept = {"probes": probes, "told": told, "counts": counts, "asked": asked}
    data = json.dumps(kept, separators=(",", ":")).encode("ascii")
    return Evidence(kind=PROBES, detail={"lines": len(told)}, data=data)


def _counts(agent_folder: Path, count: int) -> dict[str, list[int]]:
    """Return by process how often each place was reached."""
    found: dict[str, list[int]] = {}
    for path in sorted(agent_folder.glob(f"*{_COUNTS}")):
        with suppress(OSError, TypeError):
            data = path.read_bytes()
            if len(data) == count * _NUMBER_BYTES:
                found[path.stem] = list(memoryview(data).cast("Q"))
    return found
