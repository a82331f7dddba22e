"""The evidence of an instrumented rerun, and the last C calls of its programs."""

import json
from contextlib import suppress
from pathlib import Path

from whet.agent.site.whet_state.secret_rule import masked
from whet.core.observations.evidence import CLOSER, STEPS, Evidence
from whet.core.text.record import JsonObject, MalformedRecordError, as_record, decoded, integer
from whet.host.files.agent_files import process_of, reports_in

_MOST_BYTES = 8 << 20
_SLOT_BYTES = 1024
_MOST_BYTES_OF_STEPS = 48 << 20


def read_closer(agent_folder: Path) -> Evidence:
    """Return all reports as one observation, without a truncated line."""
    lines: list[JsonObject] = []
    for _, report in reports_in(agent_folder, ".closer", most_bytes=_MOST_BYTES):
        # Room was reserved behind what was written.
        for line in report.rstrip(b"\0").splitlines():
            lines += _record(line)
    for path, report in reports_in(agent_folder, ".calls"):
        lines += _calls(process_of(path), report)
    data = json.dumps({"told": lines}, separators=(",", ":")).encode("ascii")
    return Evidence(kind=CLOSER, detail={"lines": len(lines)}, data=data)


def read_steps(agent_folder: Path) -> tuple[Evidence, ...]:
    """Return the steps of the process that has met the error; nothing if none has."""
    for path, report in reports_in(agent_folder, ".steps", most_bytes=_MOST_BYTES_OF_STEPS + 1):
        if 0 < len(report) <= _MOST_BYTES_OF_STEPS:
            return (Evidence(kind=STEPS, detail={"pid": process_of(path)}, data=report),)
    return ()


def _record(line: bytes) -> list[JsonObject]:
    with suppress(MalformedRecordError):
        record = as_record(decoded(line), "line")
        message = record.get("message")
        # A password in an address is a secret in any error that names it.
        return [{**record, "message": masked(message)} if isinstance(message, str) else record]
    return []


def _calls(pid: int, data: bytes) -> list[JsonObject]:
    """Return the last calls of one process in their order."""
    calls: list[JsonObject] = []
    for start in range(0, len(data), _SLOT_BYTES):
        calls += _record(data[start : start + _SLOT_BYTES].rstrip(b" \0"))
    numbered: list[tuple[int, JsonObject]] = []
    for each in calls:
        with suppress(MalformedRecordError):
            numbered.append((integer(each, "order"), each))
    numbered.sort(key=lambda each: each[0])
    return [{**each, "kind": "call", "pid": pid} for _, each in numbered]
