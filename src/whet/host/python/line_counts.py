"""What a trial's agents have counted of a file's statements."""

import json
from contextlib import suppress
from pathlib import Path

from whet.core.observations.evidence import LINES, Evidence
from whet.core.text.record import MalformedRecordError, as_record, decoded, integer, record
from whet.host.files.agent_files import process_of, reports_in

_SUFFIX, _EVENTS = ".lines", ".line-events"
_HEAD, _COLUMNS, _NUMBER_BYTES = 4, 4, 8
"""As of `whet_lines.timing`."""


def read_lines(agent_folder: Path, wish: str) -> Evidence:
    """Return the tables of all processes that came to the file, as one observation.

    Args:
        agent_folder: where they have left them.
        wish: what was asked for, as the agents got it.
    """
    asked = record(as_record(decoded(wish), "wish"), "lines")
    count = integer(asked, "count")
    processes: list[dict[str, object]] = []
    for path, report in reports_in(agent_folder, _SUFFIX):
        with suppress(OverflowError, TypeError, ValueError):
            numbers = list(memoryview(report).cast("d"))
            if len(numbers) == _HEAD + _COLUMNS * count and numbers[0]:
                processes.append(_process(process_of(path), numbers))
    detail = {"asked": asked, "processes": processes, "unwoven": _has_unwoven(agent_folder)}
    data = json.dumps(detail, separators=(",", ":")).encode("ascii")
    return Evidence(kind=LINES, detail={"processes": len(processes)}, data=data)


def _process(pid: int, numbers: list[float]) -> dict[str, object]:
    marks, mark_seconds, beside_seconds, threads = numbers[:_HEAD]
    rows = [numbers[at : at + _COLUMNS] for at in range(_HEAD, len(numbers), _COLUMNS)]
    return {
        "pid": pid, "marks": int(marks), "mark_seconds": mark_seconds,
        "beside_seconds": beside_seconds, "threads": int(threads), "rows": rows,
    }  # fmt: skip


def _has_unwoven(agent_folder: Path) -> bool:
    """Whether the file was run as others have compiled it: nothing could be counted there."""
    for _, report in reports_in(agent_folder, _EVENTS):
        for line in report.splitlines():
            with suppress(MalformedRecordError):  # a kill may have cut it
                if {"unwoven", "early"} & as_record(decoded(line), "line").keys():
                    return True
    return False
