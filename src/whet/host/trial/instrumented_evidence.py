"""The evidence of an instrumented rerun, and the last C calls of its programs."""

import json
from contextlib import suppress
from pathlib import Path

from whet.agent.site.whet_state.secret_rule import masked
from whet.core.observations.evidence import CLOSER, STEPS, Evidence
from whet.core.text.record import JsonObject, MalformedRecordError, as_record, decoded, integer
from whet.host.files.agent_files import process_of

_MOST_BYTES = 8 << 20
_SLOT_BYTES = 1024
_MOST_BYTES_OF_STEPS = 48 << 20


def read_closer(agent_folder: Path) -> Evidence:
    """Return all reports as one observation, without a truncated line."""
    lines: list[JsonObject] = []
    for path in sorted(agent_folder.glob("*.closer")):
        with suppress(OSError):
            # Room was reserved behind what was written.
            for line in path.read_bytes()[:_MOST_BYTES].rstrip(b"\0").splitlines():
                lines += _record(line)
    for path in sorted(agent_folder.glob("*.calls")):
        lines += _calls(path)
    data = json.dumps({"told": lines}, separators=(",", ":")).encode("ascii")
    return Evidence(kind=CLOSER, detail={"lines": len(lines)}, data=data)


def read_steps(agent_folder: Path) -> tuple[Evidence, ...]:
    """Return the steps of the process that has met the error; nothing if none has."""
    for path in sorted(agent_folder.glob("*.steps")):
        with suppress(OSError):
            if 0 < path.stat().st_size <= _MOST_BYTES_OF_STEPS:
                return (
                    Evidence(kind=STEPS, detail={"pid": process_of(path)}, data=path.read_bytes()),
                )
    return ()


def _record(line: bytes) -> list[JsonObject]:
    with suppress(MalformedRecordError):
        record = as_record(decoded(line), "line")
        message = record.get("message")
        # A password in an address is a secret in any error that names it.
        return [{**record, "message": masked(message)} if isinstance(message, str) else record]
    return []


def _calls(path: Path) -> list[JsonObject]:
    """Return the last calls of one process in their order."""
    calls: list[JsonObject] = []
    with suppress(OSError):
        data = path.read_bytes()
        for start in range(0, len(data), _SLOT_BYTES):
            calls += _record(data[start : start + _SLOT_BYTES].rstrip(b" \0"))
    numbered: list[tuple[int, JsonObject]] = []
    for each in calls:
        with suppress(MalformedRecordError):
            numbered.append((integer(each, "order"), each))
    numbered.sort(key=lambda each: each[0])
    return [{**each, "kind": "call", "pid": process_of(path)} for _, each in numbered]
