"""What a trial's agents measured while a piece of the program was repeated."""

import json
from contextlib import suppress
from pathlib import Path

from whet.core.observations.evidence import LEAK, Evidence
from whet.core.text.record import JsonObject, MalformedRecordError, as_record, decoded
from whet.host.files.agent_files import reports_in

_SUFFIX = ".leak"
_MOST_BYTES = 64 << 20


def read_leak(agent_folder: Path) -> Evidence:
    """Return what all processes of a trial have measured, each with its lines in their order."""
    processes: dict[str, list[JsonObject]] = {}
    budget = _MOST_BYTES
    for path, report in reports_in(agent_folder, _SUFFIX, most_bytes=_MOST_BYTES):
        data = report[:budget]
        budget -= len(data)
        lines = processes.setdefault(path.stem, [])
        for line in data.splitlines():
            with suppress(MalformedRecordError):  # a kill may have cut it
                lines.append(as_record(decoded(line), "line"))
    count = sum(map(len, processes.values()))
    packed = json.dumps(processes, separators=(",", ":")).encode("ascii")
    return Evidence(kind=LEAK, detail={"lines": count}, data=packed)
