"""The failures of a program that the agent recorded, with today's sources."""

import json
import os
from contextlib import suppress
from pathlib import Path

from whet.core.observations.evidence import FAILURES, Evidence
from whet.core.text.record import (
    JsonObject,
    MalformedRecordError,
    as_record,
    decoded,
    items_of,
    record_of,
    records,
    text,
)
from whet.host.files.agent_files import process_of, reports_in
from whet.host.inspect.stacks import crashes_in, is_user_code

_SUFFIX = ".failures"
_MOST_BYTES = 32 << 20
_MOST_SOURCE_BYTES = 1 << 20
_MOST_SOURCES = 100


def read_failures(agent_folder: Path) -> tuple[Evidence, ...]:
    """Return the failures of all processes of a trial as one observation; nothing if there were none.

    A line that was cut, as by a kill, is left out.
    """
    failures: list[JsonObject] = []
    budget = _MOST_BYTES
    for _, report in reports_in(agent_folder, _SUFFIX, most_bytes=_MOST_BYTES):
        data = report[:budget]
        budget -= len(data)
        for line in data.splitlines():
            with suppress(MalformedRecordError):
                failures.append(as_record(decoded(line), "failure"))
    failures += _crashes(agent_folder)
    if not failures:
        return ()
    sources = _sources([path for failure in failures for path in _paths(failure)])
    detail = {"failures": failures, "sources": sources}
    data = json.dumps(detail, separators=(",", ":")).encode("ascii")
    return (Evidence(kind=FAILURES, detail={"failures": len(failures)}, data=data),)


def _crashes(agent_folder: Path) -> list[JsonObject]:
    """Return what `faulthandler` wrote when a signal ended a process, as failures without values."""
    crashes: list[JsonObject] = []
    for path, what, frames in crashes_in(agent_folder):
        error = {
            "type": what,
            "arguments": [],
            "relation": "",
            "skipped": 0,
            "frames": [
                {**frame.to_json(), "name": frame.function, "module": "", "first_line": frame.line}
                for frame in frames
            ],
        }
        pid = process_of(path)
        crashes.append({"pid": pid, "rank": None, "where": "main", "thread": "", "error": error})
    return crashes


def _paths(data: JsonObject) -> list[str]:
    """Return the files of an error's frames, and of those that it came from."""
    paths: list[str] = []
    todo: list[object] = [data.get("error")]
    while todo:
        error = todo.pop()
        if error is None:
            continue
        with suppress(MalformedRecordError):
            exception = as_record(error, "error")
            paths += [text(frame, "path") for frame in records(exception, "frames")]
            todo.append(exception.get("earlier"))
            todo += records(exception, "members") if "members" in exception else ()
    return paths + _class_paths(data)


def _class_paths(data: JsonObject) -> list[str]:
    """Return the files of the classes that a failure's frames are methods of."""
    return [
        str(path)
        for line in items_of(data.get("classes"))
        for each in items_of(line)
        for method in map(items_of, items_of((record_of(each) or {}).get("methods")))
        for path in method[1:2]
    ]


def _is_file(path: str) -> bool:
    with suppress(ValueError):  # no name of a file: it holds a NUL, or what can't be encoded
        return os.path.isfile(path)
    return False


def _sources(paths: list[str]) -> dict[str, str]:
    sources: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        if len(sources) < _MOST_SOURCES and is_user_code(path) and _is_file(path):
            with suppress(OSError), open(path, "rb") as file:
                source = file.read(_MOST_SOURCE_BYTES)
                sources[path] = source.decode("utf-8", "replace")
    return sources
