"""Which Pythons of a trial loaded whet's agent, as they report themselves, behind any wrapper."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from whet.core.observations.evidence import PYTHONS, Evidence
from whet.core.observations.stack import ProcessEnd
from whet.core.text.record import integer, records, text, texts
from whet.core.value_class import value_class
from whet.host.files.agent_files import report_at, reports_in
from whet.host.inspect.stacks import is_user_code

_SUFFIX = ".python"
_MOST_BYTES = 8 << 20


@value_class(kw_only=True)
class Present:
    """A Python that reported itself.

    Attributes:
        executable: its path.
        version: such as ``CPython 3.11.7``.
        files: the user's files that it was started with or had imported at its end.
    """

    executable: str
    version: str
    files: tuple[str, ...]


def read_pythons(agent_folder: Path) -> Evidence:
    """Return the Pythons of a trial as one observation."""
    pythons: list[dict[str, object]] = []
    ends: list[list[str]] = []
    for _, report in reports_in(agent_folder, _SUFFIX, most_bytes=_MOST_BYTES):
        data = _record(report)
        ends += data.pop("ended")
        if data not in pythons:
            pythons.append(data)
    last = [
        {"pid": int(pid), "code": int(code), "name": name_of(int(pid), agent_folder)}
        for pid, code in ends
    ]
    return Evidence(kind=PYTHONS, detail={"pythons": pythons, "ended": last})


def name_of(pid: int, agent_folder: Path) -> str:
    """Return what the program calls a process that it has started by multiprocessing; empty: nothing."""
    for kind, *parts in _records(_told_by(agent_folder / f"{pid}{_SUFFIX}")):
        if kind == "process" and parts:
            return parts[0]
    return ""


def ended_in(evidence: Sequence[Evidence]) -> tuple[ProcessEnd, ...]:
    """Return the processes that ended badly, in the order of the reports."""
    return tuple(
        ProcessEnd(pid=integer(each, "pid"), name=text(each, "name"), code=integer(each, "code"))
        for evidence_of_pythons in evidence
        if evidence_of_pythons.kind == PYTHONS
        for each in records(evidence_of_pythons.detail, "ended")
    )


def pythons_in(evidence: Sequence[Evidence]) -> tuple[Present, ...]:
    """Return the Pythons that reported themselves."""
    return tuple(
        Present(
            executable=text(record, "executable"),
            version=text(record, "version"),
            files=texts(record, "files"),
        )
        for each in evidence
        if each.kind == PYTHONS
        for record in records(each.detail, "pythons")
        if text(record, "executable")
    )


def _record(data: bytes) -> dict[str, Any]:
    executable = version = ""
    files: dict[str, None] = {}
    ends: list[list[str]] = []
    for kind, *parts in _records(data):
        if kind == "python" and len(parts) > 1:
            executable, version = parts[:2]
        elif kind == "files":
            own_files = map(os.path.realpath, filter(_is_of_user, parts))
            files.update(dict.fromkeys(own_files))
        elif kind == "ended" and len(parts) > 1:
            ends.append(parts[:2])
    return {"executable": executable, "version": version, "files": list(files), "ended": ends}


def _records(data: bytes) -> Iterator[list[str]]:
    return ([*map(os.fsdecode, record.split(b"\0"))] for record in data.split(b"\0\0") if record)


def _told_by(path: Path) -> bytes:
    with suppress(OSError):
        return report_at(path, most_bytes=_MOST_BYTES)
    return b""


def _is_of_user(path: str) -> bool:
    return path.endswith(".py") and is_user_code(path) and os.path.isfile(path)


def own_files(evidence: Sequence[Evidence]) -> list[str]:
    """Return the files of the user's that have run."""
    files = (path for each in pythons_in(evidence) for path in each.files)
    return [path for path in dict.fromkeys(files) if is_user_code(path)]


def own_files_with(words: re.Pattern[str], evidence: Sequence[Evidence]) -> bool:
    """Whether a file of the user's that has run has one of some words."""
    for path in own_files(evidence):
        with suppress(OSError):
            if words.search(Path(path).read_text("utf-8", "replace")):
                return True
    return False
